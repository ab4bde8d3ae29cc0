package chain

import (
	"context"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/registry"
)

// Responses passes a response that is not streamed through OnResponse of the policies that have it,
// and through the content hooks of the policies between them. It returns a *HookError, or an error if
// the body cannot be parsed. [Run.Texts] follows.
func (r *Run) Responses(ctx context.Context, body []byte) ([]byte, error) {
	if r == nil || !r.chain.texts && !r.chain.wants(func(h *hooks) bool { return h.response != nil }) {
		return body, nil
	}
	r.whole, r.from = true, 0
	if !r.started {
		if err := r.guard(ctx, ordered, r.start); err != nil {
			return nil, err
		}
	}
	for i := range r.stages {
		st := &r.stages[i]
		if st.response == nil {
			continue
		}
		edited, err := r.visit(ctx, i, body, provider.TextVisitor{
			End: func(int, string) (string, error) { return "", nil },
		})
		if err != nil {
			return nil, err
		}
		resp := events.NewResponse(r.x.Dialect, edited)
		err = r.guard(ctx, ordered, func(ctx context.Context) error {
			return r.guarded.do(st.hooks, "OnResponse", func() error { return st.response.OnResponse(ctx, &st.x, resp) })
		})
		if err != nil {
			return nil, err
		}
		body, r.from = resp.Body(), i+1
	}
	return body, nil
}

// Texts passes the result of [Run.Responses] through the content hooks of the other policies, each
// text as one delta. It calls the function with the elements between the texts that may be calls.
func (r *Run) Texts(ctx context.Context, body []byte, call func(choice int, id stopgate.CallID)) ([]byte, error) {
	if r == nil || !r.chain.texts {
		return body, nil
	}
	body, err := r.visit(ctx, len(r.stages), body, provider.TextVisitor{
		Call: call,
		End: func(choice int, reason string) (string, error) {
			if !r.stopped.Load() && !slices.ContainsFunc(r.endings, func(e ending) bool { return e.choice == choice }) {
				r.endings = append(r.endings, ending{choice, r.texts, reason})
			}
			return "", nil
		},
	})
	if err != nil || r.continues != nil {
		return body, err
	}
	return r.FinishBody(ctx, body)
}

// visit passes the texts of a body to the policies from index from up to index to.
func (r *Run) visit(ctx context.Context, to int, body []byte, v provider.TextVisitor) ([]byte, error) {
	texts := registry.Texts(r.x.Dialect)
	if texts == nil {
		return nil, r.failure()
	}
	v.Text = func(choice, index int, text string) (string, error) {
		r.texts = max(r.texts, index+1)
		var edited string
		err := r.guard(ctx, ordered, func(ctx context.Context) (err error) {
			edited, err = r.wholeText(ctx, to, choice, index, text)
			return err
		})
		switch {
		case err == nil:
			return edited, nil
		case r.unedited():
			return text, nil
		}
		return "", err // an abandoned hook may still write edited
	}
	return texts.Body(body, v)
}

// wholeText passes a whole text to the policies from index from up to index to.
func (r *Run) wholeText(ctx context.Context, to, choice, index int, text string) (string, error) {
	if r.stopped.Load() {
		return "", nil
	}
	for i := range r.stages[:to] {
		st := &r.stages[i]
		if i < r.from {
			// It received the text before it ended its output at an earlier call.
			if st.stream.by.Load() != nil && text != "" {
				st.stream.dropped.Add(1)
				text = ""
			}
			continue
		}
		if !st.texts() {
			continue
		}
		b := newContent(choice, index+r.before.texts)
		var err error
		if text, err = r.delta(ctx, st, b, text); err != nil {
			return "", err
		}
		more, err := r.endText(ctx, st, b)
		if err != nil {
			return "", err
		}
		text += more
	}
	return text, nil
}
