#!/bin/sh
# Installs stopgate for one user, or below --prefix. It needs no root and starts nothing.
#
#   sh install.sh [--version VERSION] [--prefix DIRECTORY] [--base URL]
#   sh install.sh --uninstall [--prefix DIRECTORY] [--force]
#
# It downloads the archive for this system, the checksums of the release and their signature, and
# installs nothing unless the signature is that of the release key and the checksum that of the
# archive. minisign verifies the signature, or OpenSSL 3. With neither, or of a release that is not
# signed, it stops; --no-verify-signature goes on with the checksum alone.
{
set -eu
umask 022

VERSION='@VERSION@' # of the release that this script belongs to
KEY='@KEY@'         # its public key
BASE='@BASE@'       # where releases are

fail() {
	printf 'install.sh: %s\n' "$1" >&2
	exit 1
}

usage() {
	cat <<'EOF'
Installs stopgate: sh install.sh [options]

  --version VERSION       another release than the one of this script
  --prefix DIRECTORY      where to install (default: ~/.local); root has to name it
  --base URL              where the releases are
  --key KEY               another public key of minisign than that of the releases
  --no-verify-signature   go on without a signature; the checksum is always verified
  --allow-downgrade       replace a newer version
  --uninstall             remove what was installed, and nothing else; not while agents use it
  --force                 remove it while agents use it
EOF
}

has() { command -v "$1" >/dev/null 2>&1; }

# download URL FILE: redirects lead to https only.
download() {
	plain='=https'
	case $1 in http://127.0.0.1:*|http://localhost:*) plain='=http,https' ;; esac
	case $1 in
	https://*|http://127.0.0.1:*|http://localhost:*) ;;
	*) fail "$1: want an https:// address" ;;
	esac
	if has curl; then
		curl --proto "$plain" --proto-redir '=https' --fail --silent --show-error --location --max-redirs 5 --connect-timeout 30 --output "$2" "$1"
	elif has wget; then
		# wget cannot be kept from a redirect to http: without a signature it is not trusted.
		[ "$unsigned" = no ] || fail "--no-verify-signature needs curl, which follows https only"
		wget -q -O "$2" "$1"
	else
		fail "neither curl nor wget is installed: install one"
	fi || fail "cannot download $1"
}

# sum FILE prints its SHA-256.
sum() {
	if has sha256sum; then sha256sum <"$1"; elif has shasum; then shasum -a 256 <"$1"; elif has openssl; then openssl dgst -sha256 -r <"$1"; else
		fail "none of sha256sum, shasum and openssl is installed: install one"
	fi | cut -d ' ' -f 1
}

# bytes FROM COUNT prints bytes of the standard input; the first is 1.
bytes() { tail -c "+$1" | head -c "$2"; }

hex() { od -An -v -tx1 | tr -d ' \n'; }

# openssl3 succeeds where OpenSSL can verify Ed25519 signatures.
openssl3() { has openssl && case $(openssl version 2>/dev/null) in 'OpenSSL '[3-9].*) ;; *) return 1 ;; esac; }

# verified FILE SIGNATURE DIRECTORY prints the trusted comment of the signature if it is that of the key.
verified() {
	if has minisign; then
		minisign -V -q -m "$1" -x "$2" -P "$KEY" >/dev/null 2>&1 || return 1
		sed -n '3s/^trusted comment: //p' "$2"
		return
	fi
	[ "$(wc -l <"$2")" -eq 4 ] || return 1
	sed -n 2p "$2" | openssl base64 -d -A >"$3/signature" || return 1
	sed -n 4p "$2" | openssl base64 -d -A >"$3/outer" || return 1
	printf '%s' "$KEY" | openssl base64 -d -A >"$3/key" || return 1
	[ "$(wc -c <"$3/signature")" -eq 74 ] && [ "$(wc -c <"$3/outer")" -eq 64 ] && [ "$(wc -c <"$3/key")" -eq 42 ] || return 1
	[ "$(bytes 1 2 <"$3/key" | hex)" = 4564 ] || return 1       # Ed
	[ "$(bytes 1 2 <"$3/signature" | hex)" = 4544 ] || return 1 # ED: of the file's BLAKE2b
	[ "$(bytes 3 8 <"$3/key" | hex)" = "$(bytes 3 8 <"$3/signature" | hex)" ] || return 1
	{ printf '\060\052\060\005\006\003\053\145\160\003\041\000'; bytes 11 32 <"$3/key"; } >"$3/key.der"
	bytes 11 64 <"$3/signature" >"$3/inner"
	openssl dgst -blake2b512 -binary <"$1" >"$3/hash" || return 1
	openssl pkeyutl -verify -pubin -keyform DER -inkey "$3/key.der" -rawin -in "$3/hash" -sigfile "$3/inner" >/dev/null 2>&1 || return 1
	comment=$(sed -n 3p "$2")
	case $comment in 'trusted comment: '*) comment=${comment#trusted comment: } ;; *) return 1 ;; esac
	{ cat "$3/inner"; printf '%s' "$comment"; } >"$3/both"
	openssl pkeyutl -verify -pubin -keyform DER -inkey "$3/key.der" -rawin -in "$3/both" -sigfile "$3/outer" >/dev/null 2>&1 || return 1
	printf '%s\n' "$comment"
}

# authenticate DIRECTORY verifies SHA256SUMS there.
authenticate() {
	if [ "$unsigned" = yes ]; then
		echo 'install.sh: the signature is NOT verified: whoever controls the server controls the program' >&2
		return
	fi
	[ -n "$KEY" ] || fail "this release is not signed: --key names a public key, and --no-verify-signature installs it all the same"
	has minisign || openssl3 || fail "neither minisign nor OpenSSL 3 is installed to verify the signature: install one, or go on without with --no-verify-signature"
	download "$from/SHA256SUMS.minisig" "$1/SHA256SUMS.minisig"
	comment=$(verified "$1/SHA256SUMS" "$1/SHA256SUMS.minisig" "$1") || fail "the signature of SHA256SUMS is not valid for the key $KEY: nothing was installed"
	[ "$comment" = "stopgate $VERSION" ] || fail "the signature is of '$comment', not of stopgate $VERSION: nothing was installed"
}

# older A B succeeds if the version A is older than B: alpha, beta and rc come before the release,
# commits (v1.2.0-3-g0123abc) after it. Of others than versions it knows nothing.
older() {
	printf '%s\n%s\n' "${1#v}" "${2#v}" | awk -F '[.-]' '
		{
			for (i = 1; i <= 3; i++) { if ($i !~ /^[0-9]+$/) other = 1; v[NR, i] = $i + 0 }
			v[NR, 4] = $4 == "alpha" ? 1 : $4 == "beta" ? 2 : $4 == "rc" ? 3 : 4
			v[NR, 5] = v[NR, 4] < 4 ? $5 + 0 : 0
			v[NR, 6] = (v[NR, 4] < 4 ? $6 : $4) + 0
		}
		END { if (other) exit 1; for (i = 1; i <= 6; i++) if (v[1, i] != v[2, i]) exit !(v[1, i] < v[2, i]); exit 1 }'
}

system() {
	case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) fail "$(uname -s) is not supported: Linux and macOS are, and Windows in WSL 2" ;; esac
	case $(uname -m) in x86_64|amd64) arch=amd64 ;; aarch64|arm64) arch=arm64 ;; *) fail "$(uname -m) is not supported: x86_64 and arm64 are" ;; esac
	if [ "$os $arch" = 'darwin amd64' ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || :)" = 1 ]; then arch=arm64; fi
}

# place FILE NAME MODE puts a file below the prefix, and on the list of what was installed.
place() {
	mkdir -p "$prefix/$(dirname "$2")"
	cp "$1" "$prefix/$2.new"
	chmod "$3" "$prefix/$2.new"
	mv -f "$prefix/$2.new" "$prefix/$2" # a program that runs keeps its file
	printf '%s\n' "$2" >>"$work/list"
}

install_all() {
	system
	name=stopgate-$VERSION-$os-$arch
	from=${BASE%/}/$VERSION
	download "$from/SHA256SUMS" "$work/SHA256SUMS"
	authenticate "$work"
	want=$(awk -v name="$name.tar.gz" '$2 == name && NF == 2 { print $1 }' "$work/SHA256SUMS")
	[ "${#want}" -eq 64 ] || fail "SHA256SUMS of $from does not list $name.tar.gz"
	download "$from/$name.tar.gz" "$work/archive"
	[ "$(sum "$work/archive")" = "$want" ] || fail "the checksum of $name.tar.gz is not that of the release: nothing was installed"
	tar -xzf "$work/archive" -C "$work"
	"$work/$name/stopgate" version >/dev/null || fail "the program does not run on this system: nothing was installed"

	for program in stopgate stopgate-hook; do place "$work/$name/$program" "bin/$program" 755; done
	for page in "$work/$name"/man/man[15]/*; do
		section=${page%/*}
		place "$page" "share/man/${section##*/}/${page##*/}" 644
	done
	place "$work/$name/completions/stopgate.bash" share/bash-completion/completions/stopgate 644
	place "$work/$name/completions/_stopgate" share/zsh/site-functions/_stopgate 644
	place "$work/$name/completions/stopgate.fish" share/fish/vendor_completions.d/stopgate.fish 644
	for text in LICENSE THIRD-PARTY-NOTICES; do place "$work/$name/$text" "share/stopgate/$text" 644; done
	if [ -f "$prefix/$installed" ]; then # what an older version had and this one has not
		sort "$work/list" >"$work/sorted"
		sort "$prefix/$installed" | comm -23 - "$work/sorted" | remove
	fi
	cp "$work/list" "$prefix/$installed"

	echo "Installed $("$prefix/bin/stopgate" version) in $prefix/bin."
	case :$PATH: in *:"$prefix/bin":*) ;; *) echo "Add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;; esac
	echo 'Next: in a project, stopgate start'
}

# remove removes the listed files below the prefix, and directories that are then empty.
remove() {
	while IFS= read -r file; do
		case /$file/ in */../*|//*) fail "$prefix/$installed lists $file, which this script did not install" ;; esac
		rm -f "$prefix/$file"
		dir=$(dirname "$file")
		while [ "$dir" != . ] && rmdir "$prefix/$dir" 2>/dev/null; do dir=$(dirname "$dir"); done
	done
}

# used lists what agents still use of the programs: hooks that start them, and what stopgate start set up.
# A program that cannot tell counts as one that is used.
used() {
	"$prefix/bin/stopgate" uninstall --list >"$work/hooks" 2>&1 || { cat "$work/hooks"; echo 'the hooks of agents cannot be listed'; return; }
	grep -F " $prefix/bin/" "$work/hooks" || :
	"$prefix/bin/stopgate" stop --all --dry-run >"$work/started" 2>&1 || { cat "$work/started"; return; }
	grep -v '^nothing to undo' "$work/started" || :
}

uninstall_all() {
	[ -f "$prefix/$installed" ] || fail "$prefix/$installed does not exist: this script installed nothing in $prefix (see --prefix)"
	left=$(used)
	if [ -n "$left" ]; then
		printf '%s\n' "$left" >&2
		[ "$force" = yes ] || fail "agents still use this gate (above): run stopgate stop --all, and stopgate uninstall for each hook. Nothing was removed; --force removes the programs, and these hooks then block every call"
		echo 'install.sh: these hooks now block every call, until they are taken out by hand or stopgate is installed again' >&2
	fi
	cp "$prefix/$installed" "$work/list"
	echo "$installed" >>"$work/list"
	remove <"$work/list"
	rmdir "$prefix" 2>/dev/null || :
	echo "Removed stopgate from $prefix. Its records stay in the state directory."
}

main() {
	prefix='' unsigned=no downgrade=no force=no action=install_all
	installed=share/stopgate/installed
	while [ $# -gt 0 ]; do
		case $1 in
		--version|--prefix|--base|--key)
			[ $# -gt 1 ] || fail "$1 needs a value"
			case $1 in --version) VERSION=$2 ;; --prefix) prefix=$2 ;; --base) BASE=$2 ;; --key) KEY=$2 ;; esac
			shift
			;;
		--no-verify-signature) unsigned=yes ;;
		--allow-downgrade) downgrade=yes ;;
		--uninstall) action=uninstall_all ;;
		--force) force=yes ;;
		-h|--help) usage; exit 0 ;;
		*) usage >&2; fail "unknown option $1" ;;
		esac
		shift
	done
	case $VERSION in ''|*[!0-9A-Za-z.+-]*) fail "--version '$VERSION' is not a version" ;; esac
	case $KEY in *[!0-9A-Za-z+/=]*) fail "the key '$KEY' is not a public key of minisign" ;; esac
	if [ -z "$prefix" ]; then
		[ "$(id -u)" -ne 0 ] || fail "you are root: run this as the user of the agents, or name the directory, as in --prefix /usr/local"
		prefix=${HOME:?}/.local
	fi
	case $prefix in /*) ;; *) fail "--prefix $prefix: want an absolute path" ;; esac
	if [ "$action" = install_all ] && [ "$downgrade" = no ] && [ -x "$prefix/bin/stopgate" ]; then
		now=$("$prefix/bin/stopgate" version 2>/dev/null | cut -d ' ' -f 2) || now=''
		if [ -n "$now" ] && older "$VERSION" "$now"; then fail "$now is installed, which is newer than $VERSION: --allow-downgrade replaces it"; fi
	fi
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	$action
}

main "$@"
}
