package database_test

import (
	"os"
	"path/filepath"
	"testing"
)

// killed copies a file and its log as a process leaves them that ends without Close.
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

// Proves K0d: short processes that end without Close, one after the other, read a short
// log each, and lose nothing.
func TestTheLogStaysShort(t *testing.T) {
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
}
