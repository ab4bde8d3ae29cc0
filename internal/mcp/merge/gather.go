package merge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// grace is how long the response of one server waits for the others. Most clients
// time out after 30 or 60 seconds, which would disable all servers.
const grace = 20 * time.Second

// Result is the result of one of several servers.
type Result[S, T any] struct {
	Server S
	Value  T
	Err    error
}

// errLate is the error of a server that did not respond within grace.
var errLate = errors.New("mcpgate: the server did not respond in time; the other servers did")

// Gather calls ask for all servers concurrently and returns the results in the order of the
// servers. After the first result the others have 20 seconds. A later result is passed to
// late, which may be nil. The goroutines belong to work.
func Gather[S, T any](ctx context.Context, work *sync.WaitGroup, servers []S, ask func(S) (T, error), late func(Result[S, T])) []Result[S, T] {
	list := make([]Result[S, T], len(servers))
	var mu sync.Mutex
	over := false
	arrived := make(chan error, len(servers))
	for i, server := range servers {
		list[i] = Result[S, T]{Server: server, Err: errLate}
		work.Go(func() {
			s := Result[S, T]{Server: server}
			s.Value, s.Err = recovered(func() (T, error) { return ask(server) })
			mu.Lock()
			missed := over
			if !missed {
				list[i] = s
			}
			mu.Unlock()
			arrived <- s.Err
			if missed && late != nil {
				late(s)
			}
		})
	}
	var enough <-chan time.Time
wait:
	for range servers {
		select {
		case err := <-arrived:
			if err == nil && enough == nil {
				enough = time.After(grace)
			}
		case <-enough:
			break wait
		case <-ctx.Done():
			break wait
		}
	}
	mu.Lock()
	defer mu.Unlock()
	over = true
	for i := range list {
		if ctx.Err() != nil && errors.Is(list[i].Err, errLate) {
			list[i].Err = context.Cause(ctx)
		}
	}
	return list
}

// recovered calls f and converts a panic into an error.
func recovered[T any](f func() (T, error)) (value T, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("mcpgate: panic: %v", fault)
		}
	}()
	return f()
}

// Succeeded returns the successful results and passes the others to failed. If all failed, it
// returns the first error.
func Succeeded[S, T any](results []Result[S, T], failed func(server S, err error)) (list []Result[S, T], none error) {
	for _, s := range results {
		if s.Err == nil {
			list = append(list, s)
			continue
		}
		failed(s.Server, s.Err)
		if none == nil {
			none = s.Err
		}
	}
	if len(list) > 0 {
		none = nil
	}
	return list, none
}
