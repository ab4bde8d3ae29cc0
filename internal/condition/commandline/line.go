package commandline

import (
	"github.com/stopgate/stopgate/internal/condition/shell"
)

// Command describes a shell command line.
type Command struct {
	// Analysable: the line is a list of simple commands with literal words, without redirections to
	// files. If it is not, it satisfies no permissive condition, and a tool with any condition on
	// the parameter gets the floor command_not_analysable.
	Analysable bool
	// Simple holds the words of each simple command, in text order; commands that they run follow
	// them.
	Simple [][]string
}

// Analyse parses a command line.
func Analyse(line string) Command {
	v := read([]byte(line))
	c := Command{Analysable: v.Analysable(false)}
	for _, simple := range v.Line().Commands {
		var words []string
		for _, w := range simple.Words {
			words = append(words, string(w.Text))
		}
		c.Simple = append(c.Simple, words)
	}
	return c
}

// IsPlain reports whether every command of a line is known, and none opens a file.
func IsPlain(line []byte) bool { return read(line).Analysable(false) }

// redirected reports whether a command has a redirection in one of these directions that opens a
// file.
func redirected(c *shell.Command, reads, writes bool) bool {
	for i := range c.Redirects {
		if r := &c.Redirects[i]; !r.Harmless() && (r.Write && writes || !r.Write && reads) {
			return true
		}
	}
	return false
}

// judgeEach evaluates the commands of a line one by one. A restrictive condition also considers the
// commands that a command runs.
func judgeEach(t commandTest, v *Value, restrictive bool) bool {
	l := v.Line()
	for i := 0; i < v.Commands(); i++ {
		if t.command(v, i) == restrictive {
			return restrictive
		}
		if restrictive && i < len(l.Commands) {
			i = max(i, l.Commands[i].End-1)
		}
	}
	return !restrictive
}

// commandTest evaluates one simple command of a line.
type commandTest interface{ command(v *Value, i int) bool }
