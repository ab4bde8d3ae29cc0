package main

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"aead.dev/minisign"
)

// dist makes the release of the commit, signed with a new key, once: `make release` in a clone. Tests that
// use it are those of make release-test. STOPGATE_RELEASE is 1, or the directory of a release to test.
var dist = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("STOPGATE_RELEASE"); filepath.IsAbs(dir) {
		return dir, nil
	}
	_, key, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	text, err := key.MarshalText()
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(shared, "key"), text, 0o600); err != nil {
		return "", err
	}
	return releaseIn(filepath.Join(shared, "a"), "umask 022; make release")
})

// releaseIn runs a command in a clone of the checkout, and returns its directory of files.
func releaseIn(dir, command string, env ...string) (string, error) {
	if out, err := exec.Command("git", "clone", "-q", "--no-hardlinks", "../..", dir).CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "STOPGATE_RELEASE_KEY="+filepath.Join(shared, "key"), "VERSION=", "MAKEFLAGS="), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(out[max(0, len(out)-4000):]))
	}
	return filepath.Join(dir, "dist"), nil
}

// long returns the files of the release, and skips a test that is not one of make release-test.
func long(t *testing.T) string {
	t.Helper()
	if os.Getenv("STOPGATE_RELEASE") == "" {
		t.Skip("make release-test runs it")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the packages that it runs are those of linux/amd64")
	}
	began := time.Now()
	dir, err := dist()
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > time.Second {
		t.Logf("make release took %s", took.Round(time.Second))
	}
	return dir
}

// one returns the only file of the release that fits a pattern.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

// script runs a script of sh that ends at its first failure, and returns what it prints.
func script(t *testing.T, dir, text string, env ...string) string {
	t.Helper()
	cmd := exec.Command("sh", "-euc", text)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
