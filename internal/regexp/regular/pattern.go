package regular

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// Pattern is a compiled pattern. It is immutable.
type Pattern struct {
	source   string
	root     *node
	size     int
	anchored bool
	modified bool
	negative bool
	anyOf    [][]byte // one is in every text in which the pattern is found; nil for any text

	// The automata of this pattern alone, made when they are first used: over a text that is
	// complete, and over one that is still arriving; and its walk.
	whole, join func() *Automaton
	walk        func() automaton.Walker
	walked      atomic.Bool // walk has been made, and is not nil
}

// ready makes the automata on first use.
func (p *Pattern) ready() *Pattern {
	p.whole = sync.OnceValue(func() *Automaton { return JoinWhole(p.Language()) })
	p.join = sync.OnceValue(func() *Automaton { return Join(p.Language()) })
	p.walk = sync.OnceValue(func() automaton.Walker {
		w := p.Language().Walker()
		p.walked.Store(w != nil)
		return w
	})
	return p
}

// Compile prepares a pattern (D25-22). The error is a *SyntaxError.
func Compile(pattern string) (*Pattern, error) {
	p, err := compile(pattern)
	if err != nil {
		return nil, err
	}
	return p.ready(), nil
}

// Match reports whether the pattern is found anywhere in text. Bytes that are
// not UTF-8 are read as U+FFFD each; JSON text that was accepted has none.
func (p *Pattern) Match(text []byte) bool {
	if p.anyOf != nil && !slices.ContainsFunc(p.anyOf, func(one []byte) bool { return bytes.Contains(text, one) }) {
		return false // a process that judges one text has no automaton to make
	}
	if p.walked.Load() { // a pattern that analysis walks has its states already
		w := p.walk()
		at := w.First()
		for len(text) > 0 {
			r, size := utf8.DecodeRune(text)
			at, text = w.Next(at, r), text[size:]
		}
		return w.Accepting(at)
	}
	a := p.whole()
	s := a.Start()
	a.Feed(&s, text) // the one fate cannot change twice
	return a.Accepts(&s, 0)
}

// Automaton returns the pattern, ready to run over text that is still arriving, as
// the only member.
func (p *Pattern) Automaton() *Automaton { return p.join() }

// Walker is that of the pattern's language, made once; see [Language.Walker]. It may be
// walked by several at once.
func (p *Pattern) Walker() automaton.Walker { return p.walk() }

// AnchoredBothEnds reports whether every match spans the whole text, because each
// alternative passes ^ and $ (D1, D2).
func (p *Pattern) AnchoredBothEnds() bool { return p.anchored }

// Modified reports whether the pattern changes its meaning with inline modifiers,
// as "(?m:" (D3).
func (p *Pattern) Modified() bool { return p.modified }

// NegativeLook reports whether the pattern has a negative lookahead or lookbehind,
// which is about text that is absent (D8).
func (p *Pattern) NegativeLook() bool { return p.negative }

// Size measures the pattern with its repetitions written out: a match costs at
// most a few steps for each byte of text and unit of size.
func (p *Pattern) Size() int { return p.size }

// String returns the pattern as it was written.
func (p *Pattern) String() string { return p.source }

// SyntaxError is why a pattern cannot be compiled, and where.
type SyntaxError struct {
	// Offset is the number of bytes before the fault.
	Offset int
	// Message describes the fault.
	Message string
	// Hint is how to write it instead, "" if there is none.
	Hint string
	// Unsupported is set if the pattern is valid ECMA-262 that this package does
	// not run; otherwise ECMAScript engines refuse it too.
	Unsupported bool
}

// Error gives message, place and hint in one line.
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("pattern: %s at byte %d", e.Message, e.Offset)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}
