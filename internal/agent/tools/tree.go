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

// name returns the name in the working tree of a path that an operation needs. Paths through a
// symbolic link are refused: the policy evaluated the path as written.
func (s *view) name(path string, n need) (string, error) {
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
	return rel, s.permitted(rel, n)
}

// directory opens a directory of the tree, and creates it on demand. It follows no link, even if
// one takes the place of a directory after [view.name] looked: what is opened is what was named.
func (s *Set) directory(name string, create bool) (*os.Root, error) {
	at, err := s.root.OpenRoot(".")
	if err != nil || name == "." {
		return at, err
	}
	for part := range strings.SplitSeq(name, string(filepath.Separator)) {
		if create {
			if err := at.Mkdir(part, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, errors.Join(err, at.Close())
			}
		}
		next, err := at.OpenRoot(part)
		if err == nil {
			err = same(at, part, func() (fs.FileInfo, error) { return next.Stat(".") })
			if err != nil {
				err = errors.Join(err, next.Close())
			}
		}
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// same returns an error unless an entry of a directory is what was opened under its name.
func same(dir *os.Root, entry string, opened func() (fs.FileInfo, error)) error {
	named, err := dir.Lstat(entry)
	if err != nil {
		return err
	}
	info, err := opened()
	if err == nil && !os.SameFile(named, info) {
		err = &fs.PathError{Op: "open", Path: entry, Err: errors.New("changed while it was opened; links are not followed")}
	}
	return err
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
func (s *view) load(path string, n need) (name, content string, err error) {
	if name, err = s.name(path, n); err != nil {
		return "", "", err
	}
	dir, err := s.directory(filepath.Dir(name), false)
	if err != nil {
		return name, "", plain(path, err)
	}
	defer dir.Close()
	base := filepath.Base(name)
	info, err := dir.Lstat(base)
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
	f, err := dir.Open(base)
	if err != nil {
		return name, "", plain(path, err)
	}
	defer f.Close()
	if err := same(dir, base, f.Stat); err != nil {
		return name, "", plain(path, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return name, "", plain(path, err)
	}
	return name, string(data), nil
}

// save replaces a file atomically.
func (s *view) save(name, content string) error {
	dir, err := s.directory(filepath.Dir(name), true)
	if err != nil {
		return plain(name, err)
	}
	defer dir.Close()
	base := filepath.Base(name)
	mode := fs.FileMode(0o644)
	if info, err := dir.Lstat(base); err == nil {
		mode = info.Mode().Perm()
	}
	fresh := base + ".stopgate-new"
	f, err := dir.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return plain(name, err)
	}
	_, err = io.WriteString(f, content)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = dir.Rename(fresh, base)
	}
	if err != nil {
		return errors.Join(plain(name, err), dir.Remove(fresh))
	}
	return nil
}

// rename moves a file, and creates the directory of its new name. The move happens within the
// deepest directory that has both names: if the call may touch all of it, no link can lead out.
func (s *view) rename(from, to string) error {
	within := common(filepath.Dir(from), filepath.Dir(to))
	if filepath.Dir(from) != filepath.Dir(to) && s.permitted(within, reads|writes) != nil {
		return fmt.Errorf("access: %s moves files only within one directory that it may read and write as a whole: create %s there instead, and delete %s", s.tool, to, from)
	}
	parent, err := s.directory(filepath.Dir(to), true)
	if err != nil {
		return plain(to, err)
	}
	if err := parent.Close(); err != nil {
		return plain(to, err)
	}
	dir, err := s.directory(within, false)
	if err != nil {
		return plain(within, err)
	}
	defer dir.Close()
	old, _ := filepath.Rel(within, from)
	fresh, _ := filepath.Rel(within, to)
	if err := dir.Rename(old, fresh); err != nil {
		return plain(from, err)
	}
	return nil
}

// common returns the deepest directory that two local directories are in, or are.
func common(a, b string) string {
	for ; a != "."; a = filepath.Dir(a) {
		if rel, err := filepath.Rel(a, b); err == nil && filepath.IsLocal(rel) {
			return a
		}
	}
	return "."
}
