package hook_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// Proves FM9, S7: a hook that times out leaves exactly one row, wherever it waited, whatever
// happens after the reply.
func TestATimeoutHasOneRow(t *testing.T) {
	p := program(t, "version = 1\n[tools.Read.policy]\nrun = \"ask\"\n")
	h := host(t, "crush") // not the hook's: the gate's own approver
	type opens = func(ctx context.Context, ready func(context.Context, *hook.Event) (*hook.Backend, error), e *hook.Event) (*hook.Backend, error)
	for _, c := range []struct {
		name    string
		open    opens
		ignores bool // the approver ignores its context
	}{
		{"the gate cannot be made in time", func(ctx context.Context, _ func(context.Context, *hook.Event) (*hook.Backend, error), _ *hook.Event) (*hook.Backend, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, false},
		{"the gate fails when it is too late", func(context.Context, func(context.Context, *hook.Event) (*hook.Backend, error), *hook.Event) (*hook.Backend, error) {
			time.Sleep(time.Hour)
			return nil, errors.New("the disk is gone")
		}, false},
		{"the gate is there when it is too late", func(ctx context.Context, ready func(context.Context, *hook.Event) (*hook.Backend, error), e *hook.Event) (*hook.Backend, error) {
			time.Sleep(time.Hour)
			return ready(ctx, e)
		}, false},
		{"nobody answers", func(ctx context.Context, ready func(context.Context, *hook.Event) (*hook.Backend, error), e *hook.Event) (*hook.Backend, error) {
			return ready(ctx, e)
		}, false},
		{"whoever is asked hangs", func(ctx context.Context, ready func(context.Context, *hook.Event) (*hook.Backend, error), e *hook.Event) (*hook.Backend, error) {
			return ready(ctx, e)
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := make(chan struct{})
				var rec ports.Recorder
				ready := func(_ context.Context, e *hook.Event) (*hook.Backend, error) {
					a := h.Approver(e, ports.Able{Can: gate.Abilities{Reachable: true}, Answer: func(ctx context.Context, _ *gate.Question) (gate.Answer, error) {
						if c.ignores {
							<-over
						}
						<-ctx.Done()
						return gate.Answer{}, ctx.Err()
					}})
					g, err := gate.New(p, gate.WithApprover(a), gate.WithRecorder(&rec), gate.WithDenyMode(gate.DenyToolResult))
					return &hook.Backend{Gate: g, Approver: a}, err
				}
				unrecorded := 0
				began := time.Now()
				r := h.Run(t.Context(), hook.Options{
					Open:         func(ctx context.Context, e *hook.Event) (*hook.Backend, error) { return c.open(ctx, ready, e) },
					Deadline:     10 * time.Second,
					RecordDenial: func(*hook.Event, stopgate.Code) { unrecorded++ },
				}, strings.NewReader(event("crush", "Read", `{"file_path":"a"}`)))
				if took := time.Since(began); took > 10*time.Second || hostDoes("crush", r) != blocks {
					t.Errorf("the host %s after %v", hostDoes("crush", r), took)
				}
				time.Sleep(2 * time.Hour) // later events in a process that stays
				close(over)
				synctest.Wait()
				if rows := len(rec.Decisions()); rows+unrecorded != 1 {
					t.Errorf("%d rows of the gate, %d of calls without one", rows, unrecorded)
				}
			})
		})
	}
}

// Proves FM9: a delegated event whose process has left is decided and recorded by that process alone,
// wherever this one waited; one whose decision has begun is decided here.
func TestAProcessThatLeftHasTheRow(t *testing.T) {
	p := program(t, "version = 1\n[tools.Read.policy]\nrun = \"ask\"\n")
	h := host(t, "crush")
	var left atomic.Bool
	leave := func() { left.Store(true) }
	for _, c := range []struct {
		name string
		open func(ready func() (*hook.Backend, error)) (*hook.Backend, error)
		want int // rows
	}{
		{"before the gate was made", func(ready func() (*hook.Backend, error)) (*hook.Backend, error) { leave(); return ready() }, 0},
		{"and the gate cannot be made", func(func() (*hook.Backend, error)) (*hook.Backend, error) { leave(); return nil, errors.New("no disk") }, 0},
		{"and the gate is late", func(func() (*hook.Backend, error)) (*hook.Backend, error) {
			leave()
			time.Sleep(time.Hour)
			return nil, errors.New("no disk")
		}, 0},
		{"after the decision began", func(ready func() (*hook.Backend, error)) (*hook.Backend, error) { return ready() }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				left.Store(false)
				rows := new(ports.Recorder)
				unrecorded := 0
				r := h.Run(t.Context(), hook.Options{
					Open: func(_ context.Context, e *hook.Event) (*hook.Backend, error) {
						return c.open(func() (*hook.Backend, error) {
							a := h.Approver(e, ports.Able{Can: gate.Abilities{Reachable: true}, Answer: func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
								leave()
								return ports.Yes(ctx, q)
							}})
							g, err := gate.New(p, gate.WithApprover(a), gate.WithRecorder(rows), gate.WithDenyMode(gate.DenyToolResult))
							return &hook.Backend{Gate: g, Approver: a}, err
						})
					},
					Left: left.Load, RecordDenial: func(*hook.Event, stopgate.Code) { unrecorded++ },
				}, strings.NewReader(event("crush", "Read", `{"file_path":"a"}`)))
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				if n := len(rows.Decisions()) + unrecorded; n != c.want || c.want == 0 && hostDoes("crush", r) != blocks {
					t.Errorf("%d rows; the host %s", n, hostDoes("crush", r))
				}
			})
		})
	}
}
