package gate_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// fleetStore is a store of gates on several machines: it has a clock, and an order that the gate
// has not seen.
type fleetStore struct {
	*mem.Store
	now   time.Time
	order gate.Lockdown
	down  error
	fleet bool
}

func (s *fleetStore) Capabilities() gate.Capabilities {
	return gate.Capabilities{Fleet: s.fleet, Clock: func() time.Time { return s.now }}
}

func (s *fleetStore) Load(ctx context.Context, o session.Owner, keys []session.Key) (session.State, error) {
	state, err := s.Store.Load(ctx, o, keys)
	state.Now = s.now.UnixMilli()
	return state, errors.Join(err, s.down)
}

func (s *fleetStore) Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	if s.down != nil {
		return s.down
	}
	return s.Store.Update(ctx, o, keys, func(state session.State) (gate.Change, error) {
		state.Now = s.now.UnixMilli()
		change, err := decide(state)
		if err == nil && change.Releases && s.order.Active() {
			return change, &gate.LockdownError{Lockdown: s.order}
		}
		return change, err
	})
}

// Proves S59: an order that only the store has seen denies the call in the step of the release,
// alone and together with others, and leaves neither a fact nor a withdrawal.
func TestOrderInTheStepOfTheRelease(t *testing.T) {
	var rec ports.Recorder
	store := &fleetStore{Store: mem.New(), now: time.UnixMilli(5000), order: stop, fleet: true}
	g := newGate(t, gate.WithRecorder(&rec), gate.WithStore(store))
	out, _ := g.Decide(ctx, stopgate.Call{Tool: "free", Session: "s", Args: []byte(`{}`)})
	want(t, out, stopgate.Denied, stopgate.CodeLockdown)
	if g.Lockdown().Active() {
		t.Error("the gate is under an order that it has not followed")
	}
	if rows := rec.Rows(); len(rows) != 1 || rows[0].Code != stopgate.CodeLockdown || rows[0].Status != stopgate.StatusDenied {
		t.Errorf("rows %+v", rows)
	}
	var calls []*gate.Pending
	for range 2 {
		p := openCall(t, g, "free")
		p.Feed([]byte(`{}`))
		p.Close(stopgate.Ended)
		calls = append(calls, p)
	}
	for _, out := range g.ResolveAll(ctx, calls) {
		want(t, out, stopgate.Denied, stopgate.CodeLockdown)
	}
	if facts, err := store.Facts(ctx, session.Owner{Session: "s"}, 0, 10); err != nil || len(facts) != 0 {
		t.Errorf("facts %+v, %v", facts, err)
	}
}

// Proves FM2: no call is released while a store of a fleet does not answer, also if no session
// policy governs it: the order cannot be known.
func TestFleetStoreThatIsDown(t *testing.T) {
	for _, fleet := range []bool{true, false} {
		var rec ports.Recorder
		store := &fleetStore{Store: mem.New(), down: errors.New("no route"), fleet: fleet}
		g := newGate(t, gate.WithRecorder(&rec), gate.WithStore(store))
		out, _ := g.Decide(ctx, stopgate.Call{Tool: "free", Session: "s", Args: []byte(`{}`)})
		if !fleet {
			if !out.Allowed() {
				t.Errorf("a store of one machine: %+v", out.Verdict)
			}
			continue
		}
		want(t, out, stopgate.Denied, stopgate.CodeStoreUnavailable)
	}
}

// Records have the time of the store, unless the gate was given another clock.
func TestClockOfTheStore(t *testing.T) {
	stored, own := time.UnixMilli(10_000_000), time.UnixMilli(99_000_000)
	for _, c := range []struct {
		opts []gate.Option
		want time.Time
	}{{nil, stored}, {[]gate.Option{gate.WithClock(func() time.Time { return own })}, own}} {
		var rec ports.Recorder
		g := newGate(t, append(c.opts, gate.WithRecorder(&rec), gate.WithStore(&fleetStore{Store: mem.New(), now: stored, fleet: true}))...)
		decide(t, g, "free", `{}`)
		if rows := rec.Rows(); len(rows) != 1 || !rows[0].Time.Equal(c.want) {
			t.Errorf("rows %+v, want the time %v", rows, c.want)
		}
	}
}

// Facts have the time of the store, and windows of limits are those of the store: a gate whose
// clock is wrong counts as the others do.
func TestTimeOfTheStore(t *testing.T) {
	store := &fleetStore{Store: mem.New(), now: time.UnixMilli(10_000_000), fleet: true}
	gateTime := time.UnixMilli(99_000_000)
	g := fileGate(t, `version = 1
[tools.deploy.policy]
run = "unattended"
[[session]]
type = "limit"
tools = "deploy"
max_calls = 1
within = "1m"
`, gate.WithStore(store), gate.WithClock(func() time.Time { return gateTime }))
	for i, c := range []struct {
		after time.Duration
		gate  time.Duration
		allow bool
	}{{0, 0, true}, {time.Second, time.Hour, false}, {2 * time.Minute, -time.Hour, true}, {0, 24 * time.Hour, false}} {
		store.now, gateTime = store.now.Add(c.after), gateTime.Add(c.gate)
		out, _ := g.Decide(ctx, stopgate.Call{Tool: "deploy", Session: "s", Args: []byte(`{}`)})
		if out.Allowed() != c.allow {
			t.Errorf("call %d: %+v", i, out.Verdict)
		}
	}
	facts, err := store.Facts(ctx, session.Owner{Session: "s"}, 0, 10)
	if err != nil || len(facts) == 0 {
		t.Fatal(facts, err)
	}
	for _, f := range facts {
		if f.At < 10_000_000 || f.At > store.now.UnixMilli() {
			t.Errorf("fact %s at %d", f.Kind, f.At)
		}
	}
}
