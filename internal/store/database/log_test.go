package database_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/store/database"
)

// killed copies a file and its log as a killed process leaves them.
func killed(t *testing.T, from, to string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(from + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Proves K0d: short-lived processes that end without Close, one after the other, read a short
// log each, and lose no row.
func TestLogStaysShort(t *testing.T) {
	dir := t.TempDir()
	name := func(i int) string { return filepath.Join(dir, string(rune('a'+i%2))+".db") }
	const rounds, each = 60, 5
	longest := int64(0)
	for i := range rounds {
		db := open(t, name(i))
		for k := range each {
			if err := db.Change(ctx, insert(i*each+k)); err != nil {
				t.Fatal(err)
			}
		}
		info, err := os.Stat(name(i) + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, info.Size())
		killed(t, name(i), name(i+1)+".next")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{"", "-wal"} {
			if err := os.Rename(name(i+1)+".next"+suffix, name(i+1)+suffix); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := count(t, open(t, name(rounds))); got != rounds*each {
		t.Errorf("%d rows, want %d", got, rounds*each)
	}
	if limit := int64(150 * 4096); longest > limit {
		t.Errorf("the log grew to %d bytes, want %d at most", longest, limit)
	}
	if longest < 128*4096 {
		t.Errorf("the log was never long: %d bytes", longest)
	}
}

// Proves K0d: a long log restarts in place and is not truncated: syncing a file that grows
// takes longer.
func TestLogKeepsItsSize(t *testing.T) {
	path := file(t)
	size := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	first := open(t, path) // keeps the log from being removed
	for i := range 200 {
		if err := first.Change(ctx, insert(i)); err != nil {
			t.Fatal(err)
		}
	}
	before := size()
	second := open(t, path) // copies it
	for i := range 100 {
		if err := second.Change(ctx, insert(200+i)); err != nil {
			t.Fatal(err)
		}
	}
	if after := size(); before < 128*4096 || after != before {
		t.Errorf("the log had %d bytes, and has %d", before, after)
	}
	if got := count(t, first); got != 300 {
		t.Errorf("%d rows, want 300", got)
	}
}

// Proves K0d: a log that became huge while it was read is truncated when no reader is left.
func TestHugeLogIsTruncated(t *testing.T) {
	path := file(t)
	db := open(t, path)
	const changes = 1100
	err := db.Snapshot(ctx, func(tx *database.Tx) error {
		if _, err := tx.Get([]any{new(int)}, "SELECT count(*) FROM numbers"); err != nil {
			return err
		}
		other := open(t, path)
		for i := range changes {
			if err := other.Change(ctx, insert(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	last := open(t, path)
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() != 0 {
		t.Errorf("the log is still there: %v, %v", info, err)
	}
	if got := count(t, last); got != changes {
		t.Errorf("%d rows, want %d", got, changes)
	}
}
