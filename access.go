package stopgate

import (
	"slices"
	"strings"
)

// Access limits the files that a tool may read and write (D25-49). A nil list is no limit, an
// empty one permits no file. A file is permitted if its path, after symbolic links are followed,
// is one of the list or below one. Changing a file in place takes both permissions.
//
// The gate decides nothing by it: the program that runs the tool enforces it.
type Access struct {
	// Read and Write are paths with "/" as their separator and without "." and "..". They are
	// absolute; a path below a directory that the policy does not know is relative to the project,
	// or begins with "~/".
	Read  []string `json:"read,omitzero"`
	Write []string `json:"write,omitzero"`
}

// MayRead reports whether the tool may read a file, given by its real path in the form of Read.
func (a *Access) MayRead(path string) bool { return a == nil || permits(a.Read, path) }

// MayWrite reports whether the tool may create, change or delete a file, given by its real path in
// the form of Write.
func (a *Access) MayWrite(path string) bool { return a == nil || permits(a.Write, path) }

func permits(list []string, path string) bool {
	return list == nil || slices.ContainsFunc(list, func(dir string) bool { return below(path, dir) })
}

// below reports whether a path is dir or in it.
func below(path, dir string) bool {
	if dir == "." {
		return !strings.HasPrefix(path, "/") && !strings.HasPrefix(path+"/", "~/")
	}
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

// And returns the access that both permit. Nil is no limit.
func (a *Access) And(b *Access) *Access {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &Access{Read: common(a.Read, b.Read), Write: common(a.Write, b.Write)}
}

// common returns the paths that both lists permit.
func common(a, b []string) []string {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	both := []string{}
	for _, one := range a {
		for _, other := range b {
			switch {
			case below(one, other):
				both = append(both, one)
			case below(other, one):
				both = append(both, other)
			}
		}
	}
	slices.Sort(both)
	return slices.Compact(both)
}
