// Package realpath says which file a path names on this machine, for a gate that sees the
// file system that the tools see (C5).
//
//	links := match.Links{Real: realpath.From("/home/me/project"), Walk: realpath.Walk("/home/me/project"), Files: realpath.Files(realpath.Enough), Has: realpath.Has}
//
// What it promises: it opens and changes nothing, and never reads a file's content. The
// answer is that of the moment it was asked in: who can change links between the decision
// and the call can change what the call does.
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

// maxLinks is how many symbolic links one path may lead through, as on Linux.
const maxLinks = 40

// From returns a function that follows the symbolic links of absolute paths. It answers
// with an absolute path without links and "..", or with false where nobody knows: a
// directory that cannot be searched, a file in the place of one, a circle. What does not
// exist keeps its name.
//
// Links that lead to the root, an absolute directory, and those that stand in "/" belong
// to the machine and not to the project: what lies behind them keeps the name that rules
// are written with. The function remembers nothing and is safe for concurrent use.
func From(root string) func(name string) (real string, ok bool) {
	return func(name string) (string, bool) { return follow(root, name, look) }
}

// Walk makes functions that say what that of [From] says, and remember what they saw: for
// the paths of one moment. Each belongs to one goroutine.
func Walk(root string) func() func(name string) (real string, ok bool) {
	return func() func(name string) (string, bool) {
		type answer struct {
			real string
			ok   bool
		}
		type sight struct {
			link bool
			err  error
		}
		var said map[string]answer
		var seen map[string]sight
		remembers := func(at string) (link bool, err error) {
			s, known := seen[at]
			if !known {
				s.link, s.err = look(at)
				seen[at] = s
			}
			return s.link, s.err
		}
		return func(name string) (string, bool) {
			a, known := said[name]
			if !known {
				if said == nil {
					said, seen = make(map[string]answer), make(map[string]sight)
				}
				a.real, a.ok = follow(root, name, remembers)
				said[name] = a
			}
			return a.real, a.ok
		}
	}
}

// look reports whether a name is that of a link.
func look(at string) (link bool, err error) {
	info, err := os.Lstat(at)
	return err == nil && info.Mode()&fs.ModeSymlink != 0, err
}

// follow walks a path component by component. shown is where it is by the names of rules,
// real by those of the file system.
func follow(root, name string, look func(at string) (link bool, err error)) (string, bool) {
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
		link, err := look(at)
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
