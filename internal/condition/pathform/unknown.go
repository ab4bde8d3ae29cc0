package pathform

import (
	"path"
	"strings"
)

// Unknown is the set of reasons why the file that a value names is not known.
type Unknown uint8

// The zero Unknown means that every reading of the value is known.
const (
	UnknownWay       Unknown = 1 << iota // ".." after a directory that does not exist, or links that cannot be followed
	UnknownDirectory                     // the directory in which relative paths begin is unknown
	UnknownReading                       // there are more readings than the limit
	UnknownCommand                       // a command line has more commands than the limit
	TooLong                              // readings are missing because of its length: a restrictive condition holds
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

// ReadsLike reports whether two contexts of one polarity read every value in the same way.
func (p *Context) ReadsLike(o *Context) bool { return p.Env == o.Env && p.Expands == o.Expands }

// Missing returns the unknown facts of a value in the context.
func (p *Context) Missing(v *Value) Unknown {
	if !v.valid {
		return UnknownReading
	}
	if _, certain := v.Certain(p); certain || !p.Restrictive {
		return Known
	}
	_, unknown := v.Readings(p)
	return unknown &^ TooLong
}

// climb follows a path in which ".." follows directories that do not exist. If such a directory is
// certainly no link when the path is used, ".." leads back to its parent.
func (l *lister) climb(name string) (real string, ok bool) {
	if l.way == nil || !l.way.Solid {
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
		if _, known := l.way.Follow(l.env.Links, here+"/.."); known {
			done = append(done, c)
			continue
		}
		at, there := l.way.Follow(l.env.Links, here)
		above, known := l.way.Follow(l.env.Links, path.Dir(here))
		if !there || !known || at != path.Join(above, path.Base(here)) {
			return "", false
		}
		done = done[:len(done)-1]
	}
	return l.way.Follow(l.env.Links, "/"+strings.Join(done, "/"))
}
