package process

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/system/plainfile"
)

// fewEntries is up to how many entries a directory is read to find the names of the
// protected list in it; in a larger one each name is looked for.
const fewEntries = 512

// links finds which files and directories below a home or a project, of those that the
// protected list names, are symbolic links: settings are often kept in a repository of
// their own. What they lead to is the same file under another name, and protected as it.
// named are the names of that list.
func links(s *match.Settings, base string, named []string) {
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

// linksIn is links for what stands in a directory, which the protected list calls name.
func linksIn(s *match.Settings, dir, name string, named []string) {
	list, _ := os.ReadDir(dir) // of what cannot be read, what can be
	for _, e := range list {
		if e.Type() == fs.ModeSymlink {
			lead(s, filepath.Join(dir, e.Name()), name+"/"+e.Name(), named)
		}
	}
}

// entries are what stands in a directory, by name; nil if it is large, or cannot be read.
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

// lookAt finds an entry of a directory; all are those that it has, nil if that is unknown.
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

// lead adds what a path leads to that the protected list calls name, if it says anything
// of it.
func lead(s *match.Settings, path, name string, named []string) {
	if !slices.ContainsFunc(named, func(n string) bool { return strings.HasPrefix(n+"/", name+"/") || strings.HasPrefix(name, n+"/") }) {
		return
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return // to nothing: what is made there later is seen then
	}
	info, err := os.Stat(real)
	if err != nil {
		return
	}
	if info.IsDir() {
		if m := (match.Moved{From: name, To: real}); !slices.Contains(s.Moved, m) {
			s.Moved = append(s.Moved, m)
		}
		return
	}
	switch protection, _ := match.NewProtected(match.Env{}).Path([]byte(name)); protection {
	case match.ProtectedDenied:
		s.Denied = append(s.Denied, real)
	case match.ProtectedAsk:
		s.Asked = append(s.Asked, real)
	}
}
