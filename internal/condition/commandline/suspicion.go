package commandline

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
	"github.com/stopgate/stopgate/internal/condition/usage"
)

// suspects reports whether a command may satisfy the condition, from every position at which a
// command may begin: after wrappers, assignments and words that may be empty.
func (t *Test) suspects(l *shell.Line, i int) bool {
	s := suspicion{test: t, command: &l.Commands[i]}
	s.look()
	return s.hit
}

// suspicion searches for a position in one command from which it satisfies a condition.
type suspicion struct {
	test    *Test
	command *shell.Command
	judged  int  // number of positions so far
	hit     bool // one was found
	excess  bool // there are more positions than the limit
}

func (s *suspicion) look() {
	words := s.command.Words
	if s.command.Prints && s.begins(printer) {
		return
	}
	afterWrapper, command := false, true // after a wrapper; the word may be a command
	var program []byte                   // that may run the words after one of its words
	for k := range words {
		w := &words[k]
		if (afterWrapper || command) && s.begins(words[k:]) {
			return
		}
		if bytes.IndexByte(w.Text, '=') >= 0 && s.values(w, words[k+1:min(len(words), k+1+maxValueWords)]) {
			return
		}
		name := programs.Base(w.Text)
		afterWrapper = afterWrapper || command && programs.Wraps(name) || program != nil && programs.RunsAfter(program, w.Text)
		if command {
			program = name
		}
		command = command && (shell.IsAssignment(w.Text) || shell.Reserved(name) || len(w.Text) == 0 || !w.Literal && !w.Glob && len(name) == 0)
	}
}

// begins evaluates one position and reports whether the search is over.
func (s *suspicion) begins(words []shell.Word) (done bool) {
	if s.judged++; s.test.literals == nil && s.judged > maxBeginnings {
		s.excess = true
		return true
	}
	s.hit = s.test.begins(words, s.command.Dirs)
	return s.hit
}

// printer is the command whose output a word contains ([shell.Command.Prints]).
var printer = []shell.Word{{Text: []byte("cat"), Literal: true}}

// values evaluates the text after each = of a word: the value alone or, if it has blanks, as a
// command line.
func (s *suspicion) values(w *shell.Word, following []shell.Word) (done bool) {
	var list []shell.Word
	for f := range bytes.FieldsFuncSeq(w.Text, func(r rune) bool { return r == ' ' }) {
		list = append(list, shell.Word{Text: bytes.Trim(f, `'"`), Literal: w.Literal})
	}
	if len(list) == 1 {
		list[0].Text = w.Text
	}
	list = append(list, following...)
	line := make([]shell.Word, 0, maxValueWords+1)
	for i, f := range list[:len(list)-len(following)] {
		for at, b := range f.Text {
			if b != '=' || at+1 == len(f.Text) {
				continue
			}
			line = append(line[:0], shell.Word{Text: f.Text[at+1:], Literal: w.Literal})
			line = append(line, list[i+1:min(len(list), i+1+maxValueWords)]...)
			if s.begins(line) {
				return true
			}
		}
	}
	return false
}

// raw evaluates the line as a text.
func (t *Test) raw(line []byte) bool {
	trimmed := bytes.TrimSpace(line)
	if t.text != nil {
		return t.text.Holds(line) || t.text.Holds(trimmed)
	}
	for _, lit := range t.literals {
		rest, ok := bytes.CutPrefix(trimmed, []byte(lit.raw))
		if lit.raw != "" && ok && (t.kind == condition.Prefix || len(rest) == 0) {
			return true
		}
	}
	return false
}

// begins evaluates words of which the first is a command. Words are compared as words; other kinds
// of conditions see them separated by single spaces.
func (t *Test) begins(words []shell.Word, dirs []string) bool {
	switch {
	case t.usages != nil:
		return t.usages.Suspects(words, dirs)
	case t.text != nil:
		var buf [256]byte
		return t.text.Holds(appendWords(buf[:0], words))
	}
	for i := range t.literals {
		if t.beginsWith(words, t.literals[i].words) {
			return true
		}
	}
	return false
}

func (t *Test) beginsWith(words []shell.Word, want []string) bool {
	if len(words) < len(want) || t.kind != condition.Prefix && len(words) != len(want) {
		return false
	}
	for i, text := range want {
		if i == 0 && !usage.SameProgram(&words[0], text) || i > 0 && string(words[i].Text) != text {
			return false
		}
	}
	return true
}

const (
	// maxBeginnings is the maximum number of positions in one command at which conditions that
	// compare texts are evaluated. A command with more positions is unknown to them.
	maxBeginnings = 256
	// maxValueWords is the number of words after NAME=VALUE that count as words of the command in
	// VALUE.
	maxValueWords = 64
)

// Unknown returns the unknown facts about the commands that a restrictive condition evaluates.
func (t *Test) Unknown(value *condition.Value) (unknown condition.Unknown) {
	v := Of(value)
	unsure := *t
	unsure.usages = t.unsure
	for _, l := range []*shell.Line{v.Line(), v.OtherLine()} {
		if l == nil {
			continue
		}
		if l.Excess {
			return unknown | condition.UnknownCommand
		}
		for i := range l.Commands {
			if unknown&condition.UnknownCommand == 0 && t.manyBeginnings(l, i) {
				unknown |= condition.UnknownCommand
			}
			if unsure.usages != nil && !t.suspects(l, i) && unsure.suspects(l, i) {
				unknown |= condition.UnknownReading
			}
		}
	}
	return unknown
}

// manyBeginnings reports whether a command may begin at more positions than the limit, and the
// condition holds at none of those below it.
func (t *Test) manyBeginnings(l *shell.Line, i int) bool {
	most := 1 // positions: the words and the text after each =
	for _, w := range l.Commands[i].Words {
		most += 1 + bytes.Count(w.Text, []byte("="))
	}
	if t.literals != nil || most <= maxBeginnings {
		return false
	}
	s := suspicion{test: t, command: &l.Commands[i]}
	s.look()
	return s.excess
}

func (t *PathTest) Unknown(value *condition.Value) (unknown condition.Unknown) {
	v := Of(value)
	if !t.Restrictive {
		return condition.Known
	}
	for _, l := range []*shell.Line{v.Line(), v.OtherLine()} {
		if l == nil {
			continue
		}
		if l.Excess {
			unknown |= condition.UnknownCommand
		}
		for i := range l.Commands {
			c := &l.Commands[i]
			effect.Paths(c, func(path *shell.Word, use effect.Use, _ bool) bool {
				if use&t.use == 0 || len(path.Text) == 0 {
					return true
				}
				if c.Lost && path.Text[0] != '/' && path.Text[0] != '~' {
					unknown |= condition.UnknownDirectory
				}
				test := t.testOf(c, path)
				allowed(test, c, path.Text, func(text []byte) bool {
					if path, ok := test.(condition.UnknownTest); ok {
						unknown |= path.Unknown(v.Word(text))
					}
					return true
				})
				return true
			})
		}
	}
	return unknown
}

func (t *PathTest) MayBeUnknown() bool { return t.Restrictive }
func (t *Test) MayBeUnknown() bool     { return t.Restrictive }

// ExceedsBy is false: a line that is too long decides every condition, see [condition.Budget].
func (t *PathTest) ExceedsBy(*condition.Value) bool { return false }
func (t *Test) ExceedsBy(*condition.Value) bool     { return false }

func (t *PathTest) ReadsAs(other condition.TextTest) bool {
	o, ok := other.(*PathTest)
	if !ok || o.use != t.use {
		return false
	}
	a, simple := t.path.(*pathname.Test)
	b, too := o.path.(*pathname.Test)
	return simple && too && a.Env == b.Env
}

func (t *Test) ReadsAs(other condition.TextTest) bool {
	o, ok := other.(*Test)
	return ok && o.literals != nil && t.literals != nil
}
