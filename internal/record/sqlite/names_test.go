package sqlite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

// ruled returns the row of a decision by a rule of a policy.
func ruled(id string, policy, rule int) *stopgate.Record {
	r := decision(id)
	r.Policy = fmt.Sprintf("%064x", policy)
	r.Rule = &stopgate.RuleRef{File: "stopgate.toml", Line: rule + 1, ID: stopgate.RuleID(fmt.Sprintf("%032x", rule))}
	return r
}

// names returns the names of a file in the order of their numbers.
func names(t testing.TB, db *database.DB) (list []string) {
	t.Helper()
	err := db.Snapshot(ctx, func(tx *database.Tx) error {
		rows, err := tx.Query("SELECT text FROM audit_names ORDER BY id")
		if err != nil {
			return err
		}
		defer rows.Close()
		for list = nil; rows.Next(); {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			list = append(list, text)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// size returns the length of the last row as it is stored.
func size(t testing.TB, db *database.DB) (n int) {
	t.Helper()
	if _, err := db.Get(ctx, []any{&n}, "SELECT length(stored) FROM audit_rows ORDER BY seq DESC LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	return n
}

// Proves S25: rows that refer to names have the lines and hashes that they have without: by several handles of a file that learn
// the names of each other, with changes that are rolled back and rows that are pruned.
func TestRowsWithNames(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		path := filepath.Join(t.TempDir(), "a.db")
		db := open(t, path)
		recs := []*sqlite.Recorder{recorder(t, db, sqlite.Options{}), recorder(t, open(t, path), sqlite.Options{}), recorder(t, open(t, path), sqlite.Options{})}
		var chain string
		if _, err := db.Get(ctx, []any{&chain}, "SELECT id FROM audit_chain"); err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		prev, seq := "", int64(0)
		for i := range rapid.IntRange(1, 12).Draw(rt, "rows") {
			row := ruled(fmt.Sprint(i), rapid.IntRange(0, 2).Draw(rt, "policy"), rapid.IntRange(0, 3).Draw(rt, "rule"))
			rec := recs[rapid.IntRange(0, 2).Draw(rt, "recorder")]
			if rapid.Bool().Draw(rt, "failed before") {
				failed := errors.New("a change that fails")
				e, err := rec.Prepare(ruled(fmt.Sprint("f", i), rapid.IntRange(0, 5).Draw(rt, "other policy"), 9))
				if err != nil {
					rt.Fatal(err)
				}
				late := rapid.Bool().Draw(rt, "after its names were added")
				err = rec.Database().Change(ctx, func(tx *database.Tx) error {
					if err := rec.Write(tx, e); err != nil {
						return err
					}
					if late {
						tx.Finally(func() error { return failed })
						return nil
					}
					return failed
				})
				if !errors.Is(err, failed) {
					rt.Fatal(err)
				}
			}
			if err := rec.Record(ctx, row); err != nil {
				rt.Fatal(err)
			}
			body, err := auditrow.Encode(chain, row)
			if err != nil {
				rt.Fatal(err)
			}
			seq++
			var line []byte
			line, prev = body.Seal(nil, seq, prev)
			want.Write(line)
		}
		if got := text(t, db); got != want.String() {
			rt.Fatalf("the log is\n%s, want\n%s", got, want.String())
		}
		list := names(t, db)
		seen := map[string]bool{}
		for _, n := range list {
			if seen[n] || n == fmt.Sprintf("%032x", 9) {
				rt.Errorf("names %q", list)
			}
			seen[n] = true
		}
	})
}

// Proves S25: the row after the first of a policy and a rule needs two bytes for each of their ids, also of another process, and
// after all rows with them were pruned.
func TestSizeOfRowsWithNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	rec := recorder(t, db, sqlite.Options{})
	record(t, rec, ruled("1", 1, 1))
	whole := size(t, db)
	record(t, rec, ruled("2", 1, 1))
	if saved := whole - size(t, db); saved != 31+16+12 {
		t.Errorf("the second row has %d bytes less than %d", saved, whole)
	}
	other := recorder(t, open(t, path), sqlite.Options{})
	record(t, other, ruled("3", 1, 1))
	if saved := whole - size(t, db); saved < 55 {
		t.Errorf("a row of another process has %d bytes less than %d", saved, whole)
	}
	if p, err := rec.Prune(ctx, sqlite.Retention{Rows: at.Add(time.Hour)}, at.Add(2*time.Hour)); err != nil || p.Rows != 3 {
		t.Fatal(p, err)
	}
	record(t, rec, ruled("4", 1, 1))
	if saved := whole - size(t, db); saved < 55 {
		t.Errorf("after pruning a row has %d bytes less than %d", saved, whole)
	}
	if r := verify(t, db); r.Rows != 2 || !strings.Contains(text(t, db), fmt.Sprintf("%064x", 1)) {
		t.Errorf("%+v", r)
	}
	if got := names(t, db); len(got) != 3 {
		t.Errorf("names %q", got)
	}
}

// Proves S25: a file has a bounded number of names, and rows beyond have their texts themselves.
func TestNamesAreBounded(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	err := db.Change(ctx, func(tx *database.Tx) error {
		_, err := tx.Exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO audit_names(text) SELECT 'name number ' || i FROM n", 9_998)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rec := recorder(t, db, sqlite.Options{})
	for i := range 4 {
		record(t, rec, ruled(fmt.Sprint(i), i, i))
	}
	if list := names(t, db); len(list) != 10_000 {
		t.Errorf("%d names", len(list))
	}
	if r := verify(t, db); r.Rows != 4 {
		t.Errorf("%+v", r)
	}
	long := decision("long")
	long.Policy, long.Rule = strings.Repeat("p", 65), &stopgate.RuleRef{ID: "short"}
	fresh := open(t, filepath.Join(t.TempDir(), "b.db"))
	record(t, recorder(t, fresh, sqlite.Options{}), long)
	if list := names(t, fresh); len(list) != 1 {
		t.Errorf("names %q", list)
	}
}
