package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/backend"
)

// The highest generation of a channel stays, whoever accepts another one, and every process that
// shares the store sees which gate runs what.
func fleet(t *testing.T, open func() backend.Store) {
	one, two := open(), open()
	at := time.UnixMicro(1_700_000_000_000_001).UTC()
	accept := func(s backend.Store, channel string, b, want stopgate.Bundle) {
		t.Helper()
		if got, err := s.AcceptBundle(ctx, channel, b, at); err != nil || got != want {
			t.Errorf("%s accepts %v: %v, %v; want %v", channel, b, got, err, want)
		}
	}
	three, four, other := stopgate.Bundle{Generation: 3, Digest: "c"}, stopgate.Bundle{Generation: 4, Digest: "d"}, stopgate.Bundle{Generation: 4, Digest: "x"}
	accept(one, "a", stopgate.Bundle{}, stopgate.Bundle{})
	accept(one, "a", three, three)
	accept(two, "a", stopgate.Bundle{}, three)
	accept(two, "a", four, four)
	accept(one, "a", three, four)
	accept(one, "a", other, four)
	accept(one, "b", stopgate.Bundle{}, stopgate.Bundle{})
	accept(one, "b", three, three)
	var all sync.WaitGroup
	for n := range uint64(20) {
		s := []backend.Store{one, two}[n%2]
		all.Go(func() {
			if got, err := s.AcceptBundle(ctx, "c", stopgate.Bundle{Generation: n + 1, Digest: "c"}, at); err != nil || got.Generation < n+1 {
				t.Errorf("generation %d: %v, %v", n+1, got, err)
			}
		})
	}
	all.Wait()
	accept(two, "c", stopgate.Bundle{}, stopgate.Bundle{Generation: 20, Digest: "c"})

	gates := func(want ...backend.GateState) {
		t.Helper()
		got, err := two.Gates(ctx)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
		for i, g := range got {
			g.Since, g.Seen = g.Since.UTC(), g.Seen.UTC()
			if g != want[i] {
				t.Errorf("%+v, want %+v", g, want[i])
			}
		}
	}
	gates()
	b := backend.GateState{Name: "b/up/2", Version: "v", Channel: "a", Bundle: four, Canary: "10%", Since: at, Seen: at}
	a := backend.GateState{Name: "a/up/1", Version: "v", Channel: "a", Bundle: three, Since: at, Seen: at.Add(time.Second), Refused: "no"}
	for _, g := range []backend.GateState{b, a} {
		if err := one.PutGate(ctx, g); err != nil {
			t.Fatal(err)
		}
	}
	gates(a, b)
	a.Seen = at.Add(backend.GateKept + time.Second)
	if err := one.PutGate(ctx, a); err != nil {
		t.Fatal(err)
	}
	gates(a)
}
