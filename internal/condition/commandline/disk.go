package commandline

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
)

// clear reports whether the test matches none of the swept files as they are on the disk now. It
// returns false if the disk is not visible, or not completely.
func (t *PathTest) clear(v *Value, s *effect.Sweep) bool {
	var tests []*pathname.Test
	switch test := t.path.(type) {
	case *pathname.Test:
		tests = []*pathname.Test{test}
	case pathname.Either:
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
	return ok && (!s.Repository || slices.Contains(found.Names, ".git")) &&
		!slices.ContainsFunc(tests, func(test *pathname.Test) bool {
			return test.HoldsAny(real, &found, s.Hidden, s.Stored, s.Names, &v.links)
		})
}

// lies lists the files below a directory that a command reads. ok is set if the list is complete
// and no link is on the path to the directory.
func (b *base) lies(v *Value, links *condition.Links, s *effect.Sweep) (found pathform.Listing, real string, ok bool) {
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
	way := &v.links
	real, ok = way.Follow(links, dir)
	if !ok || real != path.Clean(dir) {
		return found, "", false
	}
	found = way.List(links, real)
	return found, real, found.Complete
}

// plainNames reports whether xargs passes the names of files below a directory to a program
// unchanged: none has a character that xargs treats specially, none is an option, none is a link,
// which a search would follow, and no directory matches a name that is searched in files.
func (b *base) plainNames(v *Value, links *condition.Links, s *effect.Sweep) bool {
	found, _, ok := b.lies(v, links, s)
	for i, name := range found.Names {
		if s.Stored && (name == ".git" || strings.HasPrefix(name, ".git/")) {
			continue
		}
		link, dir := found.Modes[i]&fs.ModeSymlink != 0, found.Modes[i].IsDir() && len(s.Names) > 0 && pathname.Searched(name, s.Names)
		if link || dir || strings.ContainsFunc(name, broken) || len(s.Dir.Text) == 0 && name[0] == '-' {
			return false
		}
	}
	return ok
}

// broken reports whether xargs ends a word at a character, or removes it.
func broken(c rune) bool { return c <= ' ' || c == '\'' || c == '"' || c == '\\' || c == 0x7f }

// clearFiles is clear for the files that the wildcards of a word match, as a shell expands them.
func (t *PathTest) clearFiles(v *Value, s *effect.Sweep, tests []*pathname.Test) bool {
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
	named := pathform.Listing{}
	for i, name := range found.Names {
		if wildcardsName(pattern, name) {
			named.Names, named.Modes = append(named.Names, name), append(named.Modes, found.Modes[i])
		}
	}
	above.Hidden = true // the matches of the wildcards
	return ok && !slices.ContainsFunc(tests, func(test *pathname.Test) bool {
		return test.HoldsAny(real, &named, above.Hidden, above.Stored, above.Names, &v.links)
	})
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
