package stack_test

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/system/stack"
)

const (
	goroutines = 64
	promised   = 64 << 10
)

// stacks returns by how many bytes the memory of all stacks grows while many goroutines wait after
// begin.
func stacks(begin func()) uint64 {
	var before, during runtime.MemStats
	runtime.ReadMemStats(&before)
	var there, gone sync.WaitGroup
	leave := make(chan struct{})
	there.Add(goroutines)
	for range goroutines {
		gone.Go(func() {
			begin()
			there.Done()
			<-leave
		})
	}
	there.Wait()
	runtime.ReadMemStats(&during)
	close(leave)
	gone.Wait()
	return max(during.StackInuse, before.StackInuse) - before.StackInuse
}

// Grow gives every goroutine the promised stack, which it would not have otherwise.
func TestGrow(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector shrinks unused stacks
	if usual := stacks(func() {}); usual > goroutines*promised/4 {
		t.Errorf("without Grow %d goroutines have %d bytes", goroutines, usual)
	}
	// The first stacks that the goroutines return count against the result.
	if grown := stacks(stack.Grow); grown < goroutines*promised*9/10 {
		t.Errorf("with it they have %d bytes, want about %d", grown, goroutines*promised)
	}
}
