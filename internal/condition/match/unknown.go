package match

import (
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// Unknown is the set of reasons why the file that a value names is not known.
type Unknown uint8

// The zero Unknown means that every reading of the value is known.
const (
	UnknownWay       Unknown = 1 << iota // ".." after a directory that does not exist, or links that cannot be followed
	UnknownDirectory                     // the directory in which relative paths begin is unknown
	UnknownReading                       // there are more readings than the limit
	UnknownCommand                       // a command line has more commands than the limit
	tooLong                              // readings are missing because of its length: a restrictive condition holds
	Known            Unknown = 0
)

// Public returns the reasons and the remedy, without the value.
func (u Unknown) Public() string {
	switch {
	case u&UnknownCommand != 0:
		return "The line has more commands than are looked at: split it into several calls."
	case u&UnknownDirectory != 0:
		return "It is not known in which directory this runs: write absolute paths."
	case u&UnknownWay != 0:
		return "It is not known where a path leads, because a directory before '..' does not exist yet or a link cannot be followed: make the directory in a call of its own, or write the path without '..'."
	}
	return "A path can be read in too many ways to know which file it names: write it out, without wildcards, escapes and braces."
}

// MayBeUnknown reports whether Unknown can be non-zero for any value.
func (m *Matcher) MayBeUnknown() bool {
	switch t := m.text.(type) {
	case *pathTest:
		return t.restrictive
	case eitherPath:
		return true
	case *pathPattern:
		return t.restrictive
	case *outsideTest:
		return true
	case *commandPaths:
		return t.restrictive
	case *commandTest:
		return t.restrictive
	}
	return false
}

// Unknown returns the unknown facts of the paths that a restrictive condition evaluates. The
// condition is evaluated for the known readings; the rest requires an approval.
func (m *Matcher) Unknown(v *Value) Unknown {
	if !m.MayBeUnknown() {
		return Known
	}
	if !v.valid {
		return UnknownReading
	}
	if m.exceeds(v.text) {
		return Known // the condition holds; see [Matcher.Exceeds]
	}
	switch t := m.text.(type) {
	case *pathTest:
		return t.pathContext.unknown(v)
	case eitherPath:
		return t[0].pathContext.unknown(v)
	case *outsideTest:
		return t.pathContext.unknown(v)
	case *pathPattern:
		if _, certain := v.certain(&t.pathContext); certain || !t.restrictive {
			return Known
		}
		list, unknown := v.readings(&t.pathContext)
		if slices.ContainsFunc(list, func(r Reading) bool { return r.Glob }) { // patterns cannot be evaluated on it
			unknown |= UnknownReading
		}
		return unknown &^ tooLong
	case *commandPaths:
		return t.unknown(v)
	case *commandTest:
		return t.unknown(v)
	}
	return Known
}

// ReadsLike reports whether two matchers have the same unknown facts for every value.
func (m *Matcher) ReadsLike(other *Matcher) bool {
	switch t := m.text.(type) {
	case *pathTest:
		o, ok := other.text.(*pathTest)
		return ok && o.readsLike(&t.pathContext)
	case eitherPath:
		o, ok := other.text.(eitherPath)
		return ok && o[0].readsLike(&t[0].pathContext)
	case *pathPattern:
		o, ok := other.text.(*pathPattern)
		return ok && o.readsLike(&t.pathContext)
	case *commandPaths:
		o, ok := other.text.(*commandPaths)
		if !ok || o.use != t.use {
			return false
		}
		a, simple := t.path.(*pathTest)
		b, too := o.path.(*pathTest)
		return simple && too && a.env == b.env
	case *commandTest:
		o, ok := other.text.(*commandTest)
		return ok && o.literals != nil && t.literals != nil
	}
	return false
}

// readsLike reports whether two contexts of one polarity read every value in the same way.
func (p *pathContext) readsLike(o *pathContext) bool { return p.env == o.env && p.expands == o.expands }

func (p *pathContext) unknown(v *Value) Unknown {
	if _, certain := v.certain(p); certain || !p.restrictive {
		return Known
	}
	_, unknown := v.readings(p)
	return unknown &^ tooLong
}

func (t *commandPaths) unknown(v *Value) (unknown Unknown) {
	if !t.restrictive {
		return Known
	}
	for _, l := range []*shell.Line{v.line(), v.otherLine()} {
		if l == nil {
			continue
		}
		if l.Excess {
			unknown |= UnknownCommand
		}
		for i := range l.Commands {
			c := &l.Commands[i]
			c.Paths(func(path *shell.Word, use shell.Use, _ bool) bool {
				if use&t.use == 0 || len(path.Text) == 0 {
					return true
				}
				if c.Lost && path.Text[0] != '/' && path.Text[0] != '~' {
					unknown |= UnknownDirectory
				}
				test := t.testOf(c, path)
				allowed(test, c, path.Text, func(text []byte) bool {
					unknown |= (&Matcher{text: test}).Unknown(v.word(text))
					return true
				})
				return true
			})
		}
	}
	return unknown
}

// climb follows a path in which ".." follows directories that do not exist. If such a directory is
// certainly no link when the path is used, ".." leads back to its parent.
func (l *lister) climb(name string) (real string, ok bool) {
	if l.way == nil || !l.way.solid {
		return "", false
	}
	var done []string
	for _, c := range strings.Split(name, "/") {
		switch {
		case c == "" || c == ".":
			continue
		case c != ".." || len(done) == 0:
			done = append(done, c)
			continue
		}
		here := "/" + strings.Join(done, "/")
		if _, known := l.way.follow(l.env.Links, here+"/.."); known {
			done = append(done, c)
			continue
		}
		at, there := l.way.follow(l.env.Links, here)
		above, known := l.way.follow(l.env.Links, path.Dir(here))
		if !there || !known || at != path.Join(above, path.Base(here)) {
			return "", false
		}
		done = done[:len(done)-1]
	}
	return l.way.follow(l.env.Links, "/"+strings.Join(done, "/"))
}
