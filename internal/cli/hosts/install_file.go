package hosts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
)

// readSettings reads a settings file; nil where there is none.
func readSettings(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", path)
	}
	return os.ReadFile(path)
}

// Behind resolves the links of a path, also to a file that does not exist yet: settings are often links
// into a repository.
func Behind(path string) (string, error) {
	for range 40 {
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link
		}
		if !filepath.IsAbs(target) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			target = filepath.Join(dir, target)
		}
		path = target
	}
	return "", fmt.Errorf("%s: there are too many links", path)
}

// replaceSettings replaces the file atomically and keeps a copy of its old text next to it.
func replaceSettings(p *install.Plan, before, after []byte) error {
	file, err := Behind(p.File)
	if err != nil {
		return err
	}
	mode := fs.FileMode(p.Mode)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if before != nil {
		if err := keepBeside(file, before, mode); err != nil {
			return fmt.Errorf("keep the old settings: %w", err)
		}
	}
	if after == nil {
		return os.Remove(file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicfile.Replace(file, after, mode)
}

// keepBeside writes a copy next to a file. Older copies stay.
func keepBeside(file string, text []byte, mode fs.FileMode) error {
	stem := file + ".stopgate-" + time.Now().UTC().Format("20060102T150405Z")
	name := stem
	for n := 2; ; n++ {
		if err := atomicfile.Create(name+".bak", text, mode); !errors.Is(err, fs.ErrExist) {
			return err
		}
		name = fmt.Sprintf("%s-%d", stem, n)
	}
}
