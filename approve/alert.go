package approve

import (
	"context"
	"errors"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// Alerter is a [Notifier] that also tells what nobody has to answer: a session was stopped
// after too many denials in a row (H22).
type Alerter interface {
	// Alert is given the event row. What holds of Notify holds of it.
	Alert(ctx context.Context, r stopgate.Record) error
}

// Alert implements [gate.Alerter]: it waits for the notifiers, as long as they have.
func (q *Queue) Alert(ctx context.Context, r stopgate.Record) {
	ctx, cancel := context.WithTimeout(ctx, notifyLimit)
	defer cancel()
	var told sync.WaitGroup
	for _, n := range q.opts.Notify {
		a, ok := n.(Alerter)
		if !ok {
			continue
		}
		told.Go(func() {
			defer func() {
				if recover() != nil {
					q.opts.Failed(n.Name(), errors.New("panic"))
				}
			}()
			if err := a.Alert(ctx, r); err != nil {
				q.opts.Failed(n.Name(), err)
			}
		})
	}
	told.Wait()
}

var _ gate.Alerter = (*Queue)(nil)
