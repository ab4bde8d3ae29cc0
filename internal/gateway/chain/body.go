package chain

import (
	"context"
	"slices"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/registry"
)

// Body passes a response that is not streamed through the policies, in order: through OnResponse,
// or if a policy lacks it through its content hooks, each text as one delta. Calls are not
// included. It returns a *HookError, or an error if the body cannot be parsed.
func (r *Run) Body(ctx context.Context, body []byte) ([]byte, error) {
	if r == nil || !r.chain.texts && !r.chain.wants(func(h *hooks) bool { return h.response != nil }) {
		return body, nil
	}
	texts := registry.Texts(r.x.Dialect)
	if texts == nil {
		return nil, r.failure()
	}
	err := r.guard(ctx, ordered, func(ctx context.Context) error {
		for i := range r.stages {
			st := &r.stages[i]
			var err error
			switch {
			case st.response != nil:
				resp := events.NewResponse(r.x.Dialect, body)
				err = r.hook(st.hooks, "OnResponse", func() error { return st.response.OnResponse(ctx, &st.x, resp) })
				body = resp.Body()
			case st.texts():
				body, err = r.bodyOf(ctx, st, texts, body)
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

// bodyOf passes a body through the content hooks of one policy.
func (r *Run) bodyOf(ctx context.Context, st *stage, texts *provider.Texts, body []byte) ([]byte, error) {
	if st.hooks.start != nil && !r.started {
		if err := r.hook(st.hooks, "OnStreamStart", func() error { return st.hooks.start.OnStreamStart(ctx, &st.x, &st.stream) }); err != nil {
			return nil, err
		}
		st.waiting += st.stream.takeOutput()
	}
	return texts.Body(body, provider.TextVisitor{
		Text: func(choice, index int, text string) (string, error) {
			r.texts = max(r.texts, index+1)
			b := newContent(choice, index+r.before.texts)
			text, err := r.delta(ctx, st, b, text)
			if err != nil {
				return "", err
			}
			b.Complete = true
			if st.contentComplete != nil {
				err = r.hook(st.hooks, "OnContentComplete", func() error {
					return st.contentComplete.OnContentComplete(ctx, &st.x, &st.stream, &b.Content)
				})
				text += st.stream.takeOutput()
			}
			return text, err
		},
		End: func(choice int, reason string) (string, error) {
			if r.continues != nil {
				if !slices.ContainsFunc(r.endings, func(e ending) bool { return e.choice == choice }) {
					r.endings = append(r.endings, ending{choice, r.texts, reason})
				}
				return "", nil
			}
			if r.stopped.Load() {
				return "", nil
			}
			more := ""
			if choice == 0 {
				more, st.waiting = st.waiting, ""
			}
			if st.hooks.finish == nil {
				return more, nil
			}
			err := r.hook(st.hooks, "OnFinishReason", func() error { return st.hooks.finish.OnFinishReason(ctx, &st.x, &st.stream, reason) })
			return more + st.stream.takeOutput(), err
		},
	})
}
