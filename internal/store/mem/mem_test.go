package mem_test

import (
	"testing"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/storetest"
)

// Proves I19, S38, H4, H6: the behavioural suite of stores.
func TestFacts(t *testing.T) {
	storetest.Facts(t, func(*testing.T) gate.Store { return mem.New() })
}

// Proves that the store reports that it is in memory.
func TestInMemory(t *testing.T) {
	if !mem.New().Capabilities().InMemory {
		t.Error("it waits for a disk")
	}
}
