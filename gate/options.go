package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// Limits bound the time of everything the gate waits for. A zero
// field takes its default.
type Limits struct {
	Policy    time.Duration // one tool policy: 50 ms
	Store     time.Duration // one call of the [Store]: 250 ms
	Judge     time.Duration // the judge: 10 s
	Record    time.Duration // one audit row: 1 s
	Abilities time.Duration // an approver says what it can do: 1 s
	Hold      time.Duration // how long a call waits for an approver: 15 min
	Approval  time.Duration // how long an answer is accepted, from asking: 15 min
}

var defaultLimits = Limits{
	Policy: 50 * time.Millisecond, Store: 250 * time.Millisecond, Judge: 10 * time.Second, Record: time.Second, Abilities: time.Second,
	Hold: 15 * time.Minute, Approval: 15 * time.Minute,
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&l.Policy, defaultLimits.Policy},
		{&l.Store, defaultLimits.Store},
		{&l.Judge, defaultLimits.Judge},
		{&l.Record, defaultLimits.Record},
		{&l.Abilities, defaultLimits.Abilities},
		{&l.Hold, defaultLimits.Hold},
		{&l.Approval, defaultLimits.Approval},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return l
}

// config is everything New may be told. A nil port is an absent layer, and an
// absent approver is nobody.
type config struct {
	recorder Recorder
	approver Approver
	judge    Judge
	onError  stopgate.Mode // of the judge
	judges   func(*JudgeTable) (Judge, error)
	policies []ToolPolicy
	handoffs []HandoffPolicy
	store    Store
	registry *session.Registry
	tracer   *tracing
	seal     []byte
	now      func() time.Time
	entropy  io.Reader
	denyMode DenyMode
	limits   Limits
	bindings *Bindings
	trouble  func(Trouble)
}

// Option sets one thing of a [Gate].
type Option func(*config)

// WithRecorder makes the gate write an audit row for every proposal, and release
// nothing without one. Without a recorder there is no audit.
func WithRecorder(r Recorder) Option { return func(c *config) { c.recorder = r } }

// WithApprover says who answers ask and edit. Without one they deny no_approver.
func WithApprover(a Approver) Option { return func(c *config) { c.approver = a } }

// WithJudge adds a judge of every call, beside those of policy files. When it fails, the call is judged onError: Deny, or
// Ask where a person may decide instead (FM1).
func WithJudge(j Judge, onError stopgate.Mode) Option {
	return func(c *config) { c.judge, c.onError = j, onError }
}

// WithJudges says how to make the judges that policy files ask for ([judge]), such as
// [github.com/stopgate/stopgate/judge.Factory.Judge]. It is called by New and by Swap,
// which fail if it does. Without it the calls that those judges govern are denied, or
// asked about, judge_unavailable: a check that nobody makes never reads as passed.
func WithJudges(open func(*JudgeTable) (Judge, error)) Option {
	return func(c *config) { c.judges = open }
}

// WithToolPolicies adds policies written in Go, asked in this order.
func WithToolPolicies(p ...ToolPolicy) Option {
	return func(c *config) { c.policies = append(c.policies, p...) }
}

// WithHandoffPolicies adds policies for handoffs written in Go, asked in this order.
func WithHandoffPolicies(p ...HandoffPolicy) Option {
	return func(c *config) { c.handoffs = append(c.handoffs, p...) }
}

// WithBindings shares what is made of the program for each tool with other gates.
func WithBindings(b *Bindings) Option { return func(c *config) { c.bindings = b } }

// WithStore keeps the facts of sessions. Without a store the tools that a session
// policy governs are denied store_unavailable.
func WithStore(s Store) Option { return func(c *config) { c.store = s } }

// WithSessionPolicies adds the session policies of a registry behind those of the
// policy file. What changes later holds for turns that begin later.
func WithSessionPolicies(r *session.Registry) Option { return func(c *config) { c.registry = r } }

// WithSealKey sets the secret that seals snapshots: at least 32 bytes. Without one
// there are no snapshots.
func WithSealKey(key []byte) Option { return func(c *config) { c.seal = bytes.Clone(key) } }

// WithClock replaces the wall clock of records and approvals. Deadlines run on
// the monotonic clock of package time.
func WithClock(now func() time.Time) Option { return func(c *config) { c.now = now } }

// WithEntropy replaces the source of the random part of proposal ids. It is used
// from several goroutines at once.
func WithEntropy(r io.Reader) Option { return func(c *config) { c.entropy = r } }

// WithDenyMode says how denials are returned, whatever the policy file says.
func WithDenyMode(m DenyMode) Option { return func(c *config) { c.denyMode = m } }

// WithLimits changes deadlines.
func WithLimits(l Limits) Option { return func(c *config) { c.limits = l } }

func configure(opts []Option) (*config, error) {
	c := &config{now: time.Now, entropy: newRandomness()}
	for _, o := range opts {
		o(c)
	}
	c.limits = c.limits.withDefaults()
	if c.now == nil || c.entropy == nil {
		return nil, errors.New("gate: clock and entropy must not be nil")
	}
	if c.judge != nil && c.onError != stopgate.Deny && c.onError != stopgate.Ask {
		return nil, fmt.Errorf("gate: a failed judge means deny or ask, not %s", c.onError)
	}
	if c.seal != nil && len(c.seal) < 32 {
		return nil, errors.New("gate: the key of snapshots needs 32 bytes or more")
	}
	names := map[string]bool{}
	for _, p := range c.handoffs {
		if p == nil || p.Name() == "" || names["handoff "+p.Name()] {
			return nil, errors.New("gate: every handoff policy needs a name of its own")
		}
		names["handoff "+p.Name()] = true
	}
	if c.registry == nil {
		c.registry = session.NewRegistry()
	}
	for _, p := range c.policies {
		if p == nil || p.Name() == "" || names[p.Name()] {
			return nil, errors.New("gate: every tool policy needs a name of its own")
		}
		names[p.Name()] = true
	}
	return c, nil
}
