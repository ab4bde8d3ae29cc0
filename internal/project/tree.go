package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Bounds of what is read.
const (
	maxFile    = 256 << 10 // bytes of one file
	maxDirs    = 1500
	maxEntries = 4000 // of one directory
	maxDepth   = 6
	maxNotes   = 20
)

// tree is the listing of a project: directories in breadth-first order, without links.
type tree struct {
	fsys  fs.FS
	order []string
	dirs  map[string][]fs.DirEntry
	notes []string
}

// skipped are directories that hold no code of the project's people.
var skipped = []string{
	"node_modules", "bower_components", "vendor", "third_party", "dist", "build", "target", "out", "coverage", "bin", "obj",
	"__pycache__", "venv", "env", "site-packages", "Pods", "testdata",
}

// list reads the directories.
func (t *tree) list() error {
	queue := []string{"."}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		if len(t.order) == maxDirs {
			t.note("only %d directories were read", maxDirs)
			return nil
		}
		entries, err := t.entries(dir)
		if err != nil {
			if dir == "." {
				return fmt.Errorf("read project: %w", err)
			}
			t.note("%s cannot be listed", dir)
			continue
		}
		t.order = append(t.order, dir)
		t.dirs[dir] = entries
		for _, e := range entries {
			name := e.Name()
			switch {
			case !e.IsDir() || strings.HasPrefix(name, ".") || slices.Contains(skipped, name):
			case !plain(name):
				t.note("the directory %q in %s has an unusual name", clip(name), dir)
			case dir != "." && strings.Count(dir, "/")+2 > maxDepth:
			default:
				queue = append(queue, join(dir, name))
			}
		}
	}
	return nil
}

// entries lists one directory, in alphabetical order.
func (t *tree) entries(dir string) ([]fs.DirEntry, error) {
	f, err := t.fsys.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, errors.New("it is no directory")
	}
	entries, err := d.ReadDir(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(entries) == maxEntries {
		t.note("only %d entries of %s were read", maxEntries, dir)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// files returns the names of the regular files in a directory that match a pattern.
func (t *tree) files(dir, pattern string) (names []string) {
	for _, e := range t.dirs[dir] {
		if ok, _ := path.Match(pattern, e.Name()); ok && e.Type().IsRegular() && plain(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

func (t *tree) has(dir, pattern string) bool { return len(t.files(dir, pattern)) > 0 }

// hasDir reports whether a directory has a subdirectory, which need not have been listed.
func (t *tree) hasDir(dir, name string) bool {
	return slices.ContainsFunc(t.dirs[dir], func(e fs.DirEntry) bool { return e.IsDir() && e.Name() == name })
}

// read returns the text of a regular file; nil if there is none, or it is too large or binary.
func (t *tree) read(dir, name string) []byte {
	if !t.has(dir, name) {
		return nil
	}
	file := join(dir, name)
	f, err := t.fsys.Open(file)
	if err != nil {
		t.note("%s cannot be read", file)
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		t.note("%s cannot be read", file)
		return nil
	case len(text) > maxFile:
		t.note("%s has more than %d KiB and was not read", file, maxFile>>10)
		return nil
	case bytes.IndexByte(text, 0) >= 0:
		t.note("%s is no text", file)
		return nil
	}
	return text
}

func (t *tree) note(format string, args ...any) {
	if len(t.notes) < maxNotes {
		t.notes = append(t.notes, fmt.Sprintf(format, args...))
	}
}

// join returns the path of a name below a directory, without "./".
func join(dir, name string) string { return path.Join(dir, name) }

// plain reports whether a name means itself in a glob, a usage, a string and a comment of a policy.
func plain(name string) bool {
	if name == "" || len(name) > 64 || strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") {
		return false
	}
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-') {
			return false
		}
	}
	return true
}

// clip shortens a hostile name.
func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "..."
	}
	return text
}
