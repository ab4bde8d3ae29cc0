package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// long returns the directory of the release to test, which STOPGATE_RELEASE names: make release-check and
// make release-test set it. Other runs skip the test.
func long(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("STOPGATE_RELEASE")
	if dir == "" {
		t.Skip("make release-check and make release-test run it")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the packages that it runs are those of linux/amd64")
	}
	return dir
}

// whole reports whether everything has to be tested: make release-test does, on a machine that has every
// program; make release-check tests as much as the machine can.
func whole() bool { return os.Getenv("STOPGATE_RELEASE_WHOLE") != "" }

// wants skips a test on a machine without a program, except in make release-test.
func wants(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			if whole() {
				t.Fatalf("%s is not installed: make release-tools", name)
			}
			t.Skipf("%s is not installed", name)
		}
	}
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

// systemsOf lists the systems of the release: all of them, if everything has to be tested.
func systemsOf(t *testing.T, dir string) (list []system) {
	t.Helper()
	for _, s := range supported {
		if found, _ := filepath.Glob(filepath.Join(dir, "stopgate-*-"+s.os+"-"+s.arch+".tar.gz")); len(found) > 0 {
			list = append(list, s)
		}
	}
	if len(list) == 0 || whole() && len(list) != len(supported) {
		t.Fatalf("%s has archives for %v", dir, list)
	}
	return list
}

// script runs a script of sh that ends at its first failure, and returns what it prints. It skips the test
// at the status 77, unless everything has to be tested.
func script(t *testing.T, dir, text string, env ...string) string {
	t.Helper()
	cmd := exec.Command("sh", "-euc", text)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		if cmd.ProcessState.ExitCode() == 77 && !whole() {
			t.Skip(strings.TrimSpace(string(out)))
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
