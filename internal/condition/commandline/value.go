package commandline

import (
	"bytes"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
	"github.com/stopgate/stopgate/internal/condition/usage"
)

// Value is one complete string as a command line, a form of a [condition.Value]. The line is parsed
// once; the values of its words are shared by all conditions.
type Value struct {
	text  []byte
	valid bool

	lineKnown, otherKnown bool
	commands, others      shell.Line
	hasOther              bool
	links                 pathform.LinkCache

	lists  [2]shared // of commands and of others
	begun  int       // bytes of the words at listed positions at which a program may be named
	wholes wholeForms
	// candidates are those of all named paths, one after the other.
	candidates []*condition.Value
	joined     []byte // scratch memory for words that are compared as a text

	words []*word // paths of the line; the first named of them are in use
	named int
	more  map[string]*word // words of a line that has many
}

// word is a path that a line names, with the memory of its text.
type word struct {
	condition.Value
	memory [256]byte
}

// Of returns a string as a command line.
func Of(v *condition.Value) *Value { return condition.Derived[Value](v) }

// Derive makes the value the command line of a string.
func (v *Value) Derive(of *condition.Value) {
	v.text, v.valid = of.Text(), of.Valid()
	v.lineKnown, v.otherKnown = false, false
	v.named, v.more, v.links = 0, nil, pathform.LinkCache{}
	v.candidates, v.begun = v.candidates[:0], 0
	v.wholes.reset()
	if cap(v.joined) > keptJoined {
		v.joined = nil
	}
	v.lists[0].reset()
	v.lists[1].reset()
	if words, complete, vector := of.Words(); vector {
		v.commands.ReadWords(words, complete)
		v.lineKnown = true
	}
}

// keptJoined is the size up to which scratch memory is reused for the next line.
const keptJoined = 4 << 10

// read parses a line that no other condition looks at.
func read(line []byte) *Value {
	var v condition.Value
	v.Reset(line)
	return Of(&v)
}

// exceeds reports whether the line is not UTF-8 or too long to be parsed.
func (v *Value) exceeds() bool { return !v.valid || len(v.text) > condition.Budget }

// fewWords is the number of words that are searched linearly and whose memory is reused.
const fewWords = 32

// Line returns the string as a command line.
func (v *Value) Line() *shell.Line {
	if !v.lineKnown {
		text := v.text
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
		other := otherForm(v.text[:min(len(v.text), condition.Budget)])
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
func (v *Value) Word(path []byte) *condition.Value {
	for _, w := range v.words[:v.named] {
		if bytes.Equal(w.Text(), path) {
			return &w.Value
		}
	}
	if v.named == fewWords {
		return v.furtherWord(path)
	}
	if v.named == len(v.words) {
		v.words = append(v.words, new(word))
	}
	w := v.words[v.named]
	v.named++
	v.read(w, path)
	return &w.Value
}

func (v *Value) furtherWord(path []byte) *condition.Value {
	w := v.more[string(path)]
	if w == nil {
		if v.more == nil {
			v.more = make(map[string]*word)
		}
		w = new(word)
		v.read(w, path)
		v.more[string(path)] = w
	}
	return &w.Value
}

// read makes a path one of the words. The line caches its links.
func (v *Value) read(w *word, path []byte) {
	w.Reset(append(w.memory[:0], path...)) // the memory of a long one is not kept
	if first := v.named == 1; first {
		v.links.Solid = effect.Solid(v.Line())
	}
	pathform.Of(&w.Value).Trail = &v.links
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
	if len(v.text) > usage.MaxProgram || strings.ContainsFunc(string(v.text), func(r rune) bool { return r != ' ' && !inPlainWord(r) }) {
		return "", false
	}
	l := v.Line()
	if !l.Plain || l.Excess || len(l.Commands) != 1 || len(l.Commands[0].Words) == 0 {
		return "", false
	}
	words := l.Commands[0].Words
	name := programs.Base(words[0].Text)
	if programs.Wraps(name) || shell.Reserved(name) || slices.ContainsFunc(words[1:], func(w shell.Word) bool { return programs.RunsAfter(name, w.Text) }) {
		return "", false // another word may name a program too
	}
	return programKey(string(words[0].Text)), true
}

var (
	_ condition.LineTest = (*Test)(nil)
	_ condition.LineTest = (*PathTest)(nil)
)
