// Package realpath finds the file that a path names on this machine, for a gate that shares the
// file system with the tools (C5).
//
//	links := condition.Links{Real: realpath.From("/home/me/project"), Walk: realpath.Walk("/home/me/project"), Files: realpath.Files(realpath.Enough), Has: realpath.Has}
//
// It only reads names, links and modes, never the content of a file. The result is valid at the
// time of the check: a user who can change links between the decision and the call can change the
// file that the call uses.
package realpath

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks bounds the symbolic links in one path, as Linux does.
const maxLinks = 40

// From returns a function that resolves the symbolic links of absolute paths. It returns an
// absolute path without links and "..", or false if the path cannot be resolved: a directory that
// cannot be searched, a file in place of a directory, a cycle. A missing file keeps its name.
//
// Links to the root, to an absolute directory, and links in "/" belong to the machine and not to
// the project: paths through them keep the name that rules use. The function has no cache and is
// safe for concurrent use.
func From(root string) func(name string) (real string, ok bool) {
	return func(name string) (string, bool) { return follow(root, name, isLink) }
}

// Walk returns a function that creates functions like that of [From] with a cache, for the paths of
// one check. Each created function belongs to one goroutine.
func Walk(root string) func() func(name string) (real string, ok bool) {
	return func() func(name string) (string, bool) {
		type result struct {
			real string
			ok   bool
		}
		type lstat struct {
			link bool
			err  error
		}
		var results map[string]result
		var links map[string]lstat
		cached := func(at string) (link bool, err error) {
			s, known := links[at]
			if !known {
				s.link, s.err = isLink(at)
				links[at] = s
			}
			return s.link, s.err
		}
		return func(name string) (string, bool) {
			a, known := results[name]
			if !known {
				if results == nil {
					results, links = make(map[string]result), make(map[string]lstat)
				}
				a.real, a.ok = follow(root, name, cached)
				results[name] = a
			}
			return a.real, a.ok
		}
	}
}

// isLink reports whether a name is that of a link.
func isLink(at string) (link bool, err error) {
	info, err := os.Lstat(at)
	return err == nil && info.Mode()&fs.ModeSymlink != 0, err
}

// follow resolves a path component by component. shown is the current path by the names of rules,
// real by those of the file system.
func follow(root, name string, isLink func(at string) (link bool, err error)) (string, bool) {
	if !path.IsAbs(name) || strings.Contains(name, "\x00") {
		return "", false
	}
	shown, real := "/", "/"
	rest := strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		c := rest[0]
		rest = rest[1:]
		switch c {
		case "", ".":
			continue
		case "..":
			shown, real = path.Dir(shown), path.Dir(real)
			continue
		}
		at, as := path.Join(real, c), path.Join(shown, c)
		link, err := isLink(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if slices.Contains(rest, "..") {
				return "", false
			}
			return path.Join(as, path.Join(rest...)), true
		case err != nil:
			return "", false
		case !link:
			shown, real = as, at
			continue
		}
		target, err := os.Readlink(at)
		if links++; err != nil || links > maxLinks {
			return "", false
		}
		switch {
		case shown == "/" || as == root || strings.HasPrefix(root, as+"/"):
			if real, err = filepath.EvalSymlinks(at); err != nil {
				return "", false
			}
			shown = as
		case path.IsAbs(target):
			shown, real = "/", "/"
			rest = append(strings.Split(target, "/"), rest...)
		default:
			rest = append(strings.Split(target, "/"), rest...)
		}
	}
	return shown, true
}
