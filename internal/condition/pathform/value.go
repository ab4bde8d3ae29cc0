package pathform

import (
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// Value is one complete string as a path, a form of a [condition.Value]. Whether it is plainly
// written, and its readings, are computed once. It is reused with Reset and belongs to one goroutine.
type Value struct {
	text  []byte
	valid bool

	examined, plain bool
	canonical       []byte
	Info            Lexical
	buf             [256]byte
	low             []byte // without capital letters

	read   [2]reads // for the first contexts: as it is, and as a shell expands it
	listed int
	last   *reads // those that were asked for last
	other  reads  // for a further context

	sure     [4]certainty // results of certain for the first few contexts
	contexts int
	own      LinkCache  // for its own paths
	Trail    *LinkCache // of the command line, if the value is one of its words
}

// Reset sets the string, which must not change during the evaluation.
func (v *Value) Reset(text []byte) {
	v.reset(text, utf8.Valid(text))
}

func (v *Value) reset(text []byte, valid bool) {
	v.text, v.valid = text, valid
	v.examined, v.listed, v.last, v.contexts = false, 0, nil, 0
	v.own, v.Trail = LinkCache{}, nil
}

// Derive makes the value the path of a string.
func (v *Value) Derive(of *condition.Value) { v.reset(of.Text(), of.Valid()) }

// Of returns a string as a path.
func Of(v *condition.Value) *Value { return condition.Derived[Value](v) }

// Text returns the string.
func (v *Value) Text() []byte { return v.text }

// Valid reports whether the string is UTF-8.
func (v *Value) Valid() bool { return v.valid }

// IsClean reports whether Clean does not change the string, a path (K4).
func (v *Value) IsClean() bool {
	v.examine()
	if v.plain && len(v.canonical) == len(v.text) && len(v.text) > 0 && &v.canonical[0] == &v.text[0] {
		return true // already canonical
	}
	cleaned, _ := Clean(string(v.text))
	return cleaned == string(v.text)
}

func (v *Value) examine() {
	if !v.examined {
		v.canonical, v.Info, v.plain = ExaminePath(v.buf[:0], v.text)
		v.examined = true
	}
}

// Certain returns the canonical form of the string in a context, and whether it is the only reading.
func (v *Value) Certain(p *Context) (canonical []byte, certain bool) {
	v.examine()
	if p.usual && v.plain && !v.Info.Absolute && !v.Info.wild {
		return v.canonical, true
	}
	for i := range v.sure[:v.contexts] {
		if s := &v.sure[i]; s.expands == p.Expands && s.restrictive == p.Restrictive && s.env == p.Env {
			return s.canonical, s.ok
		}
	}
	canonical, info := v.canonical, v.Info
	if v.plain && p.moved(info) {
		canonical, info = p.arrive(canonical, info)
	}
	certain = v.plain && p.Admits(canonical, info, v.Way())
	if v.contexts < len(v.sure) {
		v.sure[v.contexts] = certainty{p.Env, p.Expands, p.Restrictive, canonical, certain}
		v.contexts++
	}
	return canonical, certain
}

// Way returns the link cache of the string.
func (v *Value) Way() *LinkCache {
	if v.Trail != nil {
		return v.Trail
	}
	return &v.own
}

// Lowered returns a path with its ASCII letters in lower case. The result is valid until the next
// call.
func (v *Value) Lowered(path []byte) []byte {
	v.low = append(v.low[:0], path...)
	for i, c := range v.low {
		v.low[i] = spelling.LowerASCII(c)
	}
	return v.low
}

// reads is the readings of a string in an environment.
type reads struct {
	env     condition.Env
	expands bool
	list    []Reading
	unknown condition.Unknown
}

// Readings is Readings for the string.
func (v *Value) Readings(p *Context) (list []Reading, unknown condition.Unknown) {
	for i := range v.read[:v.listed] {
		if r := &v.read[i]; r.expands == p.Expands && r.env == p.Env {
			v.last = r
			return r.list, r.unknown
		}
	}
	r := &v.other
	if v.listed < len(v.read) {
		r = &v.read[v.listed]
		v.listed++
	}
	r.env, r.expands = p.Env, p.Expands
	r.list, r.unknown = ReadingsOf(string(v.text), p.Env, p.Expands, v.Way())
	v.last = r
	return r.list, r.unknown
}

// LacksReadings reports whether readings of the value as a path are not listed because it is long.
func (v *Value) LacksReadings(p *Context) bool {
	if _, certain := v.Certain(p); certain {
		return false
	}
	_, unknown := v.Readings(p)
	return unknown&condition.TooLong != 0
}

// Listed returns the readings that were asked for last.
func (v *Value) Listed() []Reading {
	if v.last == nil {
		return nil
	}
	return v.last.list
}
