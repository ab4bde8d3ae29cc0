package condition

import (
	"unicode/utf8"

	"github.com/stopgate/stopgate/flow"
)

// Value is one complete string for several conditions. The forms that conditions derive from it,
// such as the parsed command line, are computed once, see [Derived]. A Value is reused with Reset
// and belongs to one goroutine.
type Value struct {
	text     []byte
	valid    bool
	words    [][]byte // of an argument vector
	vector   bool
	complete bool

	texts flow.View
	forms []derived
	turn  uint64 // number of the string
}

// Form is memory for a form of strings. Derive computes the form of another string; it may delay
// the work until the form is needed.
type Form interface{ Derive(v *Value) }

type derived struct {
	form Form
	turn uint64 // of the string that the form is derived from
}

// Derived returns a form of the string, which all conditions share. It is valid until Reset.
func Derived[F any, P interface {
	*F
	Form
}](v *Value) P {
	for i := range v.forms {
		if form, ok := v.forms[i].form.(P); ok {
			if v.forms[i].turn != v.turn {
				v.forms[i].turn = v.turn
				form.Derive(v)
			}
			return form
		}
	}
	form := P(new(F))
	v.forms = append(v.forms, derived{form, v.turn})
	form.Derive(v)
	return form
}

// Reset sets the string, which must not change during the evaluation.
func (v *Value) Reset(text []byte) {
	v.ResetText(text)
	v.valid = utf8.Valid(text)
}

// ResetText is Reset for a string that is known to be UTF-8.
func (v *Value) ResetText(text []byte) {
	v.text, v.valid, v.words, v.vector = text, true, nil, false
	v.turn++
}

// ResetWords sets an argument vector, which must not change during the evaluation: its words, and
// the command line that a shell reads as them. If complete is false, other words may follow, and
// nothing is certain.
func (v *Value) ResetWords(line []byte, words [][]byte, complete bool) {
	v.Reset(line)
	v.words, v.vector, v.complete = words, true, complete
}

// SetTexts sets the texts of the session for the strings that follow. A nil view knows none.
func (v *Value) SetTexts(texts flow.View) { v.texts = texts }

// Texts returns the texts of the session, nil if none are known.
func (v *Value) Texts() flow.View { return v.texts }

// Text returns the string.
func (v *Value) Text() []byte { return v.text }

// Valid reports whether the string is UTF-8.
func (v *Value) Valid() bool { return v.valid }

// Words returns the words of an argument vector; ok is false for other strings.
func (v *Value) Words() (words [][]byte, complete, ok bool) { return v.words, v.complete, v.vector }
