package database_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/store/database"
)

// Proves I19: a snapshot cannot write, on the writer's connection or another one; one that
// panics leaves no transaction open; and one can run while a change runs.
func TestSnapshotOnlyReads(t *testing.T) {
	db := open(t, file(t))
	for i := range 20 { // the first ones on the writer's connection
		if err := db.Snapshot(ctx, insert(-i)); err == nil {
			t.Errorf("snapshot %d writes", i)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			_ = db.Snapshot(ctx, func(*database.Tx) error { panic("x") })
		}()
		if err := db.Change(ctx, insert(i)); err != nil {
			t.Fatal(err)
		}
		if got := count(t, db); got != i+1 {
			t.Fatalf("%d rows, want %d", got, i+1)
		}
	}
	other := open(t, file(t))
	err := other.Change(ctx, func(tx *database.Tx) error {
		if got := count(t, other); got != 0 {
			t.Errorf("%d rows while nothing is written", got)
		}
		return insert(1)(tx)
	})
	if err != nil {
		t.Fatal(err)
	}
}
