package plaintext

import (
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// LengthWalker counts code points as [LengthTest] does: for a restrictive matcher only those between
// the first and the last that is not blank.
type LengthWalker struct{ Test LengthTest }

func (w *LengthWalker) First() uint32 { return 0 }

// Next updates the count and the number of blanks at the end, which are bounded by the limit.
func (w *LengthWalker) Next(state uint32, r rune) uint32 {
	limit := uint32(w.Test.Most) + 1
	if limit >= 1<<15 {
		limit = 1<<15 - 1
	}
	count, waiting := state&(1<<16-1), state>>16
	switch {
	case count >= limit:
	case w.Test.Restrictive && spelling.ZeroWidth.Contains(r):
	case w.Test.Restrictive && spelling.IsWhite(r):
		if count > 0 {
			waiting = min(waiting+1, limit)
		}
	default:
		count, waiting = min(count+waiting+1, limit), 0
	}
	return waiting<<16 | count
}

func (w *LengthWalker) Accepting(state uint32) bool {
	return state&(1<<16-1) <= uint32(w.Test.Most)
}

func (w *LengthWalker) Fate(state uint32) automaton.Fate {
	if !w.Accepting(state) {
		return automaton.Rejects
	}
	return automaton.Open
}

func (w *LengthWalker) Cuts() []rune {
	cuts := []rune{0}
	for _, set := range []automaton.Set{spelling.ZeroWidth, spelling.WhiteSpace} {
		for _, s := range set {
			cuts = append(cuts, s.Low, s.High+1)
		}
	}
	return cuts
}

// PatternWalkers returns the automata of patterns for the value as written.
func PatternWalkers(test SpellingTest) []automaton.Walker {
	list, ok := test.(Patterns)
	if !ok {
		return nil
	}
	var all []automaton.Walker
	for _, p := range list {
		w := p.Walker()
		if w == nil {
			return nil
		}
		all = append(all, w)
	}
	return all
}

// IsPlainText reports whether the restrictive and permissive readings of a text are equal: it is
// its own form under K21.
func IsPlainText(text string) bool {
	for i, r := range text {
		if r >= utf8.RuneSelf && spelling.ZeroWidth.Contains(r) || spelling.IsWhite(r) && (i == 0 || i+utf8.RuneLen(r) == len(text)) {
			return false
		}
	}
	return true
}
