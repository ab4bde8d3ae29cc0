package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Every file of a release is the same, whatever the time zone, the language, the mask of modes and the
// directory are.
func TestSameBytes(t *testing.T) {
	key := &signer{key: newKey(t)}
	first := sums(t, made(t, released, key).out)
	t.Setenv("GOMODCACHE", strings.TrimSpace(tool(t, "go", "env", "GOMODCACHE")))
	t.Setenv("GOCACHE", strings.TrimSpace(tool(t, "go", "env", "GOCACHE")))
	t.Setenv("TZ", "Asia/Kolkata")
	t.Setenv("LC_ALL", "tr_TR.UTF-8")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SOURCE_DATE_EPOCH", "1")
	t.Setenv("USER", "somebody")
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	time.Sleep(time.Second) // no format has finer times
	second := sums(t, made(t, released, key).out)
	if len(first) < 14 || !slices.Equal(slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(second))) {
		t.Fatalf("%v\n%v", first, second)
	}
	for name, sum := range first {
		if second[name] != sum {
			t.Errorf("%s differs", name)
		}
	}
}

// entriesOf reads a compressed archive.
func entriesOf(t *testing.T, text []byte) (headers []*tar.Header, files map[string][]byte) {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if unzipped.Name != "" {
		t.Errorf("compressed with a name: %+v", unzipped.Header)
	}
	files = map[string][]byte{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return headers, files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		headers, files[h.Name] = append(headers, h), text
	}
}

// An archive has both programs, licences, pages, completions and units in one directory, owned by root
// and writable for nobody else, at the time of the commit.
func TestArchive(t *testing.T) {
	r := planned(t, released, nil)
	if err := archive(r, system{"linux", "amd64"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.out, "stopgate-v1.2.0-linux-amd64.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	headers, files := entriesOf(t, text)
	for _, name := range []string{"stopgate", "stopgate-hook", "LICENSE", "THIRD-PARTY-NOTICES", "README.md", "CHANGELOG.md", "man/man1/stopgate.1", "man/man5/stopgate.toml.5",
		"completions/stopgate.bash", "completions/_stopgate", "completions/stopgate.fish", "systemd/stopgate.service", "systemd/stopgate-hook.service"} {
		if len(files["stopgate-v1.2.0-linux-amd64/"+name]) == 0 {
			t.Errorf("no %s", name)
		}
	}
	if h := headers[0]; h.Name != "stopgate-v1.2.0-linux-amd64/" || h.Typeflag != tar.TypeDir {
		t.Errorf("begins with %s", h.Name)
	}
	for _, h := range headers {
		program := strings.HasSuffix(h.Name, "/stopgate") || strings.HasSuffix(h.Name, "/stopgate-hook") || h.Typeflag == tar.TypeDir
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.ModTime.Unix() != 1_700_000_000 || (h.Mode != 0o755) != !program || !program && h.Mode != 0o644 {
			t.Errorf("%+v", h)
		}
	}
}

// Licences are those of the modules that the programs have, and a module without one is refused.
func TestNotices(t *testing.T) {
	program := filepath.Join(standIns(t, released), "linux-amd64", "stopgate")
	text, err := notices(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Go standard library go", "\naead.dev/minisign@v", "\ngolang.org/x/crypto@v", "MIT License", "Copyright 2009 The Go Authors", "PATENTS:"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("notices have no %q", want)
		}
	}
	var out bytes.Buffer
	if err := notice(&out, "module", t.TempDir()); err == nil {
		t.Error("a module without a licence")
	}
	if _, err := notices(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("notices of no program")
	}
}

// A unit of a package starts the program of the package, and a unit that is not understood is refused.
func TestUnitsOfPackages(t *testing.T) {
	for _, name := range []string{"stopgate.service", "stopgate-hook.service"} {
		text, err := os.ReadFile(filepath.Join("../systemd", name))
		if err != nil {
			t.Fatal(err)
		}
		out, err := unit(text)
		if err != nil || !bytes.HasPrefix(out, []byte("[Unit]\n")) || !bytes.Contains(out, []byte("\nExecStart=/usr/bin/stopgate ")) || bytes.Contains(out, []byte("local/bin")) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	for _, text := range []string{"# c\n[Unit]\n", "[Unit]\nExecStart=/a/stopgate up\n", "# c\n[Unit]\nExecStart=/a/stopgate a\nExecStart=/a/stopgate b\n"} {
		if _, err := unit([]byte(text)); err == nil {
			t.Errorf("read: %s", text)
		}
	}
}

// What is missing or unknown ends the release.
func TestRefusals(t *testing.T) {
	r := planned(t, released, nil)
	if err := os.WriteFile(filepath.Join(r.pages, "surprise"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.files([]string{"deb"}); err == nil || !strings.Contains(err.Error(), "surprise") {
		t.Errorf("a file without a place: %v", err)
	}
	if err := r.run([]string{"dep"}); err == nil {
		t.Error("an unknown kind")
	}
	r = planned(t, released, nil)
	r.programs = t.TempDir()
	for _, k := range kinds[:8] {
		if err := r.files([]string{k.name}); err == nil {
			t.Errorf("%s without programs", k.name)
		}
	}
	if err := r.prepare(released, "1700000000", "linux/mips"); err == nil {
		t.Error("a system that is not supported")
	}
	r.out = t.TempDir()
	if err := checksums(r); err == nil {
		t.Error("checksums of nothing")
	}
}
