package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// A second release of the commit, in another directory, by another user with another mask of modes, time zone
// and language, and without a network, has the same bytes: every file, those of the clients too.
func TestReproducible(t *testing.T) {
	first := long(t)
	modules, cache := strings.TrimSpace(tool(t, "go", "env", "GOMODCACHE")), strings.TrimSpace(tool(t, "go", "env", "GOCACHE"))
	deeper := filepath.Join(shared, "another", "directory", "deeper")
	if err := os.MkdirAll(filepath.Dir(deeper), 0o755); err != nil {
		t.Fatal(err)
	}
	offline := ""
	if os.Getuid() == 0 {
		offline = "unshare --net "
	}
	second, err := releaseIn(deeper, "umask 077; make -C clients py-deps ts-deps >/dev/null; HOME="+shared+" "+offline+"make release",
		"TZ=Asia/Kolkata", "LC_ALL=C.UTF-8", "LANG=tr_TR.UTF-8", "USER=somebody", "SOURCE_DATE_EPOCH=1", "GOMODCACHE="+modules, "GOCACHE="+cache)
	if err != nil {
		t.Fatal(err)
	}
	a, b := sums(t, first), sums(t, second)
	if len(a) < 30 || len(a) != len(b) {
		t.Errorf("%d and %d files", len(a), len(b))
	}
	for name, sum := range a {
		if b[name] != sum {
			t.Errorf("%s differs", name)
		}
		if info, err := os.Stat(filepath.Join(first, name)); err == nil && !strings.HasPrefix(name, "image/") {
			t.Logf("%9.1f KB %s", float64(info.Size())/1000, name)
		}
	}
}

// apt installs the package on this machine, in a layer above its files that is thrown away: programs run, man
// and shells find what is for them, units are valid and not enabled, and purging leaves nothing.
func TestDebInstalls(t *testing.T) {
	dir := long(t)
	wants(t, "apt-get", "unshare", "man", "bash", "zsh", "fish", "systemd-analyze")
	if os.Getuid() != 0 {
		t.Skip("apt needs root")
	}
	out := script(t, t.TempDir(), `
unshare --mount sh -euc '
mount -t tmpfs none "$PWD" && cd "$PWD" && mkdir up work root
mount -t overlay overlay -o lowerdir=/,upperdir="$PWD/up",workdir="$PWD/work" root
mkdir root/opt/new && cp "$0" root/opt/new/stopgate.deb && chmod 755 root/opt/new
mount -t proc proc root/proc && mount --rbind /dev root/dev
chroot root sh -euc "$1"' "$DEB" "$INSIDE" 2>&1`, "DEB="+one(t, dir, "stopgate_*_amd64.deb"), "INSIDE="+`
cd /opt/new; export HOME=/opt/new DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin XDG_STATE_HOME=/opt/new/state
unset XDG_RUNTIME_DIR XDG_DATA_HOME MANPATH
traces() { find / -xdev -name "*stopgate*" -not -path "/opt/*" -not -path "/tmp/*" -not -path "/root/*" -not -path "/proc/*" -not -path "/var/log/*" -not -path "/var/cache/man/*" 2>/dev/null | sort; }
traces >before
began=$(date +%s%N)
apt-get install -y --no-install-recommends ./stopgate.deb >log 2>&1 || { cat log; exit 1; }
command -v stopgate; stopgate version
echo "from the file to stopgate version: $(( ($(date +%s%N) - began) / 1000000 )) ms"
traces >installed; test "$(wc -l <installed)" -gt 60
dpkg --verify stopgate
stopgate demo >demo 2>&1 </dev/null || { cat demo; exit 1; }
echo "{" | stopgate-hook claude-code >/dev/null 2>&1 && exit 9 || test $? -eq 2
for page in stopgate stopgate-decide stopgate-hook; do man -w 1 $page >/dev/null; MANPAGER=cat man 1 $page | grep -q SYNOPSIS; done
MANPAGER=cat man 5 stopgate.toml | grep -q "How a call is judged"
bash -c "source /usr/share/bash-completion/completions/stopgate && complete -p stopgate" | grep -q __start_stopgate
zsh -fc "autoload -Uz compinit && compinit -u -d /opt/new/dump && print -r -- \$_comps[stopgate]" | grep -qx _stopgate
fish -c "complete -C \"stopgate deci\"" | grep -q "^decide"
systemd-analyze verify /usr/lib/systemd/system/stopgate.service /usr/lib/systemd/user/stopgate-hook.service
test -z "$(find /etc/systemd -name "*stopgate*")"
apt-get purge -y stopgate >log 2>&1 || { cat log; exit 1; }
traces >after; diff before after
echo "purged"
`)
	if !strings.Contains(out, "/usr/bin/stopgate") || !strings.Contains(out, "purged") {
		t.Error(out)
	}
	t.Log(out)
}

// rpm installs the package below a root of its own, verifies it, and removes it.
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
	t.Log(unpacked(t, data, "usr/bin/stopgate"))
}

// unpacked writes a program of a compressed archive and returns its version.
func unpacked(t *testing.T, text []byte, name string) string {
	t.Helper()
	_, files := entriesOf(t, text)
	program := filepath.Join(t.TempDir(), "stopgate")
	if err := os.WriteFile(program, files[name], 0o755); err != nil {
		t.Fatal(err)
	}
	return tool(t, program, "version")
}

// pip and pipx install the wheel, all commands run the programs, and nothing of it stays.
func TestWheelInstalls(t *testing.T) {
	dir := long(t)
	wants(t, "python3", "pipx")
	t.Log(script(t, t.TempDir(), `
python3 -m venv venv
find venv -not -name '*.pyc' -not -name __pycache__ | sort >before
venv/bin/pip install -q --disable-pip-version-check --no-index --no-compile "$WHEEL"
for name in stopgate stopgate-cli; do venv/bin/$name version; done
venv/bin/stopgate demo >/dev/null </dev/null
echo '{' | venv/bin/stopgate-hook claude-code >/dev/null 2>&1 && exit 9 || test $? -eq 2
chmod -x venv/lib/python3*/site-packages/stopgate_cli/bin/*
echo '{' | venv/bin/stopgate-hook claude-code 2>&1 && exit 9 || test $? -eq 2
venv/bin/stopgate hook claude-code 2>&1 && exit 9 || test $? -eq 2
venv/bin/pip uninstall -q -y stopgate-cli
find venv -not -name '*.pyc' -not -name __pycache__ | sort >after; diff before after
export PIPX_HOME="$PWD/pipx" PIPX_BIN_DIR="$PWD/bin"
pipx run --spec "$WHEEL" stopgate-cli version
pipx install "$WHEEL" >/dev/null 2>&1
bin/stopgate version
pipx uninstall stopgate-cli >/dev/null 2>&1
test -z "$(ls bin)"
`, "WHEEL="+one(t, dir, "stopgate_cli-*-manylinux*_x86_64.whl"), "XDG_STATE_HOME="+t.TempDir()))
}

// npm installs the packages from files, with Node 20 and 22: the launcher passes arguments, output, exit status
// and signals, and a hook whose program is missing blocks.
func TestNPMInstalls(t *testing.T) {
	dir := long(t)
	wants(t, "npm", "node")
	text := `
echo '{"private":true}' >package.json
npm install --offline --no-audit --no-fund --cache "$PWD/cache" "$MAIN" "$SYSTEM" >/dev/null
node --version; npx --offline stopgate version; npx --offline @stopgate/cli version
npx --offline stopgate demo >/dev/null </dev/null
node_modules/.bin/stopgate nonsense >/dev/null 2>&1 && exit 9 || test $? -eq 64
echo '{' | node_modules/.bin/stopgate hook claude-code >/dev/null 2>&1 && exit 9 || test $? -eq 2
mkfifo out; node_modules/.bin/stopgate up --listen 127.0.0.1:0 --store memory >out 2>&1 & launcher=$!
exec 3<out; while read -r line <&3; do case $line in '{'*) break ;; esac; done
child=$(cat /proc/$launcher/task/$launcher/children)
kill -TERM $launcher; cat <&3 >/dev/null; wait $launcher && status=0 || status=$?
test "$status" -eq 0; test ! -d /proc/${child% }
rm -r node_modules/@stopgate/cli-linux-x64
node_modules/.bin/stopgate version 2>why && exit 9 || test $? -eq 1
grep -q 'not installed: install @stopgate/cli again' why
node_modules/.bin/stopgate hook claude-code 2>why && exit 9 || test $? -eq 2
npm uninstall --offline --no-audit --no-fund --cache "$PWD/cache" @stopgate/cli @stopgate/cli-linux-x64 >/dev/null
test -z "$(ls node_modules/@stopgate 2>/dev/null)" && test ! -e node_modules/.bin/stopgate
`
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(one(t, dir, "stopgate-cli-linux-x64-*.tgz")), "stopgate-cli-linux-x64-"), ".tgz")
	packages := []string{"MAIN=" + filepath.Join(dir, "stopgate-cli-"+version+".tgz"), "SYSTEM=" + filepath.Join(dir, "stopgate-cli-linux-x64-"+version+".tgz")}
	newer := t.TempDir()
	script(t, newer, `npm install --no-audit --no-fund node@22 >/dev/null`)
	for name, path := range map[string]string{"the one here": os.Getenv("PATH"), "22": filepath.Join(newer, "node_modules/node/bin") + ":" + os.Getenv("PATH")} {
		t.Run(name, func(t *testing.T) {
			t.Log(script(t, t.TempDir(), text, append(packages, "PATH="+path, "XDG_STATE_HOME="+short(t))...))
		})
	}
}

// short returns a directory whose sockets have short paths.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "sg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// A reader of images accepts the archive of the layout, and its program runs.
func TestImageRuns(t *testing.T) {
	dir := long(t)
	to := t.TempDir()
	tool(t, "tar", "-xf", one(t, dir, "stopgate-*-image.tar"), "-C", to)
	all, err := layout.ImageIndexFromPath(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(all); err != nil {
		t.Error(err)
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	index, err := all.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if manifest, err = index.IndexManifest(); err != nil {
		t.Fatal(err)
	}
	for _, m := range manifest.Manifests {
		if m.Platform.Architecture == "amd64" {
			t.Log(imageVersion(t, index, m.Digest))
		}
	}
}

func imageVersion(t *testing.T, index v1.ImageIndex, digest v1.Hash) string {
	t.Helper()
	image, err := index.Image(digest)
	if err != nil {
		t.Fatal(err)
	}
	files := mutate.Extract(image)
	defer files.Close()
	program := filepath.Join(t.TempDir(), "stopgate")
	for r := tar.NewReader(files); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			t.Fatal("the image has no program")
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Name != "stopgate" {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, text, 0o755); err != nil {
			t.Fatal(err)
		}
		return tool(t, program, "version")
	}
}

// brew plays Homebrew: the formula installs an archive whose checksum is the one that it names.
const brew = `
require "fileutils"; require "digest"
class Target
  def initialize(dir) = @dir = dir
  def install(*what)
    FileUtils.mkdir_p(@dir)
    what.flatten.each { |one| (one.is_a?(Hash) ? one : { one => File.basename(one) }).each { |from, to| FileUtils.cp(from, File.join(@dir, to)) } }
  end
end
class Formula
  def self.test = nil
  def self.method_missing(name, *args, &block)
    case name
    when :url then $url = args[0]
    when :sha256 then ($all ||= {})[$url] = args[0]
    when :on_macos, :on_linux, :on_arm, :on_intel then block.call
    end
  end
  def method_missing(name, *) = Target.new(File.join(ARGV[2], name.to_s))
end
load ARGV[0]
url = $all.keys.find { |u| u.end_with?("linux-amd64.tar.gz") }
archive = File.join(ARGV[1], File.basename(url))
abort "checksum" unless Digest::SHA256.file(archive).hexdigest == $all[url]
abort "systems" unless $all.size == 4 && $all.all? { |u, sum| Digest::SHA256.file(File.join(ARGV[1], File.basename(u))).hexdigest == sum }
system("tar", "-xzf", archive, "--strip-components=1") or abort "tar"
Stopgate.new.install
`

func TestFormulaInstalls(t *testing.T) {
	dir := long(t)
	wants(t, "ruby")
	t.Log(script(t, t.TempDir(), `
echo "$BREW" >brew.rb; mkdir at; ruby -c "$DIST/stopgate.rb"; cd at
ruby ../brew.rb "$DIST/stopgate.rb" "$DIST" "$PWD/../cellar"; cd ../cellar
bin/stopgate version; ls bin/stopgate-hook man1/stopgate-decide.1 man5/stopgate.toml.5 bash_completion/stopgate zsh_completion/_stopgate fish_completion/stopgate.fish pkgshare/THIRD-PARTY-NOTICES
`, "DIST="+dir, "BREW="+brew))
}

// The installer of the release installs and removes it, from a server on this machine.
func TestInstallerOfRelease(t *testing.T) {
	dir := long(t)
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(one(t, dir, "stopgate-*-linux-amd64.tar.gz")), "stopgate-"), "-linux-amd64.tar.gz")
	server := httptest.NewServer(http.StripPrefix("/"+version, http.FileServer(http.Dir(dir))))
	defer server.Close()
	u := newUser(t)
	began := time.Now()
	out, err := u.run(t, filepath.Join(dir, "install.sh"), "--base", server.URL, "--prefix", filepath.Join(u.home, "p"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s\n%s", time.Since(began).Round(time.Millisecond), out)
	if out, err = u.run(t, filepath.Join(dir, "install.sh"), "--uninstall", "--prefix", filepath.Join(u.home, "p")); err != nil || len(u.files(t)) != 0 {
		t.Errorf("%v\n%s%v", err, out, u.files(t))
	}
}

// Every program of every archive is of its system, and its pages are those of all commands.
func TestArchives(t *testing.T) {
	dir := long(t)
	for _, s := range supported {
		text, err := os.ReadFile(one(t, dir, "stopgate-*-"+s.os+"-"+s.arch+".tar.gz"))
		if err != nil {
			t.Fatal(err)
		}
		headers, files := entriesOf(t, text)
		top := headers[0].Name
		magic := []byte("\x7fELF")
		if s.os == "darwin" {
			magic = []byte("\xcf\xfa\xed\xfe")
		}
		if !bytes.HasPrefix(files[top+"stopgate"], magic) || !bytes.HasPrefix(files[top+"stopgate-hook"], magic) || len(headers) < 70 {
			t.Errorf("%s: %d entries", s, len(headers))
		}
		t.Logf("%s: stopgate %.1f MB, stopgate-hook %.1f MB", s, float64(len(files[top+"stopgate"]))/1e6, float64(len(files[top+"stopgate-hook"]))/1e6)
	}
}
