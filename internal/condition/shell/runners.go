package shell

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// runner reads the words of a runner that can only be command lines: those with blanks.
func (l *Line) runner(i int, after string, depth int) {
	c := l.Commands[i]
	running := after == programs.Anywhere
	for at := 1; at < len(c.Words); at++ {
		text := c.Words[at].Text
		if running && bytes.ContainsAny(text, " \t\n;&|<>") {
			l.Commands[i].Runs = true
			l.suspect(i, at, text)
		}
		running = running || programs.Listed(after, string(text))
	}
}

// suspect reads a text at one word of a command as a command line that may run. The line stays
// plain: a permissive rule has to check [Command.Runs].
func (l *Line) suspect(i, at int, text []byte) {
	plain, before := l.Commands[i].Plain, len(l.Commands)
	l.cut(text, parent{i, at, at + 1})
	for k := before; k < len(l.Commands); k++ {
		l.Commands[k].End, l.Commands[k].Plain = k+1, plain
	}
}
