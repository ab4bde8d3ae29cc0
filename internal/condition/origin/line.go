package origin

import (
	"bytes"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/schema"
)

// lineTest is a condition on command lines. Its elements are the operands of the commands that the
// line runs, without their quotes, with the value after "=" and the addresses in them, and for from
// and carries the whole line and each of its commands. The names of programs are no elements: texts
// name them without a purpose. A permissive condition holds for no line, because words in a text do
// not say in which order, with which options and for what they are meant.
type lineTest struct{ test }

var _ condition.OriginTest = (*lineTest)(nil)

// maxElements is the maximum number of evaluated elements. A line with more satisfies a restrictive
// condition.
const maxElements = 200

func (t *lineTest) Judge(v *condition.Value) bool { return t.Origin(v, schema.String).Holds }

// Origin evaluates the elements of a line until one of them satisfies the condition.
func (t *lineTest) Origin(v *condition.Value, of schema.Type) condition.Origin {
	if of != schema.String {
		return t.test.Origin(v, of)
	}
	if !t.restrictive {
		return condition.Origin{}
	}
	out, n := condition.Origin{}, 0
	complete := elements(v.Text(), commandline.Of(v), func(value []byte, word bool) bool {
		if n++; n > maxElements {
			return false
		}
		if t.kind == condition.NotFrom && !word {
			return true
		}
		r := t.element(v.Texts(), value)
		if r.Holds && (!out.Holds || out.Doubt != 0) {
			out = r
		}
		return !out.Holds || out.Doubt != 0 && v.Texts() != nil
	})
	if !complete && n > maxElements && !out.Holds {
		out.Holds = true
	}
	return out
}

// element evaluates one element: a word, an address or a command.
func (t *lineTest) element(texts flow.View, value []byte) condition.Origin {
	f := t.find(texts, value, &t.word)
	out := t.result(&f)
	if t.kind == condition.Carries || texts == nil {
		return out
	}
	for _, k := range kindsOf(value) {
		q := t.word
		q.Kind = k
		f := t.find(texts, value, &q)
		r := t.result(&f)
		switch {
		case t.kind == condition.NotFrom && !r.Holds:
			return r // it is from there as an address
		case t.kind != condition.NotFrom && r.Holds && (!out.Holds || out.Doubt != 0):
			out = r
		}
	}
	return out
}

// kindsOf returns the kinds of addresses that a word may be.
func kindsOf(word []byte) (kinds []flow.Kind) {
	if bytes.Contains(word, []byte("://")) {
		kinds = append(kinds, flow.URL)
	}
	if bytes.IndexByte(word, '@') > 0 {
		kinds = append(kinds, flow.Email)
	}
	if bytes.IndexByte(word, '.') > 0 {
		kinds = append(kinds, flow.Host)
	}
	if bytes.IndexByte(word, '/') >= 0 {
		kinds = append(kinds, flow.Path)
	}
	return kinds
}

// elements calls each for the elements of a line; word is set for the operands of its commands. It
// returns false if each did.
func elements(text []byte, v *commandline.Value, each func(value []byte, word bool) bool) bool {
	for _, l := range []*shell.Line{v.Line(), v.OtherLine()} {
		if l == nil {
			continue
		}
		for i := range l.Commands {
			if !operands(&l.Commands[i], each) {
				return false
			}
		}
	}
	several := func(line []byte) bool { return bytes.IndexByte(line, ' ') > 0 }
	if none := len(v.Line().Commands) == 0; (none || several(text)) && !each(text, none) {
		return false
	}
	var command []byte
	for i := range v.Line().Commands {
		if command = v.AppendCommand(command[:0], i); several(command) && !each(command, false) {
			return false
		}
	}
	return true
}

// operands calls each for the words after the name of a program, for their parts that may be values
// of their own, and for the files of redirections.
func operands(c *shell.Command, each func(value []byte, word bool) bool) bool {
	for i := range c.Words {
		word := c.Words[i].Text
		switch {
		case i == 0 && bytes.IndexByte(word, '/') < 0 && !shell.IsAssignment(word):
			continue
		case len(word) > 0 && word[0] == '-' && bytes.IndexByte(word, '=') < 0:
			if !parts(word, each) { // a short option with its value, as in -ofile
				return false
			}
			continue
		case !each(word, true) || !parts(word, each):
			return false
		}
	}
	for i := range c.Redirects {
		if target := c.Redirects[i].Target.Text; len(target) > 0 && !each(target, true) {
			return false
		}
	}
	return true
}

// parts calls each for the value after "=" of a word, and for the addresses in it.
func parts(word []byte, each func(value []byte, word bool) bool) bool {
	if _, value, ok := bytes.Cut(word, []byte("=")); ok && len(value) > 0 && !each(value, false) {
		return false
	}
	for part := range bytes.FieldsFuncSeq(word, func(r rune) bool {
		return r <= ' ' || r == '"' || r == '\'' || r == '`' || r == '(' || r == ')' || r == '<' || r == '>' || r == '|' || r == ';' || r == ',' || r == '{' || r == '}' || r == '$' || r == '\\'
	}) {
		if len(part) < len(word) && len(kindsOf(part)) > 0 && !each(part, false) {
			return false
		}
	}
	return true
}
