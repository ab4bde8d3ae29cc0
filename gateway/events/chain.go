package events

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Chain is policies in their order. It is immutable; another chain takes the place of
// one as a whole, and exchanges go on with the one they began with.
type Chain struct {
	policies []hooks
	texts    bool // some policy looks at texts of responses
	calls    bool
	quick    bool // no hook that looks at texts can be slow
}

// quick is implemented by policies of this package whose content hooks do nothing but
// compute, in time linear in the text: they need no watch over them.
type quick interface{ quick() }

// NewChain checks policies and finds their hooks.
func NewChain(policies ...Policy) (*Chain, error) {
	c := &Chain{quick: true}
	names := map[string]bool{}
	for _, p := range policies {
		if p == nil {
			return nil, errors.New("events: a policy is nil")
		}
		name := p.Name()
		if name == "" || names[name] {
			return nil, fmt.Errorf("events: policy %q: every policy needs a name of its own", name)
		}
		names[name] = true
		h, err := takeApart(p)
		if err != nil {
			return nil, err
		}
		c.policies = append(c.policies, h)
		c.texts = c.texts || h.texts()
		c.calls = c.calls || h.calls()
		if _, fast := p.(quick); h.texts() && !fast {
			c.quick = false
		}
	}
	return c, nil
}

// Names lists the policies in their order.
func (c *Chain) Names() []string {
	var names []string
	if c != nil {
		for _, h := range c.policies {
			names = append(names, h.policy.Name())
		}
	}
	return names
}

// WatchesCalls reports whether a hook wants to see calls.
func (c *Chain) WatchesCalls() bool { return c != nil && c.calls }

// wants reports whether some policy has a hook.
func (c *Chain) wants(has func(*hooks) bool) bool {
	return slices.ContainsFunc(c.policies, func(h hooks) bool { return has(&h) })
}

// Setup is what a run needs to know.
type Setup struct {
	Exchange Exchange    // without scratchpad
	Emit     func(Event) // may be nil; must not block
	// Limit is how long one hook may take; 0 is 10 s.
	Limit time.Duration
	// MaxBytes bounds an event and a body; 0 is 32 MiB.
	MaxBytes int
	// Continues reports whether another answer of the provider may follow the one that
	// is being read, as far as it was handed out: then its end waits for Finish. Nil: no.
	Continues func() bool
}

// Begin starts the run of the chain through one exchange. A nil or empty chain gives a
// nil run, all methods of which do nothing.
func (c *Chain) Begin(s Setup) *Run {
	if c == nil || len(c.policies) == 0 {
		return nil
	}
	if s.Limit <= 0 {
		s.Limit = 10 * time.Second
	}
	if s.MaxBytes <= 0 {
		s.MaxBytes = 32 << 20
	}
	r := &Run{chain: c, limit: s.Limit, maxBytes: s.MaxBytes, began: time.Now(), continues: s.Continues}
	r.x = s.Exchange
	r.x.Scratchpad, r.x.emit = map[string]any{}, s.Emit
	r.stages = make([]stage, len(c.policies))
	for i := range c.policies {
		r.stages[i].hooks = &c.policies[i]
	}
	return r
}
