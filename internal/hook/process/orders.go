package process

import (
	"context"
	"sync"
	"time"

	"github.com/stopgate/stopgate/gate"
)

// ordersPoll is how often a question looks whether there is a lockdown.
const ordersPoll = 200 * time.Millisecond

// obedient is an approver under the orders of a store: a lockdown that comes while a
// person is asked ends the question, and a yes that comes after it is none (S59).
type obedient struct {
	gate.Approver
	orders gate.Lockdowns
	gate   *gate.Gate // once it is made
}

// Approve implements [gate.Approver].
func (o *obedient) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	answer, err := o.ask(ctx, q)
	if err != nil {
		return gate.Answer{}, err
	}
	standing, err := o.orders.Lockdown(ctx)
	if err != nil {
		return gate.Answer{}, err
	}
	if standing.Stands() {
		o.gate.Lock(standing)
	}
	return answer, nil
}

// ask asks while the gate follows its orders.
func (o *obedient) ask(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	asking, asked := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer asked()
	beside.Go(func() { o.gate.Follow(asking, o.orders, ordersPoll, nil) })
	return o.Approver.Approve(ctx, q)
}
