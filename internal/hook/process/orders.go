package process

import (
	"context"
	"sync"
	"time"

	"github.com/stopgate/stopgate/gate"
)

// ordersPoll is the interval at which a question checks for a lockdown.
const ordersPoll = 200 * time.Millisecond

// lockdownApprover is an approver that follows the orders of a store: a lockdown that comes while a
// question is open ends it, and a later approval does not count (S59).
type lockdownApprover struct {
	gate.Approver
	orders gate.Lockdowns
	gate   *gate.Gate // set after it is created
}

// Approve implements [gate.Approver].
func (o *lockdownApprover) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	answer, err := o.ask(ctx, q)
	if err != nil {
		return gate.Answer{}, err
	}
	standing, err := o.orders.Lockdown(ctx)
	if err != nil {
		return gate.Answer{}, err
	}
	if standing.Active() {
		o.gate.Lock(standing)
	}
	return answer, nil
}

// ask requests an approval while the gate follows its orders.
func (o *lockdownApprover) ask(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	asking, asked := context.WithCancel(ctx)
	var follower sync.WaitGroup
	defer follower.Wait()
	defer asked()
	follower.Go(func() { o.gate.Follow(asking, o.orders, ordersPoll, nil) })
	return o.Approver.Approve(ctx, q)
}
