package syntax

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/lang/diag"
)

// Label returns the name of the rule in messages.
func (r *Rule) Label() string { return fmt.Sprintf("rule %d", r.Index+1) }

// CatchAll reports whether the rule matches every call.
func (r *Rule) CatchAll() bool { return len(r.Conditions) == 0 && r.When == nil }

// IgnorePos returns the range of one of the pointers that the rule ignores.
func (r *Rule) IgnorePos(i int) (at diag.Range) {
	if i < len(r.IgnoresPos) {
		at = r.IgnoresPos[i]
	}
	return at
}

// SegmentRange returns the range of one segment of the condition's pointer.
func (k *Condition) SegmentRange(n int) diag.Range {
	if k.ArgAt == nil {
		return k.ArgPos
	}
	from := len(k.Arg[:n].String()) + 1
	to := len(k.Arg[:n+1].String())
	return k.ArgAt.OffsetRange(from).To(k.ArgAt.OffsetRange(max(from, to-1)))
}

// ValueRange returns the range of a literal of the condition.
func (k *Condition) ValueRange(i int) diag.Range {
	if i < len(k.ValuesAt) {
		return k.ValuesAt[i].Range
	}
	return k.ValuePos
}

// OffsetRange returns the range of the character at a byte offset in a literal of the condition, or
// of the complete literal if the offset is negative. ok is false if there is no such literal.
func (k *Condition) OffsetRange(i, offset int) (at diag.Range, ok bool) {
	switch {
	case i < 0 || i >= len(k.ValuesAt):
		return at, false
	case offset < 0:
		return k.ValuesAt[i].Range, true
	}
	return k.ValuesAt[i].OffsetRange(offset), true
}
