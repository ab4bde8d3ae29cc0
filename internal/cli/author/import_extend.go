package author

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/host/imports/draft"
)

// extend reads the files that a pattern names, relative to the file in which it is written. "**" is
// any number of directories.
func extend(file, pattern string) (files []draft.File, err error) {
	if !path.IsAbs(pattern) {
		pattern = path.Join(path.Dir(file), pattern)
	}
	parts := strings.Split(pattern, "/")
	n := slices.IndexFunc(parts, func(p string) bool { return strings.ContainsAny(p, `*?[\`) })
	if n < 0 {
		n = len(parts) - 1
	}
	start := strings.Join(parts[:n], "/")
	if n == 0 {
		start = "."
	} else if start == "" {
		start = "/"
	}
	err = filepath.WalkDir(start, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name = filepath.ToSlash(name)
		if matches, err := matchComponents(parts, strings.Split(name, "/")); err != nil || !matches {
			return err
		}
		text, err := os.ReadFile(name)
		files = append(files, draft.File{Name: name, Text: text})
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return files, err
}

// matchComponents reports whether a path matches a pattern, component by component.
func matchComponents(pattern, name []string) (bool, error) {
	if len(pattern) == 0 {
		return len(name) == 0, nil
	}
	if pattern[0] == "**" {
		for i := range len(name) + 1 {
			if matches, err := matchComponents(pattern[1:], name[i:]); matches || err != nil {
				return matches, err
			}
		}
		return false, nil
	}
	if len(name) == 0 {
		return false, nil
	}
	if matches, err := path.Match(pattern[0], name[0]); !matches || err != nil {
		return false, err
	}
	return matchComponents(pattern[1:], name[1:])
}
