package recent_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/gate/recent"
)

// An entry that is read stays, one that is not is forgotten after two generations, and one that
// is taken is gone.
func TestMap(t *testing.T) {
	var m recent.Map[int, string]
	m.Put(-1, "used")
	m.Put(-2, "unused")
	for i := range 3 * recent.Generation {
		m.Put(i, "")
		if v, ok := m.Get(-1); !ok || v != "used" {
			t.Fatalf("after %d entries the used one is %q, %v", i, v, ok)
		}
	}
	if _, ok := m.Get(-2); ok {
		t.Error("the unused entry is kept")
	}
	if v, ok := m.Take(-1); !ok || v != "used" {
		t.Errorf("taken: %q, %v", v, ok)
	}
	if _, ok := m.Take(-1); ok {
		t.Error("an entry is taken twice")
	}
	if v := m.GetOrPut(-3, func() string { return "made" }); v != "made" {
		t.Errorf("made: %q", v)
	}
	if v := m.GetOrPut(-3, func() string { return "again" }); v != "made" {
		t.Errorf("made again: %q", v)
	}
}
