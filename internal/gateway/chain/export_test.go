package chain

import "github.com/stopgate/stopgate/gateway/events"

// Exchange returns the exchange of the run without a policy.
func (r *Run) Exchange() *events.Exchange { return &r.x }
