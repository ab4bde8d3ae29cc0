package realpath_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/system/realpath"
)

// Files lists everything below a directory, or reports that the list is incomplete.
func TestFiles(t *testing.T) {
	dir := tree(t, map[string]string{"a/link": "../b"}, "a/x", "a/.env", "b/c/y", "b/z")
	var names []string
	each := func(name string, mode fs.FileMode) {
		switch {
		case mode&fs.ModeSymlink != 0:
			name += "@"
		case mode.IsDir():
			name += "/"
		}
		names = append(names, name)
	}
	whole := realpath.Files(8)(dir, each)
	slices.Sort(names)
	if want := []string{"a/", "a/.env", "a/link@", "a/x", "b/", "b/c/", "b/c/y", "b/z"}; !whole || !slices.Equal(names, want) {
		t.Errorf("%v, whole %v", names, whole)
	}
	for name, dir := range map[string]string{"too many": dir, "a file": filepath.Join(dir, "a/x"), "nothing": filepath.Join(dir, "none")} {
		if realpath.Files(7)(dir, each) {
			t.Errorf("%s: all of it was seen", name)
		}
	}
	empty := t.TempDir()
	if !realpath.Files(0)(empty, each) {
		t.Error("an empty directory was not seen")
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(filepath.Join(dir, "b/c"), 0); err != nil {
			t.Fatal(err)
		}
		if realpath.Files(100)(dir, each) {
			t.Error("what cannot be read was seen")
		}
	}
}

// Has does not follow links, and reports true if it cannot check.
func TestHas(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{dir: true, link: true, filepath.Join(dir, "none"): false, filepath.Join(dir, "none", "x"): false, "\x00": true} {
		if realpath.Has(path) != want {
			t.Errorf("%q: %v, want %v", path, !want, want)
		}
	}
}
