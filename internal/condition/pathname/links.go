package pathname

import (
	"io/fs"
	"path"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
)

// certainty is the result of [Value.certain] in a context.
type certainty struct {
	env                  condition.Env
	expands, restrictive bool
	canonical            []byte
	ok                   bool
}

// linkCache remembers the targets of links during the evaluation of one string: the conditions on
// it, and the words of a command line, follow the same links.
type linkCache struct {
	links *condition.Links
	real  func(path string) (real string, ok bool)
	// Solid: a path that does not exist now will be no link when it is used.
	Solid bool
	files map[string]Listing // by directory
}

// Listing is the list of files below a directory.
type Listing struct {
	Names    []string
	Modes    []fs.FileMode
	Complete bool
}

// List is [Links.Files], called once for each directory.
func (t *linkCache) List(l *condition.Links, dir string) Listing {
	found, known := t.files[dir]
	if !known {
		found.Complete = l.Files(dir, func(name string, mode fs.FileMode) {
			found.Names, found.Modes = append(found.Names, name), append(found.Modes, mode)
		})
		if t.files == nil {
			t.files = make(map[string]Listing)
		}
		t.files[dir] = found
	}
	return found
}

// Follow is [Links.Real].
func (t *linkCache) Follow(l *condition.Links, path string) (real string, ok bool) {
	if t == nil || l.Walk == nil {
		return l.Real(path)
	}
	if t.links != l {
		t.links, t.real = l, l.Walk()
	}
	return t.real(path)
}

// HoldsAny reports whether the test matches a file of a list, or its target. hidden are included, stored
// leaves out those of git, and names are wildcards for their names.
func (t *Test) HoldsAny(dir string, found *Listing, hidden, stored bool, names []string, way *linkCache) bool {
	for i, below := range found.Names {
		dotted := strings.HasPrefix(below, ".") || strings.Contains(below, "/.")
		inStore := strings.HasPrefix(below, ".git/") || strings.Contains(below, "/.git/")
		if found.Modes[i].IsDir() || dotted && !hidden || inStore && stored || !Searched(below, names) {
			continue
		}
		name := strings.TrimSuffix(dir, "/") + "/" + below
		if t.Holds([]byte(name), true) {
			return true
		}
		if found.Modes[i]&fs.ModeSymlink == 0 {
			continue
		}
		real, ok := way.Follow(t.Env.Links, name)
		if !ok || t.Holds([]byte(real), true) {
			return true
		}
	}
	return false
}

// Searched reports whether a file matches one of some wildcards; none means all.
func Searched(name string, wildcards []string) bool {
	for _, w := range wildcards {
		if ok, err := path.Match(strings.ToLower(w), strings.ToLower(path.Base(name))); ok || err != nil {
			return true
		}
	}
	return len(wildcards) == 0
}
