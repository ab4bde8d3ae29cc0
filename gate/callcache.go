package gate

import (
	"slices"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// callCache shares values between the calls of a binding: most calls have the same marks and
// the same release as the call before. Shared values are not written to.
type callCache struct {
	marks    atomic.Pointer[[]session.Mark]
	release  atomic.Pointer[session.Release]
	policies atomic.Pointer[toolPolicySet]
}

// toolPolicySet is the policies of the set all that govern the binding's tool.
type toolPolicySet struct{ all, some *session.Set }

// policiesFor returns the policies that govern a tool. It looks them up once for each set.
func (a *callCache) policiesFor(all *session.Set, tool stopgate.ToolName) *session.Set {
	if a == nil {
		return all.For(tool)
	}
	if last := a.policies.Load(); last != nil && last.all == all {
		return last.some
	}
	some := all.For(tool)
	a.policies.Store(&toolPolicySet{all, some})
	return some
}

// internMarks returns a copy of marks, shared with the call before if that had the same.
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

// internRelease returns the release for the fact of a call, shared with the call before if that
// had the same.
func (a *callCache) internRelease(p *pending, v *stopgate.Verdict) *session.Release {
	cacheable := a != nil && v.Candidates == nil && v.Floors == nil && v.Segment == nil
	if cacheable {
		last := a.release.Load()
		if last != nil && last.Verdict.Decided == v.Decided && last.Verdict.Mode == v.Mode && last.Verdict.Layer == v.Layer &&
			last.Verdict.Code == v.Code && last.Verdict.Rule == v.Rule && last.Verdict.Pointer == v.Pointer &&
			last.Verdict.DecidedAt == v.DecidedAt && last.Verdict.Public == v.Public && last.Policy == p.under.hash &&
			last.Handoff == p.handoff.to && last.Dialect == p.call.Dialect && last.Surface == p.call.Surface && last.Observed == p.under.observe {
			return last
		}
	}
	r := &session.Release{Verdict: *v, Policy: p.under.hash, Handoff: p.handoff.to, Dialect: p.call.Dialect, Surface: p.call.Surface, Observed: p.under.observe}
	if cacheable {
		a.release.Store(r)
	}
	return r
}
