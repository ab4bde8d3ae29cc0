package realpath

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Files returns a function that calls each for every entry below a directory, without following
// links. It returns false if the list is incomplete: the directory does not exist, a directory
// cannot be read, or there are more than limit entries.
func Files(limit int) func(dir string, each func(name string, mode fs.FileMode)) (complete bool) {
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

// Enough is a limit for [Files] that most source directories do not reach.
const Enough = 20000

// Has reports whether a file exists, or cannot be checked.
func Has(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
