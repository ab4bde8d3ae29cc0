package match

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/usage"
)

// suspects reports that a command may satisfy the condition, from wherever in it a
// command may begin: behind wrappers, assignments and words that may be empty.
func (t *commandTest) suspects(l *shell.Line, i int) bool {
	s := suspicion{test: t, command: &l.Commands[i]}
	s.look()
	return s.hit
}

// suspicion looks for a place in one command from which it satisfies a condition.
type suspicion struct {
	test    *commandTest
	command *shell.Command
	judged  int  // places so far
	hit     bool // one was found
	excess  bool // there are more places than are judged
}

func (s *suspicion) look() {
	words := s.command.Words
	if s.command.Prints && s.begins(printer) {
		return
	}
	behind, command := false, true // behind a wrapper; the word may be a command
	var program []byte             // that may run what stands behind one of its words
	for k := range words {
		w := &words[k]
		if (behind || command) && s.begins(words[k:]) {
			return
		}
		if bytes.IndexByte(w.Text, '=') >= 0 && s.values(w, words[k+1:min(len(words), k+1+maxValueWords)]) {
			return
		}
		name := shell.Base(w.Text)
		behind = behind || command && shell.Wrapper(name) || program != nil && shell.RunsAfter(program, w.Text)
		if command {
			program = name
		}
		command = command && (shell.IsAssignment(w.Text) || shell.Reserved(name) || len(w.Text) == 0 || !w.Literal && !w.Glob && len(name) == 0)
	}
}

// begins judges one place and reports whether that ends the search.
func (s *suspicion) begins(words []shell.Word) (done bool) {
	if s.judged++; s.test.literals == nil && s.judged > maxBeginnings {
		s.excess = true
		return true
	}
	s.hit = s.test.begins(words, s.command.Dirs)
	return s.hit
}

// printer is the command whose text stands in a word ([shell.Command.Prints]).
var printer = []shell.Word{{Text: []byte("cat"), Literal: true}}

// values judges what stands behind each = of a word: the value by itself, or, where it has
// blanks, as a command line.
func (s *suspicion) values(w *shell.Word, behind []shell.Word) (done bool) {
	var list []shell.Word
	for f := range bytes.FieldsFuncSeq(w.Text, func(r rune) bool { return r == ' ' }) {
		list = append(list, shell.Word{Text: bytes.Trim(f, `'"`), Literal: w.Literal})
	}
	if len(list) == 1 {
		list[0].Text = w.Text
	}
	list = append(list, behind...)
	line := make([]shell.Word, 0, maxValueWords+1)
	for i, f := range list[:len(list)-len(behind)] {
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

// raw judges the line as a text.
func (t *commandTest) raw(line []byte) bool {
	trimmed := bytes.TrimSpace(line)
	if t.text != nil {
		return t.text.holds(line) || t.text.holds(trimmed)
	}
	for _, lit := range t.literals {
		rest, ok := bytes.CutPrefix(trimmed, []byte(lit.raw))
		if lit.raw != "" && ok && (t.kind == Prefix || len(rest) == 0) {
			return true
		}
	}
	return false
}

// begins judges words of which the first is a command. Words are compared as words;
// everything else sees them with single spaces between them.
func (t *commandTest) begins(words []shell.Word, dirs []string) bool {
	switch {
	case t.usages != nil:
		return t.usages.Suspects(words, dirs)
	case t.text != nil:
		var buf [256]byte
		return t.text.holds(appendWords(buf[:0], words))
	}
	for i := range t.literals {
		if t.beginsWith(words, t.literals[i].words) {
			return true
		}
	}
	return false
}

func (t *commandTest) beginsWith(words []shell.Word, want []string) bool {
	if len(words) < len(want) || t.kind != Prefix && len(words) != len(want) {
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
	// maxBeginnings is from how many places of one command a text is judged that is not
	// compared by words. Of a command with more of them it is not known whether it satisfies
	// the condition.
	maxBeginnings = 256
	// maxValueWords is how many words behind NAME=VALUE count to what VALUE runs.
	maxValueWords = 64
)

// unknown says what is not known of the commands that a restrictive condition judges.
func (t *commandTest) unknown(v *Value) (unknown Unknown) {
	unsure := *t
	unsure.usages = t.unsure
	for _, l := range []*shell.Line{v.line(), v.otherLine()} {
		if l == nil {
			continue
		}
		if l.Excess {
			return unknown | UnknownCommand
		}
		for i := range l.Commands {
			if unknown&UnknownCommand == 0 && t.manyBeginnings(l, i) {
				unknown |= UnknownCommand
			}
			if unsure.usages != nil && !t.suspects(l, i) && unsure.suspects(l, i) {
				unknown |= UnknownReading
			}
		}
	}
	return unknown
}

// manyBeginnings reports a command that may begin at more places than are judged, at none of
// which the condition holds.
func (t *commandTest) manyBeginnings(l *shell.Line, i int) bool {
	most := 1 // places: the words and what stands behind each =
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
