package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/store/sqlite"
)

// Proves S27: an objection is found again by every process that shares the file, until it
// is a day old.
func TestObjections(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	open := func() *sqlite.Store {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	one, two := open(), open()
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	a, b := [32]byte{1}, [32]byte{2}
	for _, p := range []float64{0.5, 0.9} {
		if err := one.SaveObjection(t.Context(), a, p, "It deletes.", at); err != nil {
			t.Fatal(err)
		}
	}
	p, why, when, found, err := two.Objection(t.Context(), a)
	if err != nil || !found || p != 0.9 || why != "It deletes." || !when.Equal(at) {
		t.Errorf("%v %q %v %v %v", p, why, when, found, err)
	}
	if _, _, _, found, err := two.Objection(t.Context(), b); found || err != nil {
		t.Errorf("found what nobody said, %v", err)
	}
	if err := two.SaveObjection(t.Context(), b, 1, "", at.Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, _, _, found, _ := one.Objection(t.Context(), a); found {
		t.Error("an old objection is kept for ever")
	}
}
