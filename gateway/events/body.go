package events

import "context"

// bodySink is what the walk through a body's texts asks.
type bodySink struct {
	// text is given a whole text and returns what takes its place.
	text func(b *Content, text string) (string, error)
	// end hears why a choice ended and returns what is added to it.
	end func(choice int, reason string) (string, error)
}

// Body shows a response that is not streamed to the policies, one after the other: to
// OnResponse, and without it to the hooks for texts, each text as one delta (V3-29).
// Calls are no part of it. The error is a *HookError, or the body cannot be read.
func (r *Run) Body(ctx context.Context, body []byte) ([]byte, error) {
	if r == nil || !r.chain.texts && !r.chain.wants(func(h *hooks) bool { return h.response != nil }) {
		return body, nil
	}
	walk := bodies[r.x.Dialect]
	if walk == nil {
		return nil, r.over
	}
	err := r.guard(ctx, func(ctx context.Context) error {
		for i := range r.stages {
			st := &r.stages[i]
			var err error
			switch {
			case st.response != nil:
				resp := &Response{body: body, texts: walk}
				err = r.hook(st.hooks, "OnResponse", func() error { return st.response.OnResponse(ctx, &r.x, resp) })
				body = resp.body
			case st.texts():
				body, err = r.bodyOf(ctx, st, walk, body)
			}
			if err != nil {
				return err
			}
		}
		r.started = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}

// FinishBody is [Run.Finish] for a response that is not streamed: what the policies add
// stands at the end of its text.
func (r *Run) FinishBody(ctx context.Context, body []byte) ([]byte, error) {
	if !r.Ending() {
		return body, nil
	}
	r.whole = true
	more, err := r.Finish(ctx)
	if err != nil || more == "" {
		return body, err
	}
	return bodies[r.x.Dialect](body, bodySink{
		text: func(_ *Content, text string) (string, error) { return text, nil },
		end: func(choice int, _ string) (string, error) {
			if choice > 0 {
				return "", nil
			}
			return more, nil
		},
	})
}

// bodyOf takes a body through the hooks for texts of one policy.
func (r *Run) bodyOf(ctx context.Context, st *stage, walk textsOf, body []byte) ([]byte, error) {
	if st.hooks.start != nil && !r.started {
		if err := r.hook(st.hooks, "OnStreamStart", func() error { return st.hooks.start.OnStreamStart(ctx, &r.x, &st.stream) }); err != nil {
			return nil, err
		}
		st.waiting += st.stream.take()
	}
	return walk(body, bodySink{
		text: func(b *Content, text string) (string, error) {
			r.texts = max(r.texts, b.Index+1)
			b.Index += r.before.texts
			text, err := r.delta(ctx, st, b, text)
			if err != nil {
				return "", err
			}
			b.done = true
			if st.contentComplete != nil {
				err = r.hook(st.hooks, "OnContentComplete", func() error {
					return st.contentComplete.OnContentComplete(ctx, &r.x, &st.stream, b)
				})
				text += st.stream.take()
			}
			return text, err
		},
		end: func(choice int, reason string) (string, error) {
			if r.continues != nil {
				r.ending = &ending{choice, r.texts, reason}
				return "", nil
			}
			more := ""
			if choice == 0 {
				more, st.waiting = st.waiting, ""
			}
			if st.hooks.finish == nil {
				return more, nil
			}
			err := r.hook(st.hooks, "OnFinishReason", func() error { return st.hooks.finish.OnFinishReason(ctx, &r.x, &st.stream, reason) })
			return more + st.stream.take(), err
		},
	})
}
