package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gate"
)

// Proves S59: a lockdown is seen by every process that shares the store, and survives them.
func TestLockdown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	one, other := open(t, path), open(t, path)
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
	if again, err := open(t, path).Lockdown(ctx); err != nil || again != order {
		t.Errorf("%+v, %v", again, err)
	}
}
