package commandline

import (
	"bytes"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/usage"
)

// Value is one complete string as a command line, and as a path. The line is parsed once; the
// values of its words are shared by all conditions.
type Value struct {
	pathform.Value

	lineKnown, otherKnown bool
	commands, others      shell.Line
	hasOther              bool
	vector                []byte // memory of text

	words []*pathform.Value // paths of the line; the first named of them are in use
	named int
	more  map[string]*pathform.Value // words of a line that has many
}

// Reset sets the string, which must not change during the evaluation.
func (v *Value) Reset(text []byte) {
	v.Value.Reset(text)
	v.renew()
}

// ResetText is Reset for a string that is known to be UTF-8.
func (v *Value) ResetText(text []byte) {
	v.Value.ResetText(text)
	v.renew()
}

func (v *Value) renew() {
	v.lineKnown, v.otherKnown = false, false
	v.named, v.more = 0, nil
}

// fewWords is the number of words that are searched linearly and whose memory is reused.
const fewWords = 32

// Line returns the string as a command line.
func (v *Value) Line() *shell.Line {
	if !v.lineKnown {
		text := v.Text()
		if len(text) > condition.Budget {
			text = nil // its length decides every condition on it; it is not analysable
		}
		v.commands.Read(text)
		v.lineKnown = true
	}
	return &v.commands
}

// OtherLine returns the line as lenient parsers may see it, nil if that is the same.
func (v *Value) OtherLine() *shell.Line {
	if !v.otherKnown {
		other := otherForm(v.Text()[:min(len(v.Text()), condition.Budget)])
		if v.otherKnown, v.hasOther = true, other != nil; v.hasOther {
			v.others.Read(other)
		}
	}
	if !v.hasOther {
		return nil
	}
	return &v.others
}

// Word returns a path that a command line names, shared by all conditions.
func (v *Value) Word(path []byte) *pathform.Value {
	for _, w := range v.words[:v.named] {
		if bytes.Equal(w.Text(), path) {
			return w
		}
	}
	if v.named == fewWords {
		return v.furtherWord(path)
	}
	if v.named == len(v.words) {
		v.words = append(v.words, new(pathform.Value))
	}
	w := v.words[v.named]
	v.named++
	v.read(w, path)
	return w
}

func (v *Value) furtherWord(path []byte) *pathform.Value {
	w := v.more[string(path)]
	if w == nil {
		if v.more == nil {
			v.more = make(map[string]*pathform.Value)
		}
		w = new(pathform.Value)
		v.read(w, path)
		v.more[string(path)] = w
	}
	return w
}

// read makes a value one of the words.
func (v *Value) read(w *pathform.Value, path []byte) {
	w.ResetWord(path, v.Way())
	w.Trail.Solid = v.Line().Solid()
}

// ResetWords sets the words of an argument vector, which must not change during the evaluation.
// Their text is the command line that a shell would read as them. If complete is false, other words
// may follow, and nothing is certain.
func (v *Value) ResetWords(words [][]byte, complete bool) {
	v.Reset(shell.AppendWords(v.vector[:0], words))
	v.vector = v.Text()
	v.commands.ReadWords(words, complete)
	v.lineKnown = true
}

// Analysable reports whether the string is a command line of which every command is known.
// redirects is set if other conditions evaluate the files that it reads and writes.
func (v *Value) Analysable(redirects bool) bool {
	l := v.Line()
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
	l := v.Line()
	if !l.Complete || l.Excess {
		return false
	}
	first, _, _ := bytes.Cut(bytes.TrimSpace(v.Text()), []byte(" "))
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

// Commands returns the number of simple commands if the string is a command line: those it lists
// and those that they run. A line without any counts as one.
func (v *Value) Commands() int { return max(1, len(v.Line().Commands)) }

// AppendCommand appends the words of one simple command of the string, separated by single blanks.
func (v *Value) AppendCommand(dst []byte, i int) []byte {
	if l := v.Line(); i < len(l.Commands) {
		return appendWords(dst, l.Commands[i].Words)
	}
	return dst
}

// Program returns the key of the program of a line that is one plain command.
func (v *Value) Program() (key string, ok bool) {
	if len(v.Text()) > usage.MaxProgram || strings.ContainsFunc(string(v.Text()), func(r rune) bool { return r != ' ' && !inPlainWord(r) }) {
		return "", false
	}
	l := v.Line()
	if !l.Plain || l.Excess || len(l.Commands) != 1 || len(l.Commands[0].Words) == 0 {
		return "", false
	}
	words := l.Commands[0].Words
	name := shell.Base(words[0].Text)
	if shell.Wrapper(name) || shell.Reserved(name) || slices.ContainsFunc(words[1:], func(w shell.Word) bool { return shell.RunsAfter(name, w.Text) }) {
		return "", false // another word may name a program too
	}
	return programKey(string(words[0].Text)), true
}

// SharedLine is a test that evaluates a command line by its shared derived forms.
type SharedLine interface{ Judge(v *Value) bool }

var (
	_ SharedLine = (*Test)(nil)
	_ SharedLine = (*PathTest)(nil)
)
