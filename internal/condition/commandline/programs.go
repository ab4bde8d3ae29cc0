package commandline

import (
	"bytes"
	"iter"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// EachProgram calls yield for the key of every program that the line may name, with the words that may
// follow it there: at each position at which conditions look for a program, and those of the line and
// of its words as texts. It returns false if there may be other programs, or other words that
// conditions count as one of the same name.
func (v *Value) EachProgram(yield func(key []byte, words iter.Seq[[]byte])) (complete bool) {
	if v.exceeds() {
		return false
	}
	for _, l := range [...]*shell.Line{v.Line(), v.OtherLine()} {
		if l == nil {
			continue
		}
		for i := range l.Commands {
			list, more := v.beginnings(l, i)
			if more {
				return false
			}
			for k := range list {
				if !list[k].program.Keyed() {
					return false
				}
				v.eachKey(&list[k], yield)
			}
		}
	}
	if first, rest, _ := bytes.Cut(bytes.TrimSpace(v.text), blank); len(first) > 0 {
		v.yieldKey(first, func(yield func([]byte) bool) { eachField(rest, yield) }, yield)
	}
	return true
}

// eachKey calls yield for one position. Globs compare the words as one text, in which the program ends
// at the first blank.
func (v *Value) eachKey(b *beginning, yield func(key []byte, words iter.Seq[[]byte])) {
	text := b.program.Word.Text
	v.yieldKey(text, b.words, yield)
	if first, rest, divided := bytes.Cut(text, blank); divided {
		v.yieldKey(first, func(yield func([]byte) bool) {
			if eachField(rest, yield) {
				b.words(yield)
			}
		}, yield)
	}
}

func (v *Value) yieldKey(program []byte, words iter.Seq[[]byte], yield func(key []byte, words iter.Seq[[]byte])) {
	v.joined = appendProgramKey(v.joined[:0], program)
	yield(v.joined, words)
}

// words yields the words after the program, and the parts of those that have blanks.
func (b *beginning) words(yield func([]byte) bool) {
	for i := range b.operands {
		text := b.operands[i].Text
		if !yield(text) || bytes.IndexByte(text, ' ') >= 0 && !eachField(text, yield) {
			return
		}
	}
}

// eachField yields the parts of a text between blanks. It reports whether yield always returned true.
func eachField(text []byte, yield func([]byte) bool) bool {
	for len(text) > 0 {
		var part []byte
		if part, text, _ = bytes.Cut(text, blank); !yield(part) {
			return false
		}
	}
	return true
}

var blank = []byte(" ")
