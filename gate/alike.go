package gate

import (
	"slices"
	"sync/atomic"

	"github.com/stopgate/stopgate/session"
)

// alike is what the store keeps of the last call of a binding: the next one mostly has
// it in common, and then it is kept once. What is shared is not written to.
type alike struct {
	marks   atomic.Pointer[[]session.Mark]
	release atomic.Pointer[session.Release]
}

// sameMarks returns marks that may be kept, for marks in memory that is used again.
func (a *alike) sameMarks(marks []session.Mark) []session.Mark {
	if a == nil || len(marks) == 0 {
		return slices.Clone(marks)
	}
	if last := a.marks.Load(); last != nil && slices.Equal(*last, marks) {
		return *last
	}
	kept := slices.Clone(marks)
	a.marks.Store(&kept)
	return kept
}

// sameRelease returns what a fact keeps of a call for its result.
func (a *alike) sameRelease(c *commitment) *session.Release {
	v, p := &c.result.verdict, c.pending
	alike := a != nil && v.Candidates == nil && v.Floors == nil && v.Segment == nil
	if alike {
		last := a.release.Load()
		if last != nil && last.Verdict.Decided == v.Decided && last.Verdict.Mode == v.Mode && last.Verdict.Layer == v.Layer &&
			last.Verdict.Code == v.Code && last.Verdict.Rule == v.Rule && last.Verdict.Pointer == v.Pointer &&
			last.Verdict.DecidedAt == v.DecidedAt && last.Verdict.Public == v.Public && last.Policy == p.under.hash &&
			last.Handoff == p.to && last.Dialect == p.call.Dialect && last.Surface == p.call.Surface && last.Observed == p.under.observe {
			return last
		}
	}
	r := &session.Release{Verdict: *v, Policy: p.under.hash, Handoff: p.to, Dialect: p.call.Dialect, Surface: p.call.Surface, Observed: p.under.observe}
	if alike {
		a.release.Store(r)
	}
	return r
}
