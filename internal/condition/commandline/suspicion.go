package commandline

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
	"github.com/stopgate/stopgate/internal/condition/usage"
)

// suspects reports whether a command may satisfy the condition, from any position at which a
// program may be named.
func (t *Test) suspects(v *Value, l *shell.Line, i int) bool {
	list, more := v.beginnings(l, i)
	for k := range list {
		if t.begins(v, &list[k].program, list[k].operands, l.Commands[i].Dirs) {
			return true
		}
	}
	return more && t.literals != nil && t.suspectsAnywhere(v, &l.Commands[i])
}

// suspectsAnywhere is suspects for a condition that is evaluated at more positions than the limit.
func (t *Test) suspectsAnywhere(v *Value, c *shell.Command) (hit bool) {
	eachBeginning(c, func(first *shell.Word, operands []shell.Word) bool {
		program := usage.ReadProgram(first)
		hit = t.begins(v, &program, operands, c.Dirs)
		return !hit
	})
	return hit
}

// eachBeginning calls yield for every position at which a program may be named, with the words that
// follow it, until yield returns false: the first word, and words after wrappers, assignments and
// words that may be empty.
func eachBeginning(c *shell.Command, yield func(first *shell.Word, operands []shell.Word) bool) {
	if c.Prints && !yield(&printer, nil) {
		return
	}
	afterWrapper, command := false, true // after a wrapper; the word may be a command
	var program []byte                   // that may run the words after one of its words
	for k := range c.Words {
		w, following := &c.Words[k], c.Words[k+1:]
		if (afterWrapper || command) && !yield(w, following) {
			return
		}
		if bytes.IndexByte(w.Text, '=') >= 0 && !eachValue(w, following[:min(len(following), maxValueWords)], yield) {
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

// printer is the command whose output a word contains ([shell.Command.Prints]).
var printer = shell.Word{Text: []byte("cat"), Literal: true}

// eachValue calls yield for the text after each = of a word: the value alone or, if it has blanks, as
// a command line. It reports whether yield always returned true.
func eachValue(w *shell.Word, following []shell.Word, yield func(first *shell.Word, operands []shell.Word) bool) bool {
	var fields []shell.Word
	if bytes.IndexByte(w.Text, ' ') >= 0 {
		for f := range bytes.FieldsFuncSeq(w.Text, func(r rune) bool { return r == ' ' }) {
			fields = append(fields, shell.Word{Text: bytes.Trim(f, `'"`), Literal: w.Literal})
		}
	}
	if len(fields) < 2 {
		return eachAssigned(&shell.Word{Text: w.Text, Literal: w.Literal}, following, yield)
	}
	words := append(fields, following...)
	for i := range fields {
		if !eachAssigned(&words[i], words[i+1:min(len(words), i+1+maxValueWords)], yield) {
			return false
		}
	}
	return true
}

// eachAssigned is eachValue for a word without blanks, or the only one.
func eachAssigned(w *shell.Word, following []shell.Word, yield func(first *shell.Word, operands []shell.Word) bool) bool {
	for at, b := range w.Text {
		if b == '=' && at+1 < len(w.Text) && !yield(&shell.Word{Text: w.Text[at+1:], Literal: w.Literal}, following) {
			return false
		}
	}
	return true
}

// raw evaluates the line as a text.
func (t *Test) raw(line []byte) bool {
	trimmed := bytes.TrimSpace(line)
	if t.text != nil {
		return t.text.Holds(line) || len(trimmed) < len(line) && t.text.Holds(trimmed)
	}
	for _, lit := range t.literals {
		rest, ok := bytes.CutPrefix(trimmed, []byte(lit.raw))
		if lit.raw != "" && ok && (t.kind == condition.Prefix || len(rest) == 0) {
			return true
		}
	}
	return false
}

// begins evaluates a program and the words that follow it. Words are compared as words; other kinds
// of conditions see them separated by single spaces.
func (t *Test) begins(v *Value, program *usage.Program, operands []shell.Word, dirs []string) bool {
	switch {
	case t.usages != nil:
		return t.usages.suspects(program, operands, dirs, t.unsure)
	case t.text != nil:
		v.joined = append(v.joined[:0], program.Word.Text...)
		if len(operands) > 0 {
			v.joined = appendWords(append(v.joined, ' '), operands)
		}
		return t.text.Holds(v.joined)
	}
	for i := range t.literals {
		if t.beginsWith(program, operands, t.literals[i].words) {
			return true
		}
	}
	return false
}

func (t *Test) beginsWith(program *usage.Program, operands []shell.Word, want []string) bool {
	if len(operands) < len(want)-1 || t.kind != condition.Prefix && len(operands) != len(want)-1 || !program.Names(want[0]) {
		return false
	}
	for i, text := range want[1:] {
		if string(operands[i].Text) != text {
			return false
		}
	}
	return true
}

const (
	// maxBeginnings is the maximum number of positions in one command at which conditions that
	// compare texts are evaluated. A command with more positions is unknown to them.
	maxBeginnings = 256
	// maxBegun is the maximum number of bytes of the words at all these positions of a line, beyond the
	// first of each command. A command with more is unknown to the conditions, too.
	maxBegun = 1 << 20
	// maxValueWords is the number of words after NAME=VALUE that count as words of the command in
	// VALUE.
	maxValueWords = 64
)

// Unknown returns the unknown facts about the commands that a restrictive condition evaluates.
func (t *Test) Unknown(value *condition.Value) (unknown condition.Unknown) {
	v := Of(value)
	for _, l := range [...]*shell.Line{v.Line(), v.OtherLine()} {
		if l == nil {
			continue
		}
		if l.Excess {
			return unknown | condition.UnknownCommand
		}
		for i := range l.Commands {
			if unknown&condition.UnknownCommand == 0 && t.manyBeginnings(v, l, i) {
				unknown |= condition.UnknownCommand
			}
			if t.usages != nil && t.usages.vital && !t.suspects(v, l, i) && t.doubts(v, l, i) {
				unknown |= condition.UnknownReading
			}
		}
	}
	return unknown
}

// doubts reports whether a command may satisfy the condition if every word that may name <system>
// does.
func (t *Test) doubts(v *Value, l *shell.Line, i int) bool {
	unsure := *t
	unsure.unsure = true
	return unsure.suspects(v, l, i)
}

// manyBeginnings reports whether a command may begin at more positions than the limit, and the
// condition holds at none of those below it.
func (t *Test) manyBeginnings(v *Value, l *shell.Line, i int) bool {
	if t.literals != nil {
		return false
	}
	_, more := v.beginnings(l, i)
	return more && !t.suspects(v, l, i)
}

func (t *PathTest) Unknown(value *condition.Value) (unknown condition.Unknown) {
	v := Of(value)
	if !t.Restrictive {
		return condition.Known
	}
	for _, l := range [...]*shell.Line{v.Line(), v.OtherLine()} {
		if l == nil {
			continue
		}
		if l.Excess {
			unknown |= condition.UnknownCommand
		}
		for i := range l.Commands {
			c := &l.Commands[i]
			v.eachPath(l, i, func(p *namedPath) bool {
				if p.use&t.use != 0 && len(p.word.Text) > 0 {
					unknown |= t.unknown(c, p)
				}
				return true
			})
		}
	}
	return unknown
}

// unknown returns the unknown facts of one word.
func (t *PathTest) unknown(c *shell.Command, p *namedPath) (unknown condition.Unknown) {
	if c.Lost && p.word.Text[0] != '/' && p.word.Text[0] != '~' {
		unknown |= condition.UnknownDirectory
	}
	test := t.testOf(c, &p.word)
	reads, ok := test.(condition.UnknownTest)
	if !ok {
		return unknown
	}
	for _, path := range allowed(test, p) {
		unknown |= reads.Unknown(path)
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
