package chain

import (
	"context"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/registry"
)

// The end of a choice with calls is reported to the policies after the gate has judged the calls
// (V3-26): OnFinishReason is the last hook of a response, and the numbers of calls are known.

// ending is the end of a choice that has not been reported to the policies yet.
type ending struct {
	choice, index int
	reason        string
}

// Addition is a text that policies append to a choice.
type Addition struct {
	Choice int
	Text   string
}

// Again starts the next response of the provider within the exchange. Its texts and calls are
// numbered after the earlier ones, and the end of the earlier response is discarded.
func (r *Run) Again() {
	if r == nil {
		return
	}
	r.endings = nil
	r.before.texts += r.texts
	r.before.calls = len(r.calls)
	r.texts = 0
}

// Ended reports whether the end of the response was reported to the policies.
func (r *Run) Ended() bool { return r != nil && r.ended }

// deferEnd stores the end of a choice if Finish reports it.
func (r *Run) deferEnd(choice, index int, reason string, calls bool) bool {
	if r.continues == nil || !calls && !r.continues(choice) {
		return false
	}
	r.endings = append(r.endings, ending{choice, index, reason})
	return true
}

// Ending reports whether an end is stored for Finish.
func (r *Run) Ending() bool { return r != nil && len(r.endings) > 0 }

// Finish reports the stored ends to the policies and returns the texts that they append.
func (r *Run) Finish(ctx context.Context) (more []Addition, err error) {
	if !r.Ending() {
		return nil, nil
	}
	endings := r.endings
	r.endings = nil
	if r.chain.onlyEnds {
		r.ended = true // no policy has a hook for it
		return nil, nil
	}
	err = r.guard(ctx, ordered, func(ctx context.Context) error {
		for _, e := range endings {
			text, err := r.finish(ctx, e.choice, e.index, e.reason)
			if err != nil {
				return err
			}
			if text != "" {
				more = append(more, Addition{e.choice, text})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return more, nil
}

// FinishBody is [Run.Finish] and [Run.Append] for a response that is not streamed.
func (r *Run) FinishBody(ctx context.Context, body []byte) ([]byte, error) {
	list, err := r.FinishWhole(ctx)
	if err != nil {
		return nil, err
	}
	return r.Append(body, list)
}

// FinishWhole is [Run.Finish] for a response that is not streamed.
func (r *Run) FinishWhole(ctx context.Context) ([]Addition, error) {
	if !r.Ending() {
		return nil, nil
	}
	r.whole = true
	return r.Finish(ctx)
}

// Append appends texts to those of a response that is not streamed.
func (r *Run) Append(body []byte, list []Addition) ([]byte, error) {
	if len(list) == 0 {
		return body, nil
	}
	return registry.Texts(r.x.Dialect).Body(body, provider.TextVisitor{
		Text: func(_, _ int, text string) (string, error) { return text, nil },
		End: func(choice int, _ string) (more string, err error) {
			for _, a := range list {
				if a.Choice == choice {
					more += a.Text
				}
			}
			return more, nil
		},
	})
}
