package index

import "testing"

// A table of any length has an empty slot, where a search ends.
func TestTableKeepsAnEmptySlot(t *testing.T) {
	for start := range 40 {
		var table table
		table.reset(start)
		for h := range uint64(100) {
			hash := h * 0x9e3779b97f4a7c15
			if o, added := table.add(hash); !added || o != uint32(h) {
				t.Fatalf("from %d: hash %d is number %d, added %t", start, h, o, added)
			}
			if o, ok := table.find(hash); !ok || o != uint32(h) {
				t.Fatalf("from %d: hash %d is found as %d, %t", start, h, o, ok)
			}
			if _, ok := table.find(hash + 1); ok {
				t.Fatalf("from %d: a hash is found that is not there", start)
			}
		}
	}
}
