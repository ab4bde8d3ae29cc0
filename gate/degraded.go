package gate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// uncertainSessions are the sessions whose state may lack a result, as long as the store did
// not take that in (FM16). Too many of them make every session uncertain.
type uncertainSessions struct {
	some   atomic.Bool // there was one: almost always there never is
	mu     sync.Mutex
	owners map[session.Owner]bool
	all    bool
}

// maxUncertain bounds how many sessions are kept apart.
const maxUncertain = 4096

func (d *uncertainSessions) add(o session.Owner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.some.Store(true)
	if d.owners == nil {
		d.owners = make(map[session.Owner]bool)
	}
	if len(d.owners) >= maxUncertain {
		d.all = true
		return
	}
	d.owners[o] = true
}

func (d *uncertainSessions) has(o session.Owner) bool {
	if !d.some.Load() {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.all || d.owners[o]
}

func (d *uncertainSessions) drop(o session.Owner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.owners, o)
}

func (d *uncertainSessions) list() []session.Owner {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.owners))
}

func (d *uncertainSessions) count() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.owners))
}

// uncertain reports whether governed calls of the session are denied until an operator
// reconciles it.
func (g *Gate) uncertain(o session.Owner, s session.State) bool {
	self, _ := s.Cell(session.Self)
	return self.Self != nil && self.Self.Degraded || g.uncertainSessions.has(o)
}

// degrade remembers that a result could not be stored. If the store does not take that
// either, [Gate.Mend] writes it later.
func (g *Gate) degrade(ctx context.Context, o session.Owner) {
	g.uncertainSessions.add(o)
	if g.append(ctx, o, session.Fact{Kind: session.Degraded}) == nil {
		g.uncertainSessions.drop(o)
	}
}

// settle writes to the store which sessions are uncertain, so that an operator can reconcile
// them from another process, and a restart does not forget them. It reports whether none is
// left.
func (g *Gate) settle(ctx context.Context) bool {
	for _, o := range g.uncertainSessions.list() {
		if g.append(ctx, o, session.Fact{Kind: session.Degraded}) != nil {
			return false
		}
		g.uncertainSessions.drop(o)
	}
	return true
}

// ErrNoStore is the error of operations that need a [Store].
var ErrNoStore = errors.New("gate: no store of sessions: see WithStore")

// append writes facts without a check.
func (g *Gate) append(ctx context.Context, o session.Owner, facts ...session.Fact) error {
	if g.store == nil {
		return ErrNoStore
	}
	var keys []session.Key
	for i := range facts {
		facts[i].At = g.now().UnixMilli()
		keys = append(keys, facts[i].Keys()...)
	}
	r := update(ctx, g, o, distinct(keys), func(session.State) (Change, struct{}, error) {
		return Change{Facts: facts}, struct{}{}, nil
	})
	return r.problem("session")
}

// problem is the error of a call to the store.
func (r reply[T]) problem(what string) error {
	switch r.fault {
	case none:
		return nil
	case failed, gone:
		return r.err
	case late:
		return fmt.Errorf("%s: the store did not answer in time; the machine or the disk is busy, try again", what)
	}
	return errors.New(what + ": the store: " + r.fault.String())
}

// Reconcile records an operator's decision that a session which is uncertain, or stopped
// after too many denials, continues with the facts it has.
func (g *Gate) Reconcile(ctx context.Context, o session.Owner, by string) error {
	if err := g.append(ctx, o, session.Fact{Kind: session.Reconciled, By: by}); err != nil {
		return err
	}
	g.uncertainSessions.drop(o)
	return g.Note(ctx, stopgate.Record{Event: stopgate.AuditReconciled, Session: o.Session, Principal: o.Principal, Cause: by})
}

// Spoke records that the user sent a message: the count of denials starts again, and declined
// calls may be asked about again (S27, S28).
func (g *Gate) Spoke(ctx context.Context, o session.Owner) error {
	return g.append(ctx, o, session.Fact{Kind: session.Spoke})
}

// Approved records a named approval in a session, for policies that require one (TPS-39). An approval satisfies a policy; it never runs a call.
func (g *Gate) Approved(ctx context.Context, o session.Owner, name, by string) error {
	if name == "" || by == "" {
		return errors.New("gate: record approval: name and approver must not be empty")
	}
	return g.append(ctx, o, session.Fact{Kind: session.Approved, Name: name, By: by})
}

// SetData replaces the session's data, one JSON object, which `when` conditions look
// at. It is the program's or operator's to set, never the model's.
func (g *Gate) SetData(ctx context.Context, o session.Owner, object []byte) error {
	text, err := dataText(object)
	if err != nil {
		return err
	}
	return g.append(ctx, o, session.Fact{Kind: session.DataReplaced, Text: text})
}

// maxData bounds the session's data.
const maxData = 64 << 10

func dataText(object []byte) (string, error) {
	if len(object) > maxData {
		return "", errors.New("gate: set session data: larger than 64 KiB")
	}
	v, err := jsonstream.Parse(object, jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return "", fmt.Errorf("gate: set session data: %w", err)
	}
	return string(v.Raw()), nil
}
