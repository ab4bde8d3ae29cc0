package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

const released = "v1.2.0"

// standIns compiles small programs that play stopgate and stopgate-hook of a version, once.
var standIns = func() func(t *testing.T, version string) string {
	var lock sync.Mutex
	made := map[string]string{}
	return func(t *testing.T, version string) string {
		t.Helper()
		lock.Lock()
		defer lock.Unlock()
		if dir := made[version]; dir != "" {
			return dir
		}
		dir, err := os.MkdirTemp(shared, "programs-")
		if err != nil {
			t.Fatal(err)
		}
		system := filepath.Join(dir, "linux-amd64")
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X main.version="+version, "-o", filepath.Join(system, "stopgate"), "./testdata/program")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		program, err := os.ReadFile(filepath.Join(system, "stopgate"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(system, "stopgate-hook"), program, 0o755); err != nil {
			t.Fatal(err)
		}
		made[version] = dir
		return dir
	}
}()

// shared is a directory for all tests.
var shared string

func TestMain(m *testing.M) {
	var err error
	if shared, err = os.MkdirTemp("", "release-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(shared)
	os.Exit(code)
}

// env answers from a map.
func env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// planned returns a release for linux/amd64 of stand-ins and three pages. Without a key it is unsigned.
func planned(t *testing.T, version string, key *signer) *release {
	t.Helper()
	r := &release{root: "../..", out: t.TempDir(), pages: t.TempDir(), base: "https://example.com/releases", contents: map[system][]file{}, programs: standIns(t, version)}
	if err := r.prepare(version, "1700000000", "linux/amd64"); err != nil {
		t.Fatal(err)
	}
	r.key = key
	for name, text := range map[string]string{
		"man/man1/stopgate.1": ".TH STOPGATE 1\n.SH NAME\nstopgate - decide\n", "man/man5/stopgate.toml.5": ".TH STOPGATE.TOML 5\n",
		"completions/stopgate.bash": "# bash\n", "completions/_stopgate": "#compdef stopgate\n", "completions/stopgate.fish": "# fish\n",
	} {
		path := filepath.Join(r.pages, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// made makes all files of a planned release.
func made(t *testing.T, version string, key *signer) *release {
	t.Helper()
	r := planned(t, version, key)
	var names []string
	for _, k := range kinds {
		if k.name != "root" { // no file of a release
			names = append(names, k.name)
		}
	}
	if err := r.files(names); err != nil {
		t.Fatal(err)
	}
	return r
}

// sums returns the checksums of all files below a directory, by name.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[name] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tool runs a program and returns what it prints.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}
