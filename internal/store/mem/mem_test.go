package mem_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/store/mem"
)

// Proves that the store reports that it is in memory.
func TestInMemory(t *testing.T) {
	if !mem.New().Capabilities().InMemory {
		t.Error("it waits for a disk")
	}
}
