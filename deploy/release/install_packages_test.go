package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hookLine prints the command line of the hook in the settings of Claude Code.
const hookLine = `sed -n 's/.*"command": "\([^"]*stopgate[^"]*\)".*/\1/p' "$HOME/.claude/settings.json" | head -n 1`

// apt installs the package on this machine, in a layer above its files that is thrown away: programs run, man
// and shells find what is for them, units are valid and not enabled. Purging leaves no file of it and changes
// none of the machine's, apart from the records of apt itself. A hook that is left blocks.
func TestDebInstalls(t *testing.T) {
	dir := long(t)
	wants(t, "apt-get", "unshare")
	if os.Getuid() != 0 {
		t.Skip("apt needs root")
	}
	out := script(t, t.TempDir(), `
unshare --mount true 2>/dev/null || { echo "this machine does not let root mount"; exit 77; }
unshare --mount sh -euc '
cannot() { echo "this machine does not let root mount $1"; exit 77; }
mount -t tmpfs none "$PWD" 2>/dev/null || cannot tmpfs
cd "$PWD" && mkdir up work root
mount -t overlay overlay -o lowerdir=/,upperdir="$PWD/up",workdir="$PWD/work" root 2>/dev/null || cannot overlays
mount -t proc proc root/proc 2>/dev/null || cannot proc
mount --rbind /dev root/dev 2>/dev/null || cannot /dev
mkdir root/opt/new && cp "$0" root/opt/new/stopgate.deb && chmod 755 root/opt/new
chroot root sh -euc "$1"
rm -r up/opt/new
find up \( -type f -o -type l -o -type c \) | sed s,^up,, | grep -vE "^/(var/(lib/(dpkg|apt)|cache|log)|run/systemd|tmp)/" >left || :
find up -name "*stopgate*" -not -path "up/var/cache/man/*" >>left # where man keeps what it showed
test ! -s left || { echo "purging leaves:"; cat left; exit 1; }
echo "nothing is left"
' "$DEB" "$INSIDE" 2>&1`, "DEB="+one(t, dir, "stopgate_*_amd64.deb"), "INSIDE="+`
cd /opt/new; export HOME=/opt/new DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin XDG_STATE_HOME=/opt/new/state TMPDIR=/opt/new
unset XDG_RUNTIME_DIR XDG_DATA_HOME XDG_CONFIG_HOME CLAUDE_CONFIG_DIR MANPATH
began=$(date +%s%N)
apt-get install -y --no-install-recommends ./stopgate.deb >log 2>&1 || { cat log; exit 1; }
command -v stopgate; stopgate version
echo "from the file to stopgate version: $(( ($(date +%s%N) - began) / 1000000 )) ms"
test "$(dpkg -L stopgate | wc -l)" -gt 60
pages=yes; ! grep -rqs "^path-exclude" /etc/dpkg/dpkg.cfg /etc/dpkg/dpkg.cfg.d || pages=no # as images of containers do
test $pages = no || dpkg --verify stopgate
stopgate demo >demo 2>&1 </dev/null || { cat demo; exit 1; }
echo "{" | stopgate-hook claude-code >/dev/null 2>&1 && exit 9 || test $? -eq 2
if test $pages = yes && command -v man; then
	for page in stopgate stopgate-decide stopgate-hook; do man -w 1 $page >/dev/null; MANPAGER=cat man 1 $page | grep -q SYNOPSIS; done
	MANPAGER=cat man 5 stopgate.toml | grep -q "How a call is judged"
fi
bash -c "source /usr/share/bash-completion/completions/stopgate && complete -p stopgate" | grep -q __start_stopgate
if command -v zsh; then zsh -fc "autoload -Uz compinit && compinit -u -d /opt/new/dump && print -r -- \$_comps[stopgate]" | grep -qx _stopgate; fi
if command -v fish; then fish -c "complete -C \"stopgate deci\"" | grep -q "^decide"; fi
if command -v systemd-analyze; then systemd-analyze verify /usr/lib/systemd/system/stopgate.service /usr/lib/systemd/user/stopgate-hook.service; fi
test -z "$(find /etc/systemd -name "*stopgate*" 2>/dev/null)"
mkdir .claude; stopgate install claude-code >/dev/null 2>&1
stopgate uninstall --list | grep "^stopgate uninstall claude-code: .* starts /usr/bin/stopgate-hook$"
hook=$(`+hookLine+`); test -n "$hook"
apt-get purge -y stopgate >log 2>&1 || { cat log; exit 1; }
echo "{}" | sh -c "$hook" 2>why && exit 9 || test $? -eq 2
grep "the call is blocked" why
`)
	for _, want := range []string{"/usr/bin/stopgate\n", "/man\n", "/zsh\n", "/fish\n", "/systemd-analyze\n", "nothing is left"} {
		if !strings.Contains(out, want) {
			if whole() || strings.HasPrefix(want, "/usr/bin/stop") || strings.HasPrefix(want, "nothing") {
				t.Errorf("no %q in\n%s", want, out)
			} else {
				t.Logf("not tested: %q", want)
			}
		}
	}
	t.Log(out)
}

// rpm installs the package below a root of its own, verifies it, and removes it; so does dnf where it is.
func TestRPMInstalls(t *testing.T) {
	dir := long(t)
	wants(t, "rpm")
	t.Log(script(t, t.TempDir(), `
mkdir root && rpm --root "$PWD/root" --initdb
rpm --checksig --nosignature "$RPM"
rpm --root "$PWD/root" --nodeps --nosignature -i "$RPM"
root/usr/bin/stopgate version
root/usr/bin/stopgate demo >/dev/null </dev/null
rpm --root "$PWD/root" --nodeps -V stopgate
test -f root/usr/lib/systemd/system/stopgate.service
rpm --root "$PWD/root" -e stopgate
find root -name '*stopgate*' | tee left; test ! -s left
find root -not -type d -not -path 'root/*/*rpm*' | tee left; test ! -s left
if command -v dnf; then
	mkdir other log; set -- --installroot="$PWD/other" --disablerepo='*' --releasever=40 --setopt=cachedir="$PWD/cache" --setopt=logdir="$PWD/log"
	dnf -q -y "$@" install "$RPM"; other/usr/bin/stopgate version
	dnf -q -y "$@" remove stopgate
	find other -name '*stopgate*' | tee left; test ! -s left
fi
`, "RPM="+one(t, dir, "stopgate-*.x86_64.rpm"), "XDG_STATE_HOME="+t.TempDir()))
}

// The files of the apk package run when they are unpacked.
func TestAPKRuns(t *testing.T) {
	dir := long(t)
	text, err := os.ReadFile(one(t, dir, "stopgate_*_x86_64.apk"))
	if err != nil {
		t.Fatal(err)
	}
	_, data := apkParts(t, text)
	_, files := entriesOf(t, data)
	program := filepath.Join(t.TempDir(), "stopgate")
	if err := os.WriteFile(program, files["usr/bin/stopgate"], 0o755); err != nil {
		t.Fatal(err)
	}
	t.Log(tool(t, program, "version"))
}
