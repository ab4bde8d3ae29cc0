package shell

import "bytes"

// linkless are programs that make no links: a directory that is not there before them is
// none behind them, or a new one.
var linkless = words{
	"cd", "chdir", "pushd", "popd", "pwd", "mkdir", "rmdir", "rm", "touch", "echo", "printf", "true", "false", ":", "test", "[", "set", "export", "umask",
	"ls", "cat", "head", "tail", "wc", "grep", "stat", "file", "sleep", "date", "exit", "tee", "sort", "uniq", "cut", "tr", "less",
}

// Solid reports that no command of the line can have made a link by the time that a later
// one climbs with "..": what is not there before the line runs is then no link. Behind
// "mkdir -p build && cd build" the path ".." is where build stands.
func (l *Line) Solid() bool {
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
	if len(l.Commands) == 1 && last == 0 {
		return true
	}
	if !l.Plain {
		return false
	}
	joined := true
	for i := range l.Commands {
		joined = joined && (l.Commands[i].joined || l.Commands[i].Parent >= 0)
	}
	for i := range l.Commands {
		c := &l.Commands[i]
		switch {
		case i == last:
			continue // what it makes is there too late
		case last >= 0 && joined && i >= l.Commands[last].End && c.joined && !c.Piped:
			return true // nothing from here on runs before it, or beside it
		case len(c.Words) == 0 || c.Open || !linkless.has(string(c.Words[0].Text)):
			return false
		}
	}
	return true
}
