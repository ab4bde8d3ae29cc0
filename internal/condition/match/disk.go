package match

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/shell"
)

// clear reports whether the test matches none of the swept files as they are on the disk now. It
// returns false if the disk is not visible, or not completely.
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
	// A repository begins in the directory with .git; git looks no higher.
	return ok && (!s.Repository || slices.Contains(found.names, ".git")) &&
		!slices.ContainsFunc(tests, func(test *pathTest) bool { return test.holdsFor(real, &found, s, v.way()) })
}

// lies lists the files below a directory that a command reads. ok is set if the list is complete
// and no link is on the path to the directory.
func (b *base) lies(v *Value, links *condition.Links, s *shell.Sweep) (found listing, real string, ok bool) {
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
			return found, "", false // git reads the complete repository
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
	return found, real, found.complete
}

// plainNames reports whether xargs passes the names of files below a directory to a program
// unchanged: none has a character that xargs treats specially, none is an option, none is a link,
// which a search would follow, and no directory matches a name that is searched in files.
func (b *base) plainNames(v *Value, links *condition.Links, s *shell.Sweep) bool {
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

// broken reports whether xargs ends a word at a character, or removes it.
func broken(c rune) bool { return c <= ' ' || c == '\'' || c == '"' || c == '\\' || c == 0x7f }

// clearFiles is clear for the files that the wildcards of a word match, as a shell expands them.
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
	above.Hidden = true // the matches of the wildcards
	return ok && !slices.ContainsFunc(tests, func(test *pathTest) bool { return test.holdsFor(real, &named, &above, v.way()) })
}

// wildcardsName reports whether a shell pattern matches a path: a dot at the start of a name must
// be literal.
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

// holdsFor reports whether the test matches a file of a list, or its target.
func (t *pathTest) holdsFor(dir string, found *listing, s *shell.Sweep, way *linkCache) bool {
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

// searched reports whether a file matches one of some wildcards; none means all.
func searched(name string, wildcards []string) bool {
	for _, w := range wildcards {
		if ok, err := path.Match(strings.ToLower(w), strings.ToLower(path.Base(name))); ok || err != nil {
			return true
		}
	}
	return len(wildcards) == 0
}
