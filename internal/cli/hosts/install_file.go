package hosts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/host/install"
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

// behindLinks is the file that a path stands for, also where it is not there yet: settings
// are often links into a repository.
func behindLinks(path string) (string, error) {
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

// replaceSettings writes the file in one step and keeps what was there beside it.
func replaceSettings(p *install.Plan, before, after []byte) error {
	file, err := behindLinks(p.File)
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
	next, err := os.CreateTemp(filepath.Dir(file), ".stopgate-*")
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) // gone if it was renamed
	_, err = next.Write(after)
	if err := errors.Join(err, next.Chmod(mode), next.Sync(), next.Close()); err != nil {
		return err
	}
	return os.Rename(next.Name(), file)
}

// keepBeside writes a copy beside a file, and over no other copy.
func keepBeside(file string, text []byte, mode fs.FileMode) error {
	name := file + ".stopgate-" + time.Now().UTC().Format("20060102T150405Z")
	for n := 2; ; n++ {
		f, err := os.OpenFile(name+".bak", os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			name = fmt.Sprintf("%s-%d", name[:len(file)+len(".stopgate-20060102T150405Z")], n)
			continue
		}
		if err != nil {
			return err
		}
		_, err = f.Write(text)
		return errors.Join(err, f.Sync(), f.Close())
	}
}
