package gate

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate"
)

// Lockdown is an operator's order to deny everything (S59). The zero
// Lockdown is no order.
type Lockdown struct {
	Since  time.Time `json:"since,omitzero"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// Active reports whether there is an order.
func (l Lockdown) Active() bool { return !l.Since.IsZero() }

// Lockdowns keeps the order for all gates that share a store.
type Lockdowns interface {
	// Lockdown returns the order, or the zero Lockdown.
	Lockdown(ctx context.Context) (Lockdown, error)
	// SetLockdown gives an order, or with the zero Lockdown takes it back. It is
	// durable when the method returns.
	SetLockdown(ctx context.Context, l Lockdown) error
}

// LockdownError refuses a change that releases a call, because of an order.
type LockdownError struct{ Lockdown }

// Error returns the text of the error.
func (e *LockdownError) Error() string {
	return strings.TrimSuffix("gate: release a call: every call is denied by an order: "+e.Reason, ": ")
}

// lockdown is the current order of a gate, and the calls that wait for an approver.
type lockdown struct {
	now atomic.Pointer[Lockdown]

	mu    sync.Mutex
	asked map[*pending]bool

	// ordering is held from the store's order to the gate's, so that Follow does not
	// report an order of this gate as a change of another.
	ordering sync.Mutex
}

func (l *lockdown) active() bool {
	now := l.now.Load()
	return now != nil && now.Active()
}

// add registers a call that waits for an approver. It reports false under a lockdown.
func (l *lockdown) add(p *pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active() {
		return false
	}
	if l.asked == nil {
		l.asked = make(map[*pending]bool)
	}
	l.asked[p] = true
	return true
}

// open returns the number of calls that wait for an approver.
func (l *lockdown) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.asked)
}

func (l *lockdown) remove(p *pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.asked, p)
}

// set stores an order and returns the calls that it ends.
func (l *lockdown) set(now Lockdown) (ended []*pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now.Store(&now)
	if !now.Active() {
		return nil
	}
	for p := range l.asked {
		ended = append(ended, p)
	}
	return ended
}

// Lock puts the gate under an order: until it is taken back with the zero Lockdown,
// every call is denied with the code lockdown, also under a policy that only observes.
// Calls that wait for people are denied at once, calls whose arguments still arrive at
// their end at the latest. A call whose row is being written when Lock is called may
// still leave; so may those of a response that an observing gate is letting pass.
func (g *Gate) Lock(l Lockdown) {
	for _, p := range g.lock.set(l) {
		p.mu.Lock()
		if p.stage < committed {
			p.applyLockdown()
		}
		p.mu.Unlock()
	}
}

// Lockdown returns the order that the gate is under.
func (g *Gate) Lockdown() Lockdown {
	if l := g.lock.now.Load(); l != nil {
		return *l
	}
	return Lockdown{}
}

// unreadable is the reason of a lockdown because the order cannot be read.
const unreadable = "the store with the orders cannot be read"

// Follow applies the order of a store to the gate until ctx ends. It reads the order at once
// and then at the interval every. changed, which may be nil, is called for every change. An
// order that cannot be read counts as given.
func (g *Gate) Follow(ctx context.Context, from Lockdowns, every time.Duration, changed func(Lockdown)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		g.look(ctx, from, changed)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (g *Gate) look(ctx context.Context, from Lockdowns, changed func(Lockdown)) {
	g.lock.ordering.Lock()
	defer g.lock.ordering.Unlock()
	now, err := from.Lockdown(ctx)
	before := g.Lockdown()
	switch {
	case ctx.Err() != nil:
		return
	case err != nil && before.Active():
		return
	case err != nil:
		now = Lockdown{Since: g.now(), Reason: unreadable}
	}
	if now.Since.Equal(before.Since) && now.By == before.By && now.Reason == before.Reason {
		return
	}
	g.Lock(now)
	if changed != nil {
		changed(now)
	}
}

// Order gives an order in the store that gates follow, or takes it back, puts this
// gate under it, and writes the event row. by names the operator.
func (g *Gate) Order(ctx context.Context, in Lockdowns, l Lockdown, by string) error {
	if by == "" {
		return errors.New("gate: order lockdown: the operator must not be empty")
	}
	g.lock.ordering.Lock()
	err := in.SetLockdown(ctx, l)
	if err == nil {
		g.Lock(l)
	}
	g.lock.ordering.Unlock()
	if err != nil {
		return err
	}
	return g.Note(ctx, LockdownRow(l, by))
}

// LockdownRow returns the event row of an order that was given or taken back.
func LockdownRow(l Lockdown, by string) stopgate.Record {
	r := stopgate.Record{Event: stopgate.AuditLifted, Cause: l.Reason}
	if l.Active() {
		r.Event = stopgate.AuditLockdown
	}
	if by != "" {
		r.Cause = strings.TrimSuffix("by "+by+": "+l.Reason, ": ")
	}
	return r
}

// applyLockdown denies the call under a lockdown; p.mu is held. A call in observe mode has been
// forwarded already.
func (p *pending) applyLockdown() {
	if !p.verdicts.terminal && !p.under.observe && p.g.lock.active() {
		p.addLockdown(p.g.Lockdown())
	}
}

// addLockdown denies the call by an order; p.mu is held.
func (p *pending) addLockdown(l Lockdown) {
	p.verdicts.cause = l.Reason
	p.addVerdict(p.refusal(stopgate.LayerGate, stopgate.CodeLockdown))
}
