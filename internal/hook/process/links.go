package process

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/protected"
	"github.com/stopgate/stopgate/internal/system/plainfile"
)

// fewEntries is the number of entries up to which a directory is read to find names of the
// protected list in it; in a larger one each name is looked up.
const fewEntries = 512

// links finds the files and directories of the protected list below a home or a project directory
// that are symbolic links: settings are often kept in a repository of their own. Their targets are
// the same files under another name, and are also protected. named are the names of that list.
func links(s *condition.Settings, base string, named []string) {
	if !filepath.IsAbs(base) {
		return
	}
	top := entries(base)
	for _, name := range named {
		path, rest, deep := strings.Cut(name, "/")
		at, there := lookAt(base, path, top)
		for there && at.Type() != fs.ModeSymlink && deep {
			dir, next := path, ""
			next, rest, deep = strings.Cut(rest, "/")
			path = dir + "/" + next
			at, there = lookAt(filepath.Join(base, dir), next, nil)
		}
		switch {
		case !there:
		case at.Type() == fs.ModeSymlink:
			lead(s, filepath.Join(base, path), path, named)
		case at.IsDir():
			linksIn(s, filepath.Join(base, path), path, named)
		}
	}
}

// linksIn is links for the entries of a directory, which the protected list calls name.
func linksIn(s *condition.Settings, dir, name string, named []string) {
	list, _ := os.ReadDir(dir) // the readable part
	for _, e := range list {
		if e.Type() == fs.ModeSymlink {
			lead(s, filepath.Join(dir, e.Name()), name+"/"+e.Name(), named)
		}
	}
}

// entries returns the entries of a directory by name, nil if it is large, or cannot be read.
func entries(dir string) map[string]fs.DirEntry {
	f, err := plainfile.Open(dir, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, err := f.ReadDir(fewEntries)
	if len(list) == fewEntries || err != nil && err != io.EOF {
		return nil
	}
	all := make(map[string]fs.DirEntry, len(list))
	for _, e := range list {
		all[e.Name()] = e
	}
	return all
}

// lookAt returns an entry of a directory; all are its entries, nil if unknown.
func lookAt(dir, name string, all map[string]fs.DirEntry) (fs.DirEntry, bool) {
	if all != nil {
		e, there := all[name]
		return e, there
	}
	info, err := os.Lstat(filepath.Join(dir, name))
	if err != nil {
		return nil, false
	}
	return fs.FileInfoToDirEntry(info), true
}

// lead adds the target of a path that the protected list calls name, if the list has rows for it.
func lead(s *condition.Settings, path, name string, named []string) {
	if !slices.ContainsFunc(named, func(n string) bool { return strings.HasPrefix(n+"/", name+"/") || strings.HasPrefix(name, n+"/") }) {
		return
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return // no target: a file created there later is found then
	}
	info, err := os.Stat(real)
	if err != nil {
		return
	}
	if info.IsDir() {
		if m := (condition.Moved{From: name, To: real}); !slices.Contains(s.Moved, m) {
			s.Moved = append(s.Moved, m)
		}
		return
	}
	switch protection, _ := protected.New(condition.Env{}).Path([]byte(name)); protection {
	case condition.DeniedTarget:
		s.Denied = append(s.Denied, real)
	case condition.AskedTarget:
		s.Asked = append(s.Asked, real)
	}
}
