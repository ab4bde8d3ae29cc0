package pathform

import (
	"path"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
)

// ReadsLike reports whether two contexts of one polarity read every value in the same way.
func (p *Context) ReadsLike(o *Context) bool { return p.Env == o.Env && p.Expands == o.Expands }

// Missing returns the unknown facts of a value in the context.
func (p *Context) Missing(v *Value) condition.Unknown {
	if !v.valid {
		return condition.UnknownReading
	}
	if _, certain := v.Certain(p); certain || !p.Restrictive {
		return condition.Known
	}
	_, unknown := v.Readings(p)
	return unknown &^ condition.TooLong
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
