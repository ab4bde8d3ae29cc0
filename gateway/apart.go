package gateway

import (
	"fmt"
	"net/http"
	"runtime/debug"
)

// apart runs f on a goroutine of its own and waits for it, so that the stack that f needs is free
// again when it returns. The goroutine of a handler keeps a stack that has grown until a garbage
// collection shrinks it, and most of its time it waits for the provider: the stack would be part of
// the memory of each idle stream. A panic of f continues in the caller.
func apart(f func()) {
	done := make(chan any)
	go func() {
		defer func() {
			p := recover()
			if p != nil && p != http.ErrAbortHandler {
				p = fmt.Errorf("%v\n\n%s", p, debug.Stack()) // the caller's stack does not show f
			}
			done <- p
		}()
		f()
	}()
	if p := <-done; p != nil {
		panic(p)
	}
}
