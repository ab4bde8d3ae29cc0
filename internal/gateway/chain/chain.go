package chain

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stopgate/stopgate/gateway/events"
)

// Chain is an ordered list of policies. It is immutable: to change it, replace it as a whole;
// exchanges keep the chain that they started with.
type Chain struct {
	policies []hooks
	texts    bool // a policy has a hook for response text
	calls    bool // a policy has a hook for calls, or may end its output before one
	quick    bool // every hook for response text is quick
	onlyEnds bool // texts only because hooks for calls may end the output
}

// quick is implemented by policies of package events whose content hooks only compute, in time linear
// in the text, and never end the output. They run without a timeout.
type quick interface{ Quick() }

// New validates policies and finds their hooks.
func New(policies ...events.Policy) (*Chain, error) {
	c := &Chain{quick: true, onlyEnds: true}
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
		h, err := hooksOf(p)
		if err != nil {
			return nil, err
		}
		c.policies = append(c.policies, h)
		c.texts = c.texts || h.texts()
		c.calls = c.calls || h.calls() || h.texts() && !h.quick
		c.onlyEnds = c.onlyEnds && !h.editsTexts()
		c.quick = c.quick && (h.quick || !h.texts())
	}
	return c, nil
}

// Names returns the names of the policies in order.
func (c *Chain) Names() []string {
	var names []string
	if c != nil {
		for _, h := range c.policies {
			names = append(names, h.policy.Name())
		}
	}
	return names
}

// WatchesCalls reports whether policies may decide about calls.
func (c *Chain) WatchesCalls() bool { return c != nil && c.calls }

// wants reports whether a policy has a hook.
func (c *Chain) wants(has func(*hooks) bool) bool {
	return slices.ContainsFunc(c.policies, func(h hooks) bool { return has(&h) })
}

// Setup configures a run.
type Setup struct {
	// Exchange is copied for every policy, with one new Scratchpad. Its Publish may be nil.
	Exchange events.Exchange
	// Limit is the timeout of one hook; default 10 s.
	Limit time.Duration
	// MaxBytes limits an event and a body; default 32 MiB.
	MaxBytes int
	// Continues reports whether the end of a choice is reported by Finish, because its calls are not
	// judged yet or another response of the provider may follow. If nil, no end is.
	Continues func(choice int) bool
	// Stop is called, on any goroutine, when a hook stops the response. May be nil.
	Stop func()
}

// Begin starts a run of the chain for one exchange. A nil or empty chain returns a nil run, whose
// methods have no effect.
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
	r := &Run{chain: c, limit: s.Limit, maxBytes: s.MaxBytes, continues: s.Continues, stop: s.Stop, failed: make(chan struct{})}
	r.changed.L = &r.mu
	r.x = s.Exchange
	r.x.Scratchpad = map[string]any{}
	r.stages = make([]stage, len(c.policies))
	for i := range c.policies {
		st := &r.stages[i]
		st.hooks, st.x = &c.policies[i], r.x
		st.x.Policy, st.stream.output = st.name, &output{}
	}
	return r
}
