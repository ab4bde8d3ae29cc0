package match

import (
	"bytes"

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
	v := new(Value)
	v.Reset([]byte(line))
	c := Command{Analysable: v.Analysable(false)}
	for _, simple := range v.line().Commands {
		var words []string
		for _, w := range simple.Words {
			words = append(words, string(w.Text))
		}
		c.Simple = append(c.Simple, words)
	}
	return c
}

// Analysable reports whether the string is a command line of which every command is known.
// redirects is set if other conditions evaluate the files that it reads and writes.
func (v *Value) Analysable(redirects bool) bool {
	l := v.line()
	if !l.Plain {
		return false
	}
	for i := range l.Commands {
		if !redirects && redirected(&l.Commands[i], true, true) {
			return false
		}
	}
	return true
}

// NamesPrograms reports whether the string can be read as a command line that names the programs it
// runs. Most texts that are no command lines cannot. After assignments one program is enough, since
// their values are read as commands too.
func (v *Value) NamesPrograms() bool {
	l := v.line()
	if !l.Complete || l.Excess {
		return false
	}
	first, _, _ := bytes.Cut(bytes.TrimSpace(v.text), []byte(" "))
	assigned, named := shell.IsAssignment(first), false
	for i := range l.Commands {
		words := l.Commands[i].Words
		switch {
		case len(words) > 0 && len(words[0].Text) > 0 && words[0].Literal && !words[0].Glob:
			named = true
		case !assigned:
			return false
		}
	}
	return named
}

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
func judgeEach(t commandJudge, v *Value, restrictive bool) bool {
	l := v.line()
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

// commandJudge evaluates one simple command of a line.
type commandJudge interface {
	command(v *Value, i int) bool
}

// Commands returns the number of simple commands if the string is a command line: those it lists
// and those that they run. A line without any counts as one.
func (v *Value) Commands() int { return max(1, len(v.line().Commands)) }

// JudgeCommand evaluates the condition for one simple command of the string, by its index (K29).
// Conditions that do not work on commands evaluate the complete string.
func (m *Matcher) JudgeCommand(v *Value, i int) bool {
	test, ok := m.text.(commandJudge)
	if !ok || !v.valid || len(v.text) > Budget {
		return m.Judge(v)
	}
	return test.command(v, i)
}

// NamesCommand reports whether the words of one simple command satisfy a condition: without the
// commands that it runs, and without the line as written.
func (m *Matcher) NamesCommand(v *Value, i int) bool {
	l := v.line()
	if i >= len(l.Commands) {
		return false
	}
	switch t := m.text.(type) {
	case *commandTest:
		if t.restrictive {
			return t.suspects(l, i)
		}
		return l.Plain && t.grants(v, i)
	case *commandPaths:
		if t.restrictive {
			return t.suspects(v, &l.Commands[i])
		}
	}
	return false
}

// AppendCommand appends the words of one simple command of the string, separated by single blanks.
func (v *Value) AppendCommand(dst []byte, i int) []byte {
	if l := v.line(); i < len(l.Commands) {
		return appendWords(dst, l.Commands[i].Words)
	}
	return dst
}

// JudgesCommands reports whether the condition is evaluated command by command.
func (m *Matcher) JudgesCommands() bool { _, ok := m.text.(commandJudge); return ok }
