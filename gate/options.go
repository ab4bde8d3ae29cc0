package gate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/rows"
	"github.com/stopgate/stopgate/session"
)

// Limits are deadlines. A zero field takes its default.
type Limits struct {
	Policy    time.Duration // one tool policy: 50 ms
	Store     time.Duration // one call of the [Store]: 250 ms
	Judge     time.Duration // the judge: 10 s
	Record    time.Duration // one audit row: 1 s
	Abilities time.Duration // Approver.Abilities: 1 s
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

// config holds the options of [New]. A nil port is an absent layer.
type config struct {
	recorder  Recorder
	approver  Approver
	alerter   Alerter
	judge     Judge
	onError   stopgate.Mode // of the judge
	judges    func(*JudgeTable) (Judge, error)
	externals func(*ExternalTable) (External, error)
	policies  []ToolPolicy
	handoffs  []HandoffPolicy
	store     Store
	registry  *session.Registry
	tracer    *tracing
	seal      sealKey
	now       func() time.Time
	clock     bool // now was set
	entropy   io.Reader
	denyMode  DenyMode
	limits    Limits
	bindings  *Bindings
	trouble   func(Trouble)
}

// Option configures a [Gate].
type Option func(*config)

// WithRecorder makes the gate write an audit row for every proposal, before the call is
// released. Without a recorder there is no audit.
func WithRecorder(r Recorder) Option { return func(c *config) { c.recorder = r } }

// WithApprover sets the approver for ask and edit. Without one they deny no_approver. An
// approver that is an [Alerter] also gets the alerts.
func WithApprover(a Approver) Option {
	return func(c *config) {
		c.approver = a
		if alerter, ok := a.(Alerter); ok && c.alerter == nil {
			c.alerter = alerter
		}
	}
}

// WithAlerter sets who is notified of stopped sessions, where that is not the approver itself.
func WithAlerter(a Alerter) Option { return func(c *config) { c.alerter = a } }

// WithJudge adds a judge of every call, in addition to those of policy files. onError is the
// mode of a call when the judge fails: Deny, or Ask to let a person decide (FM1).
func WithJudge(j Judge, onError stopgate.Mode) Option {
	return func(c *config) { c.judge, c.onError = j, onError }
}

// WithJudges sets the function that makes the judges of policy files ([judge]), such as
// [github.com/stopgate/stopgate/judge.Factory.Judge]. It is called by New and by Swap,
// which fail if it does. Without it the calls that those judges govern are denied, or
// asked about, with judge_unavailable: a review that did not happen never counts as passed.
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

// WithBindings shares the compiled rules of each tool with other gates.
func WithBindings(b *Bindings) Option { return func(c *config) { c.bindings = b } }

// WithStore keeps the facts of sessions. Without a store the tools that a session
// policy governs are denied store_unavailable.
func WithStore(s Store) Option { return func(c *config) { c.store = s } }

// WithSessionPolicies adds the session policies of a registry after those of the policy file.
// Later changes apply to turns that begin later.
func WithSessionPolicies(r *session.Registry) Option { return func(c *config) { c.registry = r } }

// WithSealKey sets the secret that seals snapshots: at least 32 bytes. Without one
// there are no snapshots.
func WithSealKey(key []byte) Option { return func(c *config) { c.seal = bytes.Clone(key) } }

// WithClock replaces the wall clock of records and approvals: that of the store of a
// fleet, or of the machine. Deadlines run on the monotonic clock of package time.
func WithClock(now func() time.Time) Option { return func(c *config) { c.now, c.clock = now, true } }

// WithEntropy replaces the source of the random part of proposal ids. It is used
// from several goroutines at once.
func WithEntropy(r io.Reader) Option { return func(c *config) { c.entropy = r } }

// WithDenyMode sets how denials are returned. It overrides the policy file.
func WithDenyMode(m DenyMode) Option { return func(c *config) { c.denyMode = m } }

// WithLimits sets deadlines.
func WithLimits(l Limits) Option { return func(c *config) { c.limits = l } }

func configure(opts []Option) (*config, error) {
	c := &config{now: time.Now, entropy: rows.NewEntropy()}
	for _, o := range opts {
		o(c)
	}
	if c.store != nil && !c.clock {
		if now := c.store.Capabilities().Clock; now != nil {
			c.now = now
		}
	}
	c.limits = c.limits.withDefaults()
	if c.now == nil || c.entropy == nil {
		return nil, errors.New("gate: new: clock and entropy must not be nil")
	}
	if c.judge != nil && c.onError != stopgate.Deny && c.onError != stopgate.Ask {
		return nil, fmt.Errorf("gate: new: invalid onError %s of the judge: want deny or ask", c.onError)
	}
	if c.seal != nil && len(c.seal) < 32 {
		return nil, errors.New("gate: new: seal key too short: want at least 32 bytes")
	}
	names := map[string]bool{}
	for _, p := range c.handoffs {
		if p == nil || p.Name() == "" || names["handoff "+p.Name()] {
			return nil, errors.New("gate: new: handoff policy without a unique name")
		}
		names["handoff "+p.Name()] = true
	}
	if c.registry == nil {
		c.registry = session.NewRegistry()
	}
	for _, p := range c.policies {
		if p == nil || p.Name() == "" || names[p.Name()] {
			return nil, errors.New("gate: new: tool policy without a unique name")
		}
		names[p.Name()] = true
	}
	return c, nil
}
