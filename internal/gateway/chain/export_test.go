package chain

import (
	"context"

	"github.com/stopgate/stopgate/gateway/events"
)

// Exchange returns the exchange of the run without a policy.
func (r *Run) Exchange() *events.Exchange { return &r.x }

// Body passes a response that is not streamed through all policies, without its calls.
func (r *Run) Body(ctx context.Context, body []byte) ([]byte, error) {
	body, err := r.Responses(ctx, body)
	if err != nil {
		return nil, err
	}
	return r.Texts(ctx, body, nil)
}
