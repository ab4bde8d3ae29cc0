package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sassoftware/go-rpmutils"
)

// only makes one kind of files and returns the one that fits a pattern.
func only(t *testing.T, r *release, kind, pattern string) (path string) {
	t.Helper()
	if err := r.files([]string{kind}); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(r.out, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

// installed are the files of every package of Linux.
var installed = []string{"/usr/bin/stopgate", "/usr/bin/stopgate-hook", "/usr/share/man/man1/stopgate.1.gz", "/usr/share/man/man5/stopgate.toml.5.gz",
	"/usr/share/bash-completion/completions/stopgate", "/usr/share/fish/vendor_completions.d/stopgate.fish"}

// dpkg reads the package; it has no scripts, and its files are root's.
func TestDeb(t *testing.T) {
	wants(t, "dpkg-deb")
	path := only(t, planned(t, released, nil), "deb", "stopgate_1.2.0_amd64.deb")
	listing := tool(t, "dpkg-deb", "--contents", path)
	for _, name := range append(slices.Clone(installed), "/usr/share/doc/stopgate/copyright", "/usr/share/doc/stopgate/THIRD-PARTY-NOTICES", "/usr/lib/systemd/system/stopgate.service", "/usr/lib/systemd/user/stopgate-hook.service", "/usr/share/zsh/vendor-completions/_stopgate") {
		if !strings.Contains(listing, " ."+name+"\n") {
			t.Errorf("no %s in\n%s", name, listing)
		}
	}
	for line := range strings.Lines(listing) {
		if !regexp.MustCompile(`^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x) (root/root|0/0) `).MatchString(line) {
			t.Error(line)
		}
	}
	control := t.TempDir()
	tool(t, "dpkg-deb", "--control", path, control)
	entries, err := os.ReadDir(control)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "control" && e.Name() != "md5sums" {
			t.Errorf("the package has %s", e.Name())
		}
	}
	if got := strings.TrimSpace(tool(t, "dpkg-deb", "--field", path, "Package", "Version", "Architecture")); got != "Package: stopgate\nVersion: 1.2.0\nArchitecture: amd64" {
		t.Error(got)
	}
}

// A reader of rpm packages, and rpm where it is installed, accept the package; it has no scripts.
func TestRPM(t *testing.T) {
	path := only(t, planned(t, released, nil), "rpm", "stopgate-1.2.0-1.x86_64.rpm")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rpm, err := rpmutils.ReadRpm(f)
	if err != nil {
		t.Fatal(err)
	}
	files, err := rpm.Header.GetFiles()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range files {
		if names[f.Name()] = true; f.UserName() != "root" || f.GroupName() != "root" || f.Mtime() != 1_700_000_000 || f.Mode()&0o022 != 0 {
			t.Errorf("%s: %s, %d, %o", f.Name(), f.UserName(), f.Mtime(), f.Mode())
		}
	}
	for _, name := range append(slices.Clone(installed), "/usr/share/licenses/stopgate/LICENSE", "/usr/lib/systemd/system/stopgate.service", "/usr/share/doc/stopgate", "/usr/share/licenses/stopgate") {
		if !names[name] {
			t.Errorf("no %s", name)
		}
	}
	for _, tag := range []int{rpmutils.PREIN, rpmutils.POSTIN, rpmutils.PREUN, rpmutils.POSTUN} {
		if rpm.Header.HasTag(tag) {
			t.Errorf("a script: tag %d", tag)
		}
	}
	if host, err := rpm.Header.GetString(rpmutils.BUILDHOST); err != nil || host != "localhost" {
		t.Errorf("built on %q, %v", host, err)
	}
	if _, err := exec.LookPath("rpm"); err == nil {
		tool(t, "rpm", "--checksig", "--nosignature", path)
		if got := tool(t, "rpm", "-qp", "--scripts", "--triggers", path); got != "" {
			t.Error(got)
		}
	}
}

// An apk package is two compressed archives: the first names the checksum of the second, which has the
// files. It has no scripts and, as Alpine has no systemd, no units.
func TestAPK(t *testing.T) {
	path := only(t, planned(t, released, nil), "apk", "stopgate_1.2.0_x86_64.apk")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	control, data := apkParts(t, text)
	info := string(control[".PKGINFO"])
	for _, line := range []string{"pkgname = stopgate\n", "pkgver = 1.2.0\n", "arch = x86_64\n", "license = Apache-2.0\n", fmt.Sprintf("datahash = %x\n", sha256.Sum256(data))} {
		if !strings.Contains(info, line) {
			t.Errorf("no %q in\n%s", line, info)
		}
	}
	if len(control) != 1 {
		t.Errorf("the package has scripts: %d files", len(control))
	}
	headers, files := entriesOf(t, data)
	for _, name := range installed {
		if len(files[name[1:]]) == 0 {
			t.Errorf("no %s", name)
		}
	}
	for _, h := range headers {
		if h.Uid != 0 || h.Gid != 0 || h.Mode&0o022 != 0 || strings.Contains(h.Name, "systemd") || h.Typeflag == tar.TypeReg && h.PAXRecords["APK-TOOLS.checksum.SHA1"] == "" {
			t.Errorf("%+v", h)
		}
	}
}

// apkParts returns the files of the control archive, and the second archive as it is.
func apkParts(t *testing.T, text []byte) (control map[string][]byte, data []byte) {
	t.Helper()
	all := bytes.NewReader(text)
	unzipped, err := gzip.NewReader(all)
	if err != nil {
		t.Fatal(err)
	}
	unzipped.Multistream(false)
	control = map[string][]byte{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // the archive goes on in the second part
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if control[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.Copy(io.Discard, unzipped); err != nil {
		t.Fatal(err)
	}
	return control, text[len(text)-all.Len():]
}

// The record of a wheel lists every file with its checksum, and programs can run.
func TestWheel(t *testing.T) {
	path := only(t, planned(t, released, nil), "wheels", "stopgate_cli-1.2.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl")
	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	record, lines := "", 0
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/RECORD") {
			record = string(unzipped(t, f))
		}
	}
	for _, f := range archive.File {
		if program := strings.Contains(f.Name, "/bin/"); (f.Mode().Perm() != 0o755) != !program || f.Modified.Unix() != 1_700_000_000 {
			t.Errorf("%s: %v at %v", f.Name, f.Mode(), f.Modified)
		}
		sum := sha256.Sum256(unzipped(t, f))
		line := fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), f.UncompressedSize64)
		if strings.HasSuffix(f.Name, "/RECORD") {
			line = f.Name + ",,\n"
		}
		if lines++; !strings.Contains(record, line) {
			t.Errorf("the record has no %q", line)
		}
	}
	if lines != 10 || strings.Count(record, "\n") != lines {
		t.Errorf("%d files\n%s", lines, record)
	}
}

func unzipped(t *testing.T, f *zip.File) []byte {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The main package of npm names those of all systems, and none has a script.
func TestNPM(t *testing.T) {
	r := planned(t, released, nil)
	text, err := os.ReadFile(only(t, r, "npm", "stopgate-cli-1.2.0.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	_, files := entriesOf(t, text)
	var main map[string]any
	if err := json.Unmarshal(files["package/package.json"], &main); err != nil {
		t.Fatal(err)
	}
	if others := main["optionalDependencies"].(map[string]any); len(others) != len(supported) || others["@stopgate/cli-darwin-arm64"] != "1.2.0" || main["scripts"] != nil || main["name"] != "@stopgate/cli" {
		t.Errorf("%v", main)
	}
	if text, err = os.ReadFile(filepath.Join(r.out, "stopgate-cli-linux-x64-1.2.0.tgz")); err != nil {
		t.Fatal(err)
	}
	headers, files := entriesOf(t, text)
	var one map[string]any
	if err := json.Unmarshal(files["package/package.json"], &one); err != nil {
		t.Fatal(err)
	}
	if one["name"] != "@stopgate/cli-linux-x64" || one["scripts"] != nil || fmt.Sprint(one["os"], one["cpu"]) != "[linux] [x64]" || len(files["package/bin/stopgate-hook"]) == 0 {
		t.Errorf("%v", one)
	}
	for _, h := range headers {
		if strings.HasPrefix(h.Name, "package/bin/") && h.Typeflag == tar.TypeReg && h.Mode != 0o755 {
			t.Errorf("%s: %o", h.Name, h.Mode)
		}
	}
}

// The formula names archives of the release with their checksums, and Ruby reads it.
func TestFormula(t *testing.T) {
	r := planned(t, released, nil)
	if err := r.files([]string{"archives", "formula", "checksums"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.out, "stopgate.rb"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(r.out, sumsFile))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile(`url "https://example\.com/releases/v1\.2\.0/([^"]+)"\n\s+sha256 "([0-9a-f]{64})"`).FindAllSubmatch(text, -1)
	if len(blocks) != 1 || bytes.Count(text, []byte("url ")) != len(blocks) {
		t.Errorf("%d archives in\n%s", len(blocks), text)
	}
	for _, block := range blocks {
		if line := fmt.Sprintf("%s  %s\n", block[2], block[1]); !bytes.Contains(list, []byte(line)) {
			t.Errorf("checksums have no %q", line)
		}
	}
	wants(t, "ruby")
	tool(t, "ruby", "-c", filepath.Join(r.out, "stopgate.rb"))
}
