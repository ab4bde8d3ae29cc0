package gate

import (
	"slices"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// callCache is what calls of a binding have in common. Of what the store keeps of the last
// one the next mostly says the same, and then it is kept once. What is shared is not
// written to.
type callCache struct {
	marks    atomic.Pointer[[]session.Mark]
	release  atomic.Pointer[session.Release]
	policies atomic.Pointer[toolPolicies]
}

// hearers are the session policies among all that hear of the binding's tool.
type toolPolicies struct{ all, some *session.Set }

// policiesFor finds those of a tool, once as long as the policies stay the same.
func (a *callCache) policiesFor(all *session.Set, tool stopgate.ToolName) *session.Set {
	if a == nil {
		return all.For(tool)
	}
	if last := a.policies.Load(); last != nil && last.all == all {
		return last.some
	}
	some := all.For(tool)
	a.policies.Store(&toolPolicies{all, some})
	return some
}

// internMarks returns marks that may be kept, for marks in memory that is used again.
func (a *callCache) internMarks(marks []session.Mark) []session.Mark {
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

// internRelease returns what a fact keeps of a call for its result.
func (a *callCache) internRelease(c *commitment) *session.Release {
	v, p := &c.result.verdict, c.pending
	cacheable := a != nil && v.Candidates == nil && v.Floors == nil && v.Segment == nil
	if cacheable {
		last := a.release.Load()
		if last != nil && last.Verdict.Decided == v.Decided && last.Verdict.Mode == v.Mode && last.Verdict.Layer == v.Layer &&
			last.Verdict.Code == v.Code && last.Verdict.Rule == v.Rule && last.Verdict.Pointer == v.Pointer &&
			last.Verdict.DecidedAt == v.DecidedAt && last.Verdict.Public == v.Public && last.Policy == p.under.hash &&
			last.Handoff == p.to && last.Dialect == p.call.Dialect && last.Surface == p.call.Surface && last.Observed == p.under.observe {
			return last
		}
	}
	r := &session.Release{Verdict: *v, Policy: p.under.hash, Handoff: p.to, Dialect: p.call.Dialect, Surface: p.call.Surface, Observed: p.under.observe}
	if cacheable {
		a.release.Store(r)
	}
	return r
}
