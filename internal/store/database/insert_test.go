package database_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/store/database"
)

var pairs = database.Component{Name: "pairs", Migrations: []string{
	"CREATE TABLE numbers(n INTEGER PRIMARY KEY, double INTEGER NOT NULL) STRICT",
}}

var insertPair = database.NewInsert("INSERT INTO numbers(n, double)", 2, "ON CONFLICT(n) DO UPDATE SET double = 0")

// Proves S38: all rows of one Insert are written, whatever their number, each with the tail
// of the statement.
func TestInsertRows(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 31, 32, 33, 100} {
		db := open(t, file(t), pairs)
		err := db.Change(ctx, func(tx *database.Tx) error {
			args := []any{}
			for i := range n {
				args = append(args, i, 2*i)
			}
			if err := tx.Insert(insertPair, args); err != nil {
				return err
			}
			return tx.Insert(insertPair, []any{0, 7, 200, 400})
		})
		if err != nil {
			t.Fatal(err)
		}
		var rows, sum int
		err = db.Snapshot(ctx, func(tx *database.Tx) error {
			_, err := tx.Get([]any{&rows, &sum}, "SELECT count(*), sum(double) FROM numbers")
			return err
		})
		want, total := n+1, n*(n-1)+400
		if n == 0 {
			want, total = 2, 407
		}
		if err != nil || rows != want || sum != total {
			t.Errorf("%d rows: %d, %d in all, want %d and %d (%v)", n, rows, sum, want, total, err)
		}
	}
}

// Proves I19, I22: a change that fails after it deferred rows to the end of the
// transaction is rolled back, and the rows of the other changes are all written.
func TestDeferredRowsAreRolledBack(t *testing.T) {
	db := open(t, file(t), pairs)
	type key struct{}
	broken := errors.New("broken")
	change := func(n int) error {
		return db.Change(ctx, func(tx *database.Tx) error {
			list, ok := tx.Value(key{}).(*[]any)
			if !ok {
				list = new([]any)
				tx.SetValue(key{}, list)
				tx.Finally(func() error { return tx.Insert(insertPair, *list) })
			}
			tx.MarkWritten()
			*list = append(*list, n, 2*n)
			if n%3 == 0 {
				return broken
			}
			return nil
		})
	}
	var all sync.WaitGroup
	for n := range 60 {
		all.Go(func() {
			if err := change(n); n%3 == 0 != errors.Is(err, broken) {
				t.Errorf("%d: %v", n, err)
			}
		})
	}
	all.Wait()
	if got := count(t, db); got != 40 {
		t.Errorf("%d rows, want 40", got)
	}
	err := db.Snapshot(ctx, func(tx *database.Tx) error {
		if found, err := tx.Get([]any{new(int)}, "SELECT 1 FROM numbers WHERE n % 3 = 0"); err != nil || found {
			return errors.Join(err, errors.New("a failed change left its row"))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Proves that likely statements have no effect, even wrong ones.
func TestLikelyStatements(t *testing.T) {
	db := open(t, file(t))
	for i := range 2 {
		if err := db.Change(ctx, insert(i), insertPair.Row(), "INSERT INTO numbers VALUES(?)", "NONSENSE", "DELETE FROM numbers"); err != nil {
			t.Error(err)
		}
	}
	if got := count(t, db); got != 2 {
		t.Errorf("%d rows, want 2", got)
	}
}
