package realpath

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Files returns a function that calls each for everything below a directory, at any depth,
// and follows no links. It reports false where it cannot see all: the directory is not there,
// one cannot be read, or there is more than limit says.
func Files(limit int) func(dir string, each func(name string, mode fs.FileMode)) (whole bool) {
	return func(dir string, each func(name string, mode fs.FileMode)) bool {
		seen := 0
		todo := []string{""}
		for len(todo) > 0 {
			below := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			f, err := os.Open(filepath.Join(dir, below))
			if err != nil {
				return false
			}
			list, err := f.ReadDir(limit - seen + 1)
			f.Close()
			if seen += len(list); seen > limit || err != nil && err != io.EOF {
				return false
			}
			for _, e := range list {
				name := filepath.ToSlash(filepath.Join(below, e.Name()))
				if each(name, e.Type()); e.IsDir() {
					todo = append(todo, name)
				}
			}
		}
		return true
	}
}

// Enough is a limit for [Files] that most directories of sources keep.
const Enough = 20000

// Has reports that something lies at a path, or that this cannot be seen.
func Has(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
