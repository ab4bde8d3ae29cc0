package session

import (
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Keyed is a policy that reports whether its decisions depend on arguments. One that needs
// none is asked as soon as the name of the tool is known (S8). A policy without this method
// is asked when the arguments are complete.
type Keyed interface {
	NeedsArguments() bool
}

// Watcher is a policy that can deny a call by one of its arguments before the others have
// arrived (S8): whatever they are, it would deny then too. Only a [Bounded] policy is asked
// early.
type Watcher interface {
	// Watched returns pointers to members of the arguments. A call in which one of them is
	// complete is checked with that member alone; only a denial counts.
	Watched(tool stopgate.ToolName) []jsonstream.Pointer
}

// denier is a policy that names the tools that it may deny, where it also governs tools that it
// only learns from.
type denier interface{ Denies() Selector }

// Bounded is a policy whose cost is bounded by construction: the gate calls it without a
// deadline and without a copy of its input (K39).
type Bounded interface {
	// Bounded reports whether p is the policy itself. A type that embeds a bounded policy
	// is another policy, and may have slower methods.
	Bounded(p Policy) bool
}

// isBounded reports whether a policy is [Bounded], alone or made conditional by [InCase] or
// [ForCallers].
func isBounded(p Policy) bool {
	if c, ok := p.(*conditional); ok {
		return c.bounded && isBounded(c.Policy)
	}
	b, ok := p.(Bounded)
	return ok && b.Bounded(p)
}

// Remote is a policy that asks another process. The gate waits for its answers up to Limit, where
// that is longer than its own limit for policies, and asks the same question before the step of the
// store in which the answer counts: the policy should remember what it answered.
type Remote interface {
	Limit() time.Duration
	// Learn is OnResult of an [Observer] that can fail. After an error it is not known what the
	// policy would have noted, and the session counts as degraded (FM16).
	Learn(v View, r Result) ([]Fact, error)
}

// LimitOf returns the limit of a policy of the set that is [Remote], 0 for another.
func (s *Set) LimitOf(p Policy) time.Duration {
	if r, ok := as[Remote](p); ok {
		return r.Limit()
	}
	return 0
}

// Limit returns the time that the [Remote] policies that govern a tool need for an answer together,
// 0 if there are none.
func (s *Set) Limit(tool stopgate.ToolName) (all time.Duration) {
	for _, e := range s.govern(tool).entries {
		all += s.LimitOf(e.policy)
	}
	return all
}
