package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
	"github.com/stopgate/stopgate/internal/testkit/talks"
)

// State runs every suite of a store on stores that open makes, each empty. reopen opens again
// what a store keeps; nil for a store that keeps nothing.
func State(t *testing.T, open func(t *testing.T) backend.State, reopen approvals.Reopener) {
	t.Run("Facts", func(t *testing.T) { Facts(t, func(t *testing.T) gate.Store { return open(t) }) })
	t.Run("Approvals", func(t *testing.T) {
		approvals.Test(t, func(t *testing.T) approve.Store { return open(t) }, reopen)
	})
	t.Run("Conversations", func(t *testing.T) { talks.Run(t, func(t *testing.T) conversation.Store { return open(t) }) })
	t.Run("Texts", func(t *testing.T) { Texts(t, func(t *testing.T) gate.Store { return open(t) }) })
	t.Run("Lockdown", func(t *testing.T) {
		s := open(t)
		lockdown(t, s, s)
	})
}

// Shared runs the suites of a store that several processes open at one location. locate returns
// the location of an empty store.
func Shared(t *testing.T, locate func(t *testing.T) string, open func(ctx context.Context, location string) (backend.Store, error)) {
	at := map[approve.Store]string{}
	openAt := func(t *testing.T, location string) backend.Store {
		t.Helper()
		s, err := open(ctx, location)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		at[s] = location
		return s
	}
	State(t, func(t *testing.T) backend.State { return openAt(t, locate(t)) },
		func(t *testing.T, s approve.Store) approve.Store { return openAt(t, at[s]) })
	for name, run := range map[string]func(t *testing.T, open func() backend.Store){"SharedLockdown": sharedLockdown, "Objections": objections, "Responses": responses, "SharedTexts": sharedTexts, "Fleet": fleet} {
		t.Run(name, func(t *testing.T) {
			location := locate(t)
			run(t, func() backend.Store { return openAt(t, location) })
		})
	}
	t.Run("Newest", func(t *testing.T) {
		s := openAt(t, locate(t))
		if at, err := s.Newest(ctx); err != nil || !at.IsZero() || s.Err() != nil {
			t.Errorf("an empty store: newest record at %v, %v, failed with %v", at, err, s.Err())
		}
	})
}

// Proves S59: a lockdown is seen by every process that shares the store, and survives them.
func sharedLockdown(t *testing.T, open func() backend.Store) {
	one := open()
	lockdown(t, one, open())
	want, err := one.Lockdown(ctx)
	if again, againErr := open().Lockdown(ctx); err != nil || againErr != nil || again != want || !again.Active() {
		t.Errorf("opened again: %+v, %v, want %+v, %v", again, againErr, want, err)
	}
}

func lockdown(t *testing.T, one, other gate.Lockdowns) {
	wants := func(want gate.Lockdown) {
		t.Helper()
		if got, err := other.Lockdown(ctx); err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	wants(gate.Lockdown{})
	order := gate.Lockdown{Since: time.UnixMicro(1_700_000_000_000_001).UTC(), By: "ann", Reason: "look"}
	for _, l := range []gate.Lockdown{order, {Since: order.Since.Add(time.Second), By: "bob"}, {}, order} {
		if err := one.SetLockdown(ctx, l); err != nil {
			t.Fatal(err)
		}
		wants(l)
	}
}

// Proves S27: an objection is found again by every process that shares the store, until it is a
// day old.
func objections(t *testing.T, open func() backend.Store) {
	one, two := open(), open()
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	a, b := [32]byte{1}, [32]byte{2}
	for _, p := range []float64{0.5, 0.9} {
		if err := one.SaveObjection(ctx, a, p, "It deletes.", at); err != nil {
			t.Fatal(err)
		}
	}
	p, why, when, found, err := two.Objection(ctx, a)
	if err != nil || !found || p != 0.9 || why != "It deletes." || !when.Equal(at) {
		t.Errorf("%v %q %v %v %v", p, why, when, found, err)
	}
	if _, _, _, found, err := two.Objection(ctx, b); found || err != nil {
		t.Errorf("an objection to another proposal is found, %v", err)
	}
	if err := two.SaveObjection(ctx, b, 1, "", at.Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, _, _, found, _ := one.Objection(ctx, a); found {
		t.Error("an old objection is kept")
	}
}

// Proves W47, H17: entries of responses are seen by every process, belong to one principal, and
// are pruned together with arguments.
func responses(t *testing.T, open func() backend.Store) {
	one := open()
	for _, entries := range []map[string][]byte{{"a": []byte("1"), "b": []byte("2")}, {"a": []byte("3")}} {
		if err := one.PutLogEntries(ctx, "p", entries); err != nil {
			t.Fatal(err)
		}
	}
	two := open()
	wants := func(want map[string]string) {
		t.Helper()
		for _, key := range []string{"a", "b", "c"} {
			if text, err := two.LogEntry(ctx, "p", key); err != nil || string(text) != want[key] {
				t.Errorf("entry %s: %q, %v, want %q", key, text, err, want[key])
			}
		}
		if text, err := two.LogEntry(ctx, "other", "a"); err != nil || len(text) > 0 {
			t.Errorf("the entry of another principal: %q, %v", text, err)
		}
	}
	wants(map[string]string{"a": "3", "b": "2"})
	now := time.Now()
	keep := backend.Retention{Rows: now.Add(-time.Hour), Arguments: now.Add(-time.Minute)}
	if _, err := one.Retain(ctx, keep, now); err != nil {
		t.Fatal(err)
	}
	wants(map[string]string{"a": "3", "b": "2"})
	keep.Arguments = now.Add(time.Minute)
	if pruned, err := one.Retain(ctx, keep, now); err != nil || pruned.Responses != 2 {
		t.Errorf("pruned %+v, %v, want two entries", pruned, err)
	}
	wants(nil)
}
