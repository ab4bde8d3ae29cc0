package tools

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxFile is the maximum size of a file that is read.
const maxFile = 16 << 20

// name returns the name of a path in the working tree. Paths through a symbolic link are
// refused: the policy evaluated the path as written.
func (s *Set) name(path string) (string, error) {
	if path == "" {
		path = "."
	}
	rel := filepath.Clean(path)
	if filepath.IsAbs(rel) {
		var err error
		if rel, err = filepath.Rel(s.dir, rel); err != nil {
			return "", outside(path)
		}
	}
	if !filepath.IsLocal(rel) {
		return "", outside(path)
	}
	at := ""
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := s.root.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", plain(path, err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%s is a symbolic link, which file tools do not follow: name the file it leads to", at)
		}
	}
	return rel, nil
}

func outside(path string) error {
	return fmt.Errorf("%s is outside of the working tree", path)
}

// plain returns err without the name of the system call.
func plain(path string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// load reads a file.
func (s *Set) load(path string) (name, content string, err error) {
	if name, err = s.name(path); err != nil {
		return "", "", err
	}
	info, err := s.root.Lstat(name)
	switch {
	case err != nil:
		return name, "", plain(path, err)
	case info.IsDir():
		return name, "", fmt.Errorf("%s is a directory: list it with fs_list_files", path)
	case !info.Mode().IsRegular():
		return name, "", fmt.Errorf("%s is not a regular file", path)
	case info.Size() > maxFile:
		return name, "", fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	f, err := s.root.Open(name)
	if err != nil {
		return name, "", plain(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return name, "", plain(path, err)
	}
	return name, string(data), nil
}

// save replaces a file atomically.
func (s *Set) save(name, content string) error {
	mode := fs.FileMode(0o644)
	if info, err := s.root.Lstat(name); err == nil {
		mode = info.Mode().Perm()
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := s.root.MkdirAll(dir, 0o755); err != nil {
			return plain(name, err)
		}
	}
	fresh := name + ".stopgate-new"
	f, err := s.root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return plain(name, err)
	}
	_, err = io.WriteString(f, content)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = s.root.Rename(fresh, name)
	}
	if err != nil {
		return errors.Join(plain(name, err), s.root.Remove(fresh))
	}
	return nil
}
