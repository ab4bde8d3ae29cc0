package match

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// Command is what is known about a shell command line.
type Command struct {
	// Analysable: the line is a list of simple commands with literal words, without
	// redirections to files. If not, it satisfies no permissive condition, and a tool
	// with any condition on the parameter gets the floor command_not_analysable.
	Analysable bool
	// Simple holds the words of each simple command, in text order; commands that
	// others run follow them.
	Simple [][]string
}

// Analyse reads a command line.
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

// Analysable reports whether the string is a command line of which everything that it
// runs is known. redirects says that somebody judges what it reads and writes.
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

// NamesPrograms reports whether the string can be read as a command line that says which
// programs it runs. Most texts that are no command lines cannot. Behind assignments one program
// is enough: their values are read as commands too.
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

// redirected reports a redirection of one of these directions that opens a file.
func redirected(c *shell.Command, reads, writes bool) bool {
	for i := range c.Redirects {
		if r := &c.Redirects[i]; !r.Harmless() && (r.Write && writes || !r.Write && reads) {
			return true
		}
	}
	return false
}

// judgeEach judges the commands of a line one by one. Suspicion looks at what a command
// runs together with it.
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

// commandJudge judges one simple command of a line by itself.
type commandJudge interface {
	command(v *Value, i int) bool
}

// Commands is how many simple commands the string has if it is a command line: those
// it lists and those that they run. A line without any counts as one.
func (v *Value) Commands() int { return max(1, len(v.line().Commands)) }

// JudgeCommand judges one simple command of the string, by its index (K29).
// Conditions that know no commands judge the string.
func (m *Matcher) JudgeCommand(v *Value, i int) bool {
	test, ok := m.text.(commandJudge)
	if !ok || !v.valid || len(v.text) > Budget {
		return m.Judge(v)
	}
	return test.command(v, i)
}

// NamesCommand reports whether one simple command satisfies a condition by its own words:
// not by those of commands that it runs, nor by the line as it is written.
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

// AppendCommand appends the words of one simple command of the string, with one blank
// between them.
func (v *Value) AppendCommand(dst []byte, i int) []byte {
	if l := v.line(); i < len(l.Commands) {
		return appendWords(dst, l.Commands[i].Words)
	}
	return dst
}

// JudgesCommands reports whether the condition is judged command by command.
func (m *Matcher) JudgesCommands() bool { _, ok := m.text.(commandJudge); return ok }
