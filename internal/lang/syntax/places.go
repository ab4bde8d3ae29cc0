package syntax

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/lang/diag"
)

// Label is the rule as messages call it.
func (r *Rule) Label() string { return fmt.Sprintf("rule %d", r.Index+1) }

// SegmentPlace is the place of one segment of the condition's pointer.
func (k *Condition) SegmentPlace(n int) diag.Range {
	if k.arg == nil {
		return k.ArgPos
	}
	from := len(k.Arg[:n].String()) + 1
	to := len(k.Arg[:n+1].String())
	return k.arg.Place(from).To(k.arg.Place(max(from, to-1)))
}

// ValueRange is where a literal of the condition is written.
func (k *Condition) ValueRange(i int) diag.Range {
	if i < len(k.values) {
		return k.values[i].Range
	}
	return k.ValuePos
}

// ValuePlace is where a literal of the condition is written, or the character at a byte
// offset of its text; the whole literal if the offset is negative. ok is false if there is
// no such literal.
func (k *Condition) ValuePlace(i, offset int) (at diag.Range, ok bool) {
	switch {
	case i < 0 || i >= len(k.values):
		return at, false
	case offset < 0:
		return k.values[i].Range, true
	}
	return k.values[i].Place(offset), true
}
