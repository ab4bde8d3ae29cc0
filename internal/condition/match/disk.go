package match

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell"
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
	if len(tests) == 0 || !s.Disk || s.Anywhere || s.Renames || len(s.Dir.Text) > 0 && !s.Dir.Literal && !s.Files {
		return false
	}
	if s.Files {
		return t.clearFiles(v, s, tests)
	}
	found, real, ok := t.base.lies(v, t.links, s)
	// The directory in which a repository begins has .git: git looks no higher.
	return ok && (!s.Repository || slices.Contains(found.names, ".git")) &&
		!slices.ContainsFunc(tests, func(test *pathTest) bool { return test.holdsFor(real, &found, s, v.way()) })
}

// lies lists what lies on the disk below a directory that a command reads. It is ok if that is
// all, and the path to the directory leads over no link.
func (b *base) lies(v *Value, links *Links, s *shell.Sweep) (found listing, real string, ok bool) {
	if links == nil || links.Files == nil || b.lost {
		return found, "", false
	}
	at, certain := b.from(s.Dir.Text, s.Moved, s.Into, s.Sure)
	dir := string(at)
	switch {
	case s.Moved && !certain || strings.HasPrefix(dir, "~") || strings.HasPrefix(dir, ":"):
		return found, "", false
	case s.Repository:
		if s.Moved || b.deeper() || b.root == "" {
			return found, "", false // git takes all of the repository
		}
		dir = b.root
	case !strings.HasPrefix(dir, "/"):
		if b.dir == "" {
			return found, "", false
		}
		dir = b.dir + "/" + dir
	}
	way := v.way()
	real, ok = way.follow(links, dir)
	if !ok || real != path.Clean(dir) {
		return found, "", false
	}
	found = way.list(links, real)
	return found, real, found.whole
}

// plainNames reports that xargs gives the names of files below a directory to a program as they
// are: none has a character that xargs reads otherwise, none is an option, and none is a link,
// which a program that searches would follow, and no directory has a name that is looked for in
// files.
func (b *base) plainNames(v *Value, links *Links, s *shell.Sweep) bool {
	found, _, ok := b.lies(v, links, s)
	for i, name := range found.names {
		if s.Stored && (name == ".git" || strings.HasPrefix(name, ".git/")) {
			continue
		}
		link, dir := found.modes[i]&fs.ModeSymlink != 0, found.modes[i].IsDir() && len(s.Names) > 0 && searched(name, s.Names)
		if link || dir || strings.ContainsFunc(name, broken) || len(s.Dir.Text) == 0 && name[0] == '-' {
			return false
		}
	}
	return ok
}

// broken reports a character at which xargs ends a word, or which it removes.
func broken(c rune) bool { return c <= ' ' || c == '\'' || c == '"' || c == '\\' || c == 0x7f }

// clearFiles reports it for the files that the wildcards of a word name, as a shell reads them.
func (t *commandPaths) clearFiles(v *Value, s *shell.Sweep, tests []*pathTest) bool {
	text := string(s.Dir.Text)
	at := strings.LastIndexByte(text[:max(0, strings.IndexAny(text, "*?["))], '/') + 1
	pattern := text[at:]
	if strings.Contains(pattern, "**") || strings.ContainsAny(pattern, `[{\`) {
		return false
	}
	above := *s
	above.Dir = shell.Word{Text: []byte(strings.TrimSuffix(text[:at], "/")), Literal: true}
	if at == 1 {
		return false // below the root of the file system
	}
	found, real, ok := t.base.lies(v, t.links, &above)
	named := listing{}
	for i, name := range found.names {
		if wildcardsName(pattern, name) {
			named.names, named.modes = append(named.names, name), append(named.modes, found.modes[i])
		}
	}
	above.Hidden = true // those that the wildcards name
	return ok && !slices.ContainsFunc(tests, func(test *pathTest) bool { return test.holdsFor(real, &named, &above, v.way()) })
}

// wildcardsName reports that a pattern of a shell names a path: a dot that a name begins with
// has to be written.
func wildcardsName(pattern, name string) bool {
	if strings.Count(pattern, "/") != strings.Count(name, "/") {
		return false
	}
	names := strings.Split(name, "/")
	for i, p := range strings.Split(pattern, "/") {
		if ok, err := path.Match(strings.ToLower(p), strings.ToLower(names[i])); !ok && err == nil || names[i][0] == '.' && p[0] != '.' {
			return false
		}
	}
	return true
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
