package effect

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Solid reports whether no command of the line can have made a link before a later one climbs with
// "..": then a path that does not exist before the line runs is no link. After "mkdir -p build &&
// cd build" the path ".." is the parent of build.
func Solid(l *shell.Line) bool {
	last := -1
	for i := range l.Commands {
		c := &l.Commands[i]
		for k := range c.Words {
			if bytes.Contains(c.Words[k].Text, []byte("..")) {
				last = i
			}
		}
		for k := range c.Redirects {
			if bytes.Contains(c.Redirects[k].Target.Text, []byte("..")) {
				last = i
			}
		}
	}
	if len(l.Commands) == 1 && last == 0 && !l.Commands[0].Repeats {
		return true
	}
	if !l.Plain {
		return false
	}
	joined := true
	for i := range l.Commands {
		joined = joined && (l.Commands[i].Joined || l.Commands[i].Parent >= 0)
	}
	for i := range l.Commands {
		c := &l.Commands[i]
		switch {
		case i == last && !c.Repeats:
			continue // a link that it makes is too late
		case last >= 0 && joined && i >= l.Commands[last].End && c.Joined && !c.Piped:
			return true // no later command runs before it, or concurrently
		case len(c.Words) == 0 || c.Open || !programs.Linkless.Has(string(c.Words[0].Text)):
			return false
		}
	}
	return true
}
