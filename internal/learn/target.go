package learn

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// covered are units with a condition that all of them meet; the zero term stands for their own values.
type covered struct {
	units []unit
	term  term
}

// plainPath are paths that can be generalised: below the root, without a component that begins with a dot,
// and without a character that a shell, a glob or a URL reads.
var plainPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_+@. -]*(?:/[A-Za-z0-9_][A-Za-z0-9_+@. -]*)*$`)
})

// directories cuts units by the directories of a path: the topmost ones below the root of which the
// approvals are spread over three entries, else those of their files, else the paths themselves.
func (f *family) directories(units []unit, arg string) (groups []covered) {
	var odd, plain []unit
	for i := range units {
		if f.width > exact && units[i].leaf(arg).plainPaths() {
			plain = append(plain, units[i])
		} else {
			odd = append(odd, units[i])
		}
	}
	if len(odd) > 0 {
		groups = append(groups, covered{units: odd})
	}
	if len(plain) > 0 {
		groups = append(groups, f.below("", plain, arg)...)
	}
	return groups
}

// plainPaths reports whether a directory can stand for all paths of a leaf.
func (l *leaf) plainPaths() bool {
	return !slices.ContainsFunc(l.values, func(v value) bool {
		return v.is != jsonstream.String || !plainPath().MatchString(v.text) || path.Clean(v.text) != v.text
	})
}

// support returns the approvals that a rule for a directory rests on: units, and their kin with files there. It
// counts the entries of the directory that they name.
func (f *family) support(dir string, units []unit, arg string) (by []unit, entries int) {
	names := map[string]bool{}
	for _, u := range f.fileKin(units) {
		l := u.leaf(arg)
		if l == nil {
			l = &u.files()[0]
		}
		if !l.plainPaths() || slices.ContainsFunc(l.values, func(v value) bool { return !there(v.text, dir, f.width) }) {
			continue
		}
		by = append(by, u)
		for _, v := range l.values {
			names[entryOf(v.text, dir)] = true
		}
	}
	return by, len(names)
}

// there reports whether a rule of a width for a directory would permit a path.
func there(text, dir string, w width) bool {
	return dir == "" || w == wide && (text == dir || strings.HasPrefix(text, dir+"/")) || w < wide && path.Dir(text) == dir
}

// below cuts units whose paths are below a directory, "" for the root, or the directory itself.
func (f *family) below(dir string, units []unit, arg string) (groups []covered) {
	files := true
	for i := range units {
		for _, v := range units[i].leaf(arg).values {
			files = files && path.Dir(v.text) == dir
		}
	}
	by, entries := f.support(dir, units, arg)
	switch {
	case dir == "" || !f.enough(by, entries):
	case f.width == wide:
		t := term{arg: arg, condition: "prefix = " + tomltree.Quote(dir), sentence: arg + " below the directory " + dir}
		return []covered{{units, t.with(units, by)}}
	case files:
		t := term{arg: arg, condition: "glob = " + tomltree.Quote(dir+"/*"), sentence: arg + " in the directory " + dir}
		return []covered{{units, t.with(units, by)}}
	}
	var rest []unit
	for _, g := range group(units, func(u *unit) string { return commonEntry(u.leaf(arg), dir) }) {
		if name := commonEntry(g[0].leaf(arg), dir); name != "" && slices.ContainsFunc(g, func(u unit) bool {
			return slices.ContainsFunc(u.leaf(arg).values, func(v value) bool { return v.text != path.Join(dir, name) })
		}) {
			groups = append(groups, f.below(path.Join(dir, name), g, arg)...)
		} else {
			rest = append(rest, g...)
		}
	}
	if len(rest) > 0 {
		groups = append(groups, covered{units: rest})
	}
	return groups
}

// entryOf is the entry of a directory that a path is at or below, "" for the directory itself.
func entryOf(text, dir string) string {
	if text == dir {
		return ""
	}
	if dir != "" {
		text = strings.TrimPrefix(text, dir+"/")
	}
	first, _, _ := strings.Cut(text, "/")
	return first
}

// commonEntry is the entry that all paths of a leaf are at or below, "" if there is none.
func commonEntry(l *leaf, dir string) (entry string) {
	for i, v := range l.values {
		first := entryOf(v.text, dir)
		if i > 0 && first != entry {
			return ""
		}
		entry = first
	}
	return entry
}

// plainURL are URLs that can be generalised by their host: a name of plain letters, without a user, a port, a
// label in the form of other scripts, or a number in place of a name.
var plainURL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(https?)://((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,})(?:[/?#][\x21-\x7e]*)?$`)
})

// hosts cuts units by the hosts of a URL. Only what looks may go to other pages of a host.
func (f *family) hosts(units []unit, arg string) (groups []covered) {
	host := func(u *unit) string {
		l := u.leaf(arg)
		m := plainURL().FindStringSubmatch(l.values[0].text)
		if f.width <= exact || f.effect != looks || len(l.values) != 1 || m == nil || strings.Contains("."+m[2], ".xn--") {
			return ""
		}
		return m[1] + " " + m[2]
	}
	var rest []unit
	for _, g := range group(units, host) {
		scheme, name, ok := strings.Cut(host(&g[0]), " ")
		if !ok || scheme != "https" || !supportOf(g).wide(len(valuesOf(g, arg))) {
			rest = append(rest, g...)
			continue
		}
		groups = append(groups, covered{g, term{arg: arg, condition: "host = " + tomltree.Quote(name), sentence: fmt.Sprintf("%s on the host %s", arg, name)}})
	}
	if len(rest) > 0 {
		groups = append(groups, covered{units: rest})
	}
	return groups
}
