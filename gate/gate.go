package gate

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/auditlog"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/internal/gate/recent"
	"github.com/stopgate/stopgate/internal/gate/turn"
	"github.com/stopgate/stopgate/session"
)

// Errors of misuse. None of them is a decision.
var (
	ErrNoPolicy = errors.New("gate: no policy")
	ErrArgs     = errors.New("gate: open call: Args must be nil: use Feed, or Decide")
	ErrOpen     = errors.New("gate: resolve call: arguments not closed: call Close first")
	ErrResolved = errors.New("gate: resolve call: already resolved")
	ErrNoAsk    = errors.New("gate: ask: the verdict does not require an approval")
)

// Gate decides tool calls under one policy at a time. It is safe for concurrent
// use, and calls do not influence each other (I13).
type Gate struct {
	config
	current  atomic.Pointer[compiled]
	audit    *auditlog.Writer
	sessions *sessionStore
	texts    conversations
	lock     lockdown
	rejected atomic.Bool // the newest policy was rejected

	released  recent.Map[stopgate.ProposalID, *release] // calls that wait for their result
	unmatched recent.Map[unmatched, struct{}]           // results of calls that were not released
	turns     recent.Map[turnKey, *turn.State]
	used      approvals

	rows           bool // there is a recorder or a tracer
	goPolicies     bool // there are policies in Go
	keepsArguments bool // the recorder stores arguments with the rows
	guards         struct{ approver, judge, policies, tracer port.Guard }
}

// New returns a gate for a compiled policy.
func New(p Policy, opts ...Option) (*Gate, error) {
	if absent(p) {
		return nil, ErrNoPolicy
	}
	c, err := configure(opts)
	if err != nil {
		return nil, err
	}
	g := newGate(c)
	first, err := g.compile(p)
	if err != nil {
		return nil, err
	}
	g.current.Store(first)
	for _, c := range first.all() {
		g.reportIdle(c, g.registry.Set())
	}
	return g, nil
}

// absent reports whether there is no policy: a nil interface, or a nil pointer in one, as a
// compiler returns it with its errors.
func absent(p Policy) bool {
	if p == nil {
		return true
	}
	v := reflect.ValueOf(p)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func newGate(c *config) *Gate {
	g := &Gate{config: *c, rows: c.recorder != nil || c.tracer != nil, goPolicies: len(c.policies)+len(c.handoffs) > 0}
	audit := auditlog.Config{Limit: c.limits.Record, Now: c.now, Notify: g.notifyTracer, Trouble: func(f port.Fault, err error) { g.reportTrouble("recorder", "", f, err) }}
	if c.recorder != nil {
		can := c.recorder.Capabilities()
		g.keepsArguments = can.KeepsArguments
		audit.Record, audit.RecordAll, audit.Spool, audit.Spooled, audit.Punctual = c.recorder.Record, can.RecordAll, can.Spool, can.Spooled, can.Punctual
		audit.Stall = port.NewStall(can.Progress.Advanced, can.Progress.Share, can.Spooled, can.Progress.limit(c.limits))
	}
	g.audit, g.sessions = auditlog.New(audit), newSessionStore(c, audit.Stall)
	g.texts = newConversations(g.sessions, g.reportTexts)
	g.registry.Watch(func(change string, next *session.Set) {
		g.Note(context.Background(), stopgate.Record{Event: stopgate.AuditReload, Cause: "session policies: " + change})
		if now := g.current.Load(); now != nil {
			for _, c := range now.all() {
				g.reportIdle(c, next)
			}
		}
	})
	return g
}

// Open begins a call without Args, which arrive through Feed. The verdict may be known at
// once: see [Pending.Verdict]. After an error there is no proposal, and the call must not
// run. Every opened proposal ends in Resolve or Cancel; `defer p.Cancel(ctx)` ensures it.
func (g *Gate) Open(ctx context.Context, call stopgate.Call) (*Pending, error) {
	return g.openIn(ctx, g.turnState(owner(&call), call.Turn), call)
}

func (g *Gate) openIn(ctx context.Context, t *turn.State, call stopgate.Call) (*Pending, error) {
	p, err := g.open(ctx, t, call, "")
	if err != nil {
		return nil, err
	}
	handle := &Pending{p}
	runtime.AddCleanup(handle, func(p *pending) { go p.dropped() }, p)
	return handle, nil
}

// Decide is Open, Feed, Close and Resolve for complete arguments. Empty arguments are
// malformed (K50), unless the tool's dialect defines empty text as no arguments.
func (g *Gate) Decide(ctx context.Context, call stopgate.Call) (stopgate.Outcome, error) {
	var t *turn.State
	if call.Turn != "" {
		t = g.turnState(owner(&call), call.Turn)
	}
	return g.decideIn(ctx, t, call)
}

// decideIn decides a call in a turn; nil is a turn of its own.
func (g *Gate) decideIn(ctx context.Context, t *turn.State, call stopgate.Call) (stopgate.Outcome, error) {
	args := call.Args
	call.Args = nil
	p, err := g.open(ctx, t, call, "")
	if err != nil {
		return stopgate.Outcome{}, err
	}
	p.Feed(args)
	p.Close(stopgate.Ended)
	return p.Resolve(ctx)
}

// Swap puts another policy into force (FM11). Open calls continue under the policy that
// they began with and must also pass the new one before they are released (S16). Session
// policies of the file are enabled or disabled as in the new file. After an error the old
// policy is still in force.
func (g *Gate) Swap(p Policy) error {
	if absent(p) {
		return ErrNoPolicy
	}
	next, err := g.compile(p)
	if err == nil {
		g.rejected.Store(false)
		for _, c := range next.all() {
			g.reportIdle(c, g.registry.Set())
		}
		if before := g.current.Swap(next); before.hash != next.hash || !sameBundle(before.bundle, next.bundle) {
			g.audit.Note(context.Background(), stopgate.Record{Event: stopgate.AuditReload, Policy: next.hash, Bundle: next.bundle, Cause: "before: " + before.hash})
		}
	}
	return err
}

func sameBundle(a, b *stopgate.Bundle) bool { return a == b || a != nil && b != nil && *a == *b }

// Reject records that a new policy is invalid and that the current one stays in force (FM11,
// FM12). It writes a row, and [Health.Rejected] is true until the next Swap. cause is a
// detail for the row, such as the line of the error.
func (g *Gate) Reject(ctx context.Context, cause string) {
	g.rejected.Store(true)
	_ = g.Note(ctx, stopgate.Record{Event: stopgate.AuditReload, Code: stopgate.CodeConfigReloadRejected, Cause: cause}) // one that is lost is counted
}

// PolicyHash identifies the policy in force (S36), in a roll-out in steps that of the sessions that
// it has reached.
func (g *Gate) PolicyHash() string { return g.current.Load().hash }

// Enforced reports whether calls are held back; false in observe mode, if there is no
// [Lockdown]. An open call goes by its own [Pending.Enforced].
func (g *Gate) Enforced() bool {
	return g.lock.active() || slices.ContainsFunc(g.current.Load().all(), func(c *compiled) bool { return !c.observe })
}

// Note writes an event row of a surface: release_failed, not_evaluated and the
// like. Kind, Version, Time and an empty Policy are set here; names are cut and
// cleaned as in decision rows. A row that cannot be written is counted.
func (g *Gate) Note(ctx context.Context, r stopgate.Record) error {
	if r.Policy == "" {
		now := g.current.Load()
		if r.Session != "" {
			now = now.of(r.Session)
		}
		r.Policy, r.Bundle = now.hash, now.bundle
	}
	return g.audit.Note(ctx, r)
}

// Health describes the state of the gate's ports for operators.
type Health struct {
	// LostRows counts the audit rows that could not be written since the last one
	// that could. While it is not zero, no call is allowed.
	LostRows int64
	// LostBecause is the recorder's error for the lost or spooled rows.
	LostBecause error
	// Spooled reports that rows wait in a spool until the recorder accepts them (see
	// [Capabilities]).
	Spooled bool
	// Stuck counts calls to ports that overran their deadline and have not
	// returned yet.
	Stuck int64
	// Uncertain counts the sessions whose state may lack a result that the store did
	// not take (FM16).
	Uncertain int64
	// TextsLost counts the conversations in memory of which texts are missing: conditions on
	// origins are in doubt there.
	TextsLost int64
	// Rejected reports that the newest policy is not in force because it is invalid.
	Rejected bool
}

// Degraded reports whether any port fails, a policy was rejected or rows are spooled.
func (h Health) Degraded() bool { return h.Failing() || h.Rejected || h.Spooled }

// Failing reports whether calls are denied that the policy would let run.
func (h Health) Failing() bool { return h.LostRows > 0 || h.Stuck > 0 || h.Uncertain > 0 }

// Health reports the state of the ports (FM4, FM14).
func (g *Gate) Health() Health {
	h := Health{Stuck: g.audit.Stuck() + g.sessions.guard.Stuck(), Rejected: g.rejected.Load(), Uncertain: g.sessions.uncertain.count(), TextsLost: g.texts.keeper.Missing()}
	h.LostRows, h.Spooled, h.LostBecause = g.audit.Health()
	for _, p := range []*port.Guard{&g.guards.approver, &g.guards.judge, &g.guards.policies, &g.guards.tracer} {
		h.Stuck += p.Stuck()
	}
	h.Stuck = max(h.Stuck, 0)
	return h
}

// Mend tries to record the number of lost rows (FM4) and to store which sessions are
// uncertain (FM16), and reports whether both succeeded. Every call does the former before
// its own row; a gate without calls needs Mend to recover its [Health].
func (g *Gate) Mend(ctx context.Context) bool {
	mended := g.audit.CloseGap(context.WithoutCancel(ctx))
	return g.sessions.settle(ctx) && mended
}

// denial is the error that goes with an outcome in deny mode throw. over is the mode that
// overrides that of the policy.
func (c *compiled) denial(over DenyMode, kind Kind, o *stopgate.Outcome) error {
	if over == DenyByPolicy {
		over = c.denyMode
	}
	if o.Status != stopgate.Denied || over == DenyToolResult {
		return nil
	}
	return &Denied{Kind: kind, Outcome: *o}
}
