package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/system/atomicfile"
)

// wants compares a file's text and mode, and the number of files in its directory.
func wants(t *testing.T, path, text string, mode fs.FileMode, files int) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != text {
		t.Errorf("%s: %q, %v; want %q", path, got, err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
		t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, mode)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != files {
		t.Errorf("%d files, %v; want %d", len(list), err, files)
	}
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := atomicfile.Create(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Create(path, []byte("two"), 0o644); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	wants(t, path, "one", 0o600, 1)
}

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	for _, text := range []string{"one", "two"} {
		if err := atomicfile.Replace(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		wants(t, path, text, 0o640, 1)
	}
	// A directory cannot be replaced, and the temporary file is removed.
	if err := os.MkdirAll(filepath.Join(path+".d", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Replace(path+".d", nil, 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	wants(t, path, "two", 0o640, 2)
}

func TestRewrite(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("one"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Rewrite(link, []byte("two")); err != nil {
		t.Fatal(err)
	}
	wants(t, path, "two", 0o640, 2)
	if to, err := os.Readlink(link); err != nil || to != "a" {
		t.Errorf("the link is %q, %v", to, err)
	}
	if err := atomicfile.Rewrite(filepath.Join(dir, "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Rewrite(path, []byte("three")); os.Getuid() != 0 && err == nil {
		t.Error("a file that must not be written was replaced")
	}
}
