package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The table replaces the one in a page, names every file without its version, and changes nothing else.
func TestSizes(t *testing.T) {
	r := &release{out: t.TempDir(), root: "../.."}
	if err := r.prepare("v1.2.0-rc.1", "1700000000", ""); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"stopgate_1.2.0~rc.1_amd64.deb": 12_345_678, "stopgate_cli-1.2.0rc1-py3.whl": 999_999, "stopgate-v1.2.0-rc.1-linux-amd64.tar.gz": 10_400, "stopgate-cli-1.2.0-rc.1.tgz": 2_340, "install.sh": 1} {
		if err := os.WriteFile(filepath.Join(r.out, name), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(r.out, "image"), 0o755); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n"+sizesBegin+"old\n"+sizesEnd+"after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const want = "before\n" + sizesBegin + "| file | size |\n|---|---:|\n| `install.sh` | 0.0 KB |\n| `stopgate-cli-VERSION.tgz` | 2.3 KB |\n| `stopgate-VERSION-linux-amd64.tar.gz` | 10 KB |\n" +
		"| `stopgate_VERSION_amd64.deb` | 12.3 MB |\n| `stopgate_cli-VERSION-py3.whl` | 1000 KB |\n" + sizesEnd + "after\n"
	for range 2 {
		if err := r.sizes([]string{page}); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(page); err != nil || string(text) != want {
			t.Errorf("%v\n%s", err, text)
		}
	}
	if err := os.WriteFile(page, []byte("no table\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.sizes([]string{page}); err == nil || !strings.Contains(err.Error(), "page.md") {
		t.Errorf("a page without a table: %v", err)
	}
}
