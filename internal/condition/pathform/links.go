package pathform

import (
	"io/fs"

	"github.com/stopgate/stopgate/internal/condition"
)

// certainty is the result of [Value.Certain] in a context.
type certainty struct {
	env                  condition.Env
	expands, restrictive bool
	canonical            []byte
	ok                   bool
}

// LinkCache remembers the targets of links during the evaluation of one string: the conditions on
// it, and the words of a command line, follow the same links.
type LinkCache struct {
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
func (t *LinkCache) List(l *condition.Links, dir string) Listing {
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
func (t *LinkCache) Follow(l *condition.Links, path string) (real string, ok bool) {
	if t == nil || l.Walk == nil {
		return l.Real(path)
	}
	if t.links != l {
		t.links, t.real = l, l.Walk()
	}
	return t.real(path)
}
