package match

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/shell"
)

// clear reports that the test holds for none of the files that are swept, as they lie on the
// disk now. Where nobody looks at the disk, or not at all of it, it is false.
func (t *commandPaths) clear(v *Value, s *shell.Sweep) bool {
	var tests []*pathTest
	switch test := t.path.(type) {
	case *pathTest:
		tests = []*pathTest{test}
	case eitherPath:
		tests = test[:]
	}
	if len(tests) == 0 || !s.Disk || s.Files || s.Anywhere || s.Renames || len(s.Dir.Text) > 0 && !s.Dir.Literal {
		return false
	}
	env := &tests[0].env
	links := env.Links
	if links == nil || links.Files == nil || env.lost || env.also != "" {
		return false
	}
	at, certain := t.base.from(s.Dir.Text, s.Moved, s.Into, s.Sure)
	dir := string(at)
	switch {
	case s.Moved && !certain || strings.HasPrefix(dir, "~") || strings.HasPrefix(dir, ":"):
		return false
	case s.Repository:
		if s.Moved || t.base.below() || t.base.root == "" {
			return false // git takes all of the repository
		}
		dir = t.base.root
	case !strings.HasPrefix(dir, "/"):
		if t.base.dir == "" {
			return false
		}
		dir = t.base.dir + "/" + dir
	}
	way := v.way()
	real, ok := way.follow(links, dir)
	if !ok || real != path.Clean(dir) {
		return false
	}
	found := way.list(links, real)
	// The directory in which a repository begins has .git: git looks no higher.
	return found.whole && (!s.Repository || slices.Contains(found.names, ".git")) &&
		!slices.ContainsFunc(tests, func(test *pathTest) bool { return test.holdsFor(real, &found, s, way) })
}

// holdsFor reports that the test holds for a file of a list, or for what it leads to.
func (t *pathTest) holdsFor(dir string, found *listing, s *shell.Sweep, way *trail) bool {
	for i, below := range found.names {
		hidden := strings.HasPrefix(below, ".") || strings.Contains(below, "/.")
		stored := strings.HasPrefix(below, ".git/") || strings.Contains(below, "/.git/")
		if found.modes[i].IsDir() || hidden && !s.Hidden || stored && s.Stored || !searched(below, s.Names) {
			continue
		}
		name := strings.TrimSuffix(dir, "/") + "/" + below
		if t.holds([]byte(name), true) {
			return true
		}
		if found.modes[i]&fs.ModeSymlink == 0 {
			continue
		}
		real, ok := way.follow(t.env.Links, name)
		if !ok || t.holds([]byte(real), true) {
			return true
		}
	}
	return false
}

// searched reports a file that one of some wildcards names; none: all.
func searched(name string, wildcards []string) bool {
	for _, w := range wildcards {
		if ok, err := path.Match(strings.ToLower(w), strings.ToLower(path.Base(name))); ok || err != nil {
			return true
		}
	}
	return len(wildcards) == 0
}
