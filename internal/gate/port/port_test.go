package port_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/gate/port"
)

var errTest = errors.New("no route")

// Proves I14, FM15: every way in which a port can fail is a fault, and never a value.
func TestFaults(t *testing.T) {
	hang := func(context.Context) (int, error) { <-time.After(time.Hour); return 7, nil }
	for name, c := range map[string]struct {
		f    func(context.Context) (int, error)
		want port.Fault
	}{
		"answer": {func(context.Context) (int, error) { return 7, nil }, port.None},
		"error":  {func(context.Context) (int, error) { return 7, errTest }, port.Failed},
		"panic":  {func(context.Context) (int, error) { panic("x") }, port.Panicked},
		"late":   {hang, port.Late},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g port.Guard
				r := port.Invoke(t.Context(), &g, time.Second, c.f)
				if r.Fault != c.want || (r.Value == 7) != (c.want == port.None) || (r.Stack != "") != (c.want == port.Panicked) {
					t.Errorf("%+v, want fault %q", r, c.want)
				}
				if late := c.want == port.Late; (g.Stuck() == 1) != late {
					t.Errorf("%d calls are stuck", g.Stuck())
				}
				if (r.Problem("test") == nil) != (c.want == port.None) {
					t.Errorf("problem %v", r.Problem("test"))
				}
				<-time.After(2 * time.Hour)
				if g.Stuck() != 0 {
					t.Error("a call that came back counts as stuck")
				}
			})
		})
	}
}

// The end of the caller's context is not a failure of the port.
func TestGone(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTest)
	var g port.Guard
	called := false
	r := port.Invoke(ctx, &g, time.Second, func(context.Context) (int, error) { called = true; return 7, nil })
	if r.Fault != port.CallerDone || !errors.Is(r.Err, errTest) || called {
		t.Errorf("%+v, called %v", r, called)
	}
}

// Proves FM4: a call of a shared port is waited for as long as the port advances, and is given up
// after the limit without progress.
func TestDuring(t *testing.T) {
	for name, advances := range map[string]bool{"advances": true, "stands still": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				s := port.NewStall(func() uint64 {
					if advances {
						return uint64(time.Since(began))
					}
					return 1
				}, nil, nil, time.Second)
				r := port.During(t.Context(), s, new(port.Guard), true, func(ctx context.Context) (int, error) {
					select {
					case <-time.After(time.Minute):
						return 7, nil
					case <-ctx.Done():
						return 0, ctx.Err()
					}
				})
				if advances && r.Value != 7 || !advances && (r.Fault != port.Late || !errors.Is(r.Err, port.ErrStalled)) {
					t.Errorf("%+v after %v", r, time.Since(began))
				}
			})
		})
	}
	if port.NewStall(nil, nil, nil, time.Second) != nil {
		t.Error("a port that is not shared has a detector")
	}
}

// Errors for people name the operation.
func TestProblem(t *testing.T) {
	for _, f := range []port.Fault{port.Late, port.Panicked, port.Overloaded} {
		if err := (port.Reply[int]{Fault: f}).Problem("snapshot"); err == nil || !strings.HasPrefix(err.Error(), "snapshot: ") {
			t.Errorf("%s: %v", f, err)
		}
	}
}
