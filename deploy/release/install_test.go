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
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// pip and pipx install the wheel, all commands run the programs, and nothing of it stays.
func TestWheelInstalls(t *testing.T) {
	dir := long(t)
	wants(t, "python3")
	if whole() {
		wants(t, "pipx")
	}
	t.Log(script(t, t.TempDir(), `
python3 -c 'import ensurepip, venv' 2>/dev/null || { echo "python3 has no venv"; exit 77; }
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
test -n "$STOPGATE_RELEASE_WHOLE" || exit 0 # pipx downloads pip
export PIPX_HOME="$PWD/pipx" PIPX_BIN_DIR="$PWD/bin"
pipx run --spec "$WHEEL" stopgate-cli version
pipx install "$WHEEL" >/dev/null 2>&1
bin/stopgate version
pipx uninstall stopgate-cli >/dev/null 2>&1
test -z "$(ls bin; ls pipx/venvs)"
`, "STOPGATE_RELEASE_WHOLE="+os.Getenv("STOPGATE_RELEASE_WHOLE"), "WHEEL="+one(t, dir, "stopgate_cli-*-manylinux*_x86_64.whl"), "XDG_STATE_HOME="+t.TempDir()))
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
find . -name '*stopgate*' -not -path './cache/*' -not -type d | tee left; test ! -s left
mkdir global; export npm_config_prefix="$PWD/global"
npm install --global --offline --no-audit --no-fund --cache "$PWD/cache" "$MAIN" "$SYSTEM" >/dev/null
global/bin/stopgate version
npm uninstall --global --no-audit --no-fund --cache "$PWD/cache" @stopgate/cli @stopgate/cli-linux-x64 >/dev/null
find global -not -type d | tee left; test ! -s left
`
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(one(t, dir, "stopgate-cli-linux-x64-*.tgz")), "stopgate-cli-linux-x64-"), ".tgz")
	packages := []string{"MAIN=" + filepath.Join(dir, "stopgate-cli-"+version+".tgz"), "SYSTEM=" + filepath.Join(dir, "stopgate-cli-linux-x64-"+version+".tgz")}
	paths := map[string]string{"the one here": os.Getenv("PATH")}
	if newer := t.TempDir(); whole() {
		script(t, newer, `npm install --no-audit --no-fund node@22 >/dev/null`)
		paths["22"] = filepath.Join(newer, "node_modules/node/bin") + ":" + os.Getenv("PATH")
	}
	for name, path := range paths {
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
abort "systems" unless $all.size == ARGV[3].to_i && $all.all? { |u, sum| Digest::SHA256.file(File.join(ARGV[1], File.basename(u))).hexdigest == sum }
system("tar", "-xzf", archive, "--strip-components=1") or abort "tar"
Stopgate.new.install
`

func TestFormulaInstalls(t *testing.T) {
	dir := long(t)
	wants(t, "ruby")
	t.Log(script(t, t.TempDir(), `
echo "$BREW" >brew.rb; mkdir at; ruby -c "$DIST/stopgate.rb"; cd at
ruby ../brew.rb "$DIST/stopgate.rb" "$DIST" "$PWD/../cellar" "$SYSTEMS"; cd ../cellar
bin/stopgate version; ls bin/stopgate-hook man1/stopgate-decide.1 man5/stopgate.toml.5 bash_completion/stopgate zsh_completion/_stopgate fish_completion/stopgate.fish pkgshare/THIRD-PARTY-NOTICES
`, "DIST="+dir, "BREW="+brew, "SYSTEMS="+strconv.Itoa(len(systemsOf(t, dir)))))
}

// The installer of the release installs and removes it, from a server on this machine. While an agent uses it,
// nothing is removed; where that is wanted, the hook that is left blocks.
func TestInstallerOfRelease(t *testing.T) {
	dir := long(t)
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(one(t, dir, "stopgate-*-linux-amd64.tar.gz")), "stopgate-"), "-linux-amd64.tar.gz")
	server := httptest.NewServer(http.StripPrefix("/"+version, http.FileServer(http.Dir(dir))))
	defer server.Close()
	u := newUser(t)
	prefix := filepath.Join(u.home, "p")
	install := func() {
		t.Helper()
		began := time.Now()
		out, err := u.run(t, filepath.Join(dir, "install.sh"), "--base", server.URL, "--prefix", prefix)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("%s\n%s", time.Since(began).Round(time.Millisecond), out)
	}
	uninstall := func(flags ...string) (string, error) {
		return u.run(t, filepath.Join(dir, "install.sh"), append([]string{"--uninstall", "--prefix", prefix}, flags...)...)
	}
	install()
	if out, err := uninstall(); err != nil || len(u.files(t)) != 0 {
		t.Fatalf("%v\n%s%v", err, out, u.files(t))
	}
	install()
	mine := []string{"HOME=" + u.home, "XDG_STATE_HOME=" + short(t), "XDG_CONFIG_HOME=" + short(t), "CLAUDE_CONFIG_DIR=", "PATH=" + prefix + "/bin:" + os.Getenv("PATH")}
	script(t, u.home, `mkdir .claude && stopgate install claude-code`, mine...)
	before := u.files(t)
	if out, err := uninstall(); err == nil || !strings.Contains(out, "stopgate uninstall claude-code: ") || len(u.files(t)) != len(before) {
		t.Fatalf("removed while an agent uses it: %v\n%s", err, out)
	}
	script(t, u.home, `stopgate uninstall claude-code && stopgate uninstall --list | grep '^no hook' && stopgate install claude-code`, mine...)
	out, err := uninstall("--force")
	if err != nil || !strings.Contains(out, "now block every call") {
		t.Fatalf("%v\n%s", err, out)
	}
	script(t, u.home, `test ! -e "$HOME/p"; hook=$(`+hookLine+`); test -n "$hook"; echo '{}' | sh -c "$hook" 2>why && exit 9 || test $? -eq 2; grep 'the call is blocked' why`, mine...)
}

// Every program of every archive is of its system, and its pages are those of all commands.
func TestArchives(t *testing.T) {
	dir := long(t)
	for _, s := range systemsOf(t, dir) {
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
