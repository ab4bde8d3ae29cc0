package approve

import (
	"context"
	"errors"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// Alerter is a [Notifier] that also reports events that need no answer: a session was stopped after
// too many denials in a row (H22).
type Alerter interface {
	// Alert receives the event row, under the rules of Notify.
	Alert(ctx context.Context, r stopgate.Record) error
}

// Alert implements [gate.Alerter]. It waits for the notifiers until their time limit.
func (q *Queue) Alert(ctx context.Context, r stopgate.Record) {
	ctx, cancel := context.WithTimeout(ctx, notifyLimit)
	defer cancel()
	var running sync.WaitGroup
	for _, n := range q.opts.Notify {
		a, ok := n.(Alerter)
		if !ok {
			continue
		}
		running.Go(func() {
			defer func() {
				if recover() != nil {
					q.opts.Failed(n.Name(), errors.New("the notifier panicked"))
				}
			}()
			if err := a.Alert(ctx, r); err != nil {
				q.opts.Failed(n.Name(), err)
			}
		})
	}
	running.Wait()
}

var _ gate.Alerter = (*Queue)(nil)
