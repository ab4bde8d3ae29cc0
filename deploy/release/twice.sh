#!/bin/sh
# Makes the release of the commit twice and compares every byte.
#
#   deploy/release/twice.sh DIRECTORY
#
# Afterwards DIRECTORY/a/dist has the first one, signed with a new key. The second is made in a deeper directory, with
# another mask of modes, home, time zone and language, and, by root, without a network. COLD=1 gives it a build cache
# of its own, so that nothing of the first one is in it. STEP is a command that runs each step. Paths have no spaces.
set -eu
unset MAKEFLAGS MFLAGS MAKEOVERRIDES VERSION
root=$(cd "$(dirname "$0")/../.." && pwd)
to=${1:?want a directory}
first=$to/a second=$to/another/directory/deeper
cache=$(go env GOCACHE)
[ -z "${COLD:-}" ] || cache=$to/cache
other="env HOME=$to/home USER=somebody TZ=Asia/Kolkata LC_ALL=C.UTF-8 LANG=tr_TR.UTF-8 SOURCE_DATE_EPOCH=1 \
	GOMODCACHE=$(go env GOMODCACHE) GOCACHE=$cache GOPROXY=off GOFLAGS="
[ "$(id -u)" -ne 0 ] || ! unshare --net true 2>/dev/null || other="unshare --net $other"

# step NAME MASK COMMAND... runs a command and reports how long it took.
step() {
	# shellcheck disable=SC2016,SC2086 # the inner shell expands; STEP is a command with arguments
	${STEP:-} sh -euc 'name=$1; umask "$2"; shift 2; began=$(date +%s); "$@"; echo "== twice: $name: $(($(date +%s) - began)) s"' sh "$@"
}

mkdir -p "$to/home" "$(dirname "$second")"
minisign -G -W -f -p "$to/key.pub" -s "$to/key" >/dev/null
export STOPGATE_RELEASE_KEY="$to/key"
git clone -q "$root" "$first"
(umask 077 && git clone -q "$root" "$second")
step 'the first release' 022 make -C "$first" release
step 'what the second one needs of the network' 077 make -C "$second/clients" py-deps ts-deps
for system in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
	# shellcheck disable=SC2086 # other is a command with arguments
	step "second programs for $system" 077 $other make -C "$second" release-programs PROGRAMS="$to/programs" SYSTEMS=$system
done
# shellcheck disable=SC2086
step 'the second release' 077 $other make -C "$second" release PROGRAMS="$to/programs"
diff -r "$first/dist" "$second/dist"
echo "== twice: $(find "$first/dist" -type f | wc -l) files are the same"
