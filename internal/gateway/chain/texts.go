package chain

import (
	"context"
	"errors"
	"strings"

	"github.com/stopgate/stopgate/gateway/events"
)

// This file implements the pipeline of texts: the output of one policy is the input of the next.

// content is one text as a policy receives it.
type content struct {
	events.Content
	text strings.Builder
}

func newContent(choice, index int) *content {
	return &content{Content: events.Content{Choice: choice, Index: index}}
}

func (b *content) add(piece string) {
	b.text.WriteString(piece)
	b.Text = b.text.String()
}

// errLongText reports a text above the limit of a response.
var errLongText = errors.New("the text is too long")

// text passes a chunk of text through the policies from index from on, and returns the output for
// the client.
func (r *Run) text(ctx context.Context, from, choice, index int, piece string) (string, error) {
	r.texts = max(r.texts, index+1)
	last := len(r.stages)
	for i := from; i < len(r.stages); i++ {
		st := &r.stages[i]
		if !st.texts() {
			continue
		}
		var err error
		if piece, err = r.delta(ctx, st, st.content(choice, index+r.before.texts), piece); err != nil {
			return "", err
		}
		if last == len(r.stages) && r.stopped.Load() {
			last = i
		}
	}
	if last == len(r.stages) {
		return piece, nil
	}
	more, err := r.complete(ctx, last+1, choice, index) // the text ends here for the policies after it
	return piece + more, err
}

// delta passes one chunk through one policy.
func (r *Run) delta(ctx context.Context, st *stage, b *content, piece string) (string, error) {
	s, before := &st.stream, st.waiting
	st.waiting = ""
	if piece == "" {
		return before, nil
	}
	if b.text.Len()+len(piece) > r.maxBytes {
		return "", &HookError{Policy: st.name, Hook: "OnContentDelta", Err: errLongText}
	}
	b.add(piece)
	if st.hooks.delta == nil {
		if s.finished.Load() {
			s.dropped.Add(1)
			piece = ""
		}
		return before + piece, nil
	}
	err := r.guarded.do(st.hooks, "OnContentDelta", func() error { return st.hooks.delta.OnContentDelta(ctx, &st.x, s, &b.Content, piece) })
	if err != nil {
		return "", err
	}
	return before + s.takeOutput(), nil
}

// content returns the state of a text, and creates it if necessary.
func (st *stage) content(choice, index int) *content {
	for _, b := range st.contents {
		if b.Choice == choice && b.Index == index {
			return b
		}
	}
	b := newContent(choice, index)
	st.contents = append(st.contents, b)
	return b
}

// forget removes a complete text.
func (st *stage) forget(b *content) {
	for i := range st.contents {
		if st.contents[i] == b {
			st.contents = append(st.contents[:i], st.contents[i+1:]...)
			return
		}
	}
}

// endText ends a text at one policy and returns the text that it appends.
func (r *Run) endText(ctx context.Context, st *stage, b *content) (string, error) {
	b.Complete = true
	st.forget(b)
	if st.contentComplete == nil {
		return "", nil
	}
	err := r.guarded.do(st.hooks, "OnContentComplete", func() error {
		return st.contentComplete.OnContentComplete(ctx, &st.x, &st.stream, &b.Content)
	})
	if err != nil {
		return "", err
	}
	return st.stream.takeOutput(), nil
}

// complete ends a text at all policies from index from on and returns the text that they append.
func (r *Run) complete(ctx context.Context, from, choice, index int) (string, error) {
	index += r.before.texts
	more := ""
	for i := from; i < len(r.stages); i++ {
		st := &r.stages[i]
		if !st.texts() {
			continue
		}
		b := st.content(choice, index)
		if more != "" {
			var err error
			if more, err = r.delta(ctx, st, b, more); err != nil {
				return "", err
			}
		}
		appended, err := r.endText(ctx, st, b)
		if err != nil {
			return "", err
		}
		more += appended
	}
	return more, nil
}

// finish reports the end of a choice to the policies and returns the text that they append. index
// is the index of that text.
func (r *Run) finish(ctx context.Context, choice, index int, reason string) (string, error) {
	r.ended = true
	index += r.before.texts
	more := ""
	for i := range r.stages {
		st := &r.stages[i]
		if r.whole && st.response != nil {
			continue // it received the whole response
		}
		if st.texts() && more != "" {
			b := st.content(choice, index)
			edited, err := r.delta(ctx, st, b, more)
			if err != nil {
				return "", err
			}
			appended, err := r.endText(ctx, st, b)
			if err != nil {
				return "", err
			}
			more = edited + appended
		}
		if choice == 0 {
			more, st.waiting = st.waiting+more, ""
		}
		if st.hooks.finish != nil {
			err := r.guarded.do(st.hooks, "OnFinishReason", func() error { return st.hooks.finish.OnFinishReason(ctx, &st.x, &st.stream, reason) })
			if err != nil {
				return "", err
			}
			more += st.stream.takeOutput()
		}
	}
	return more, nil
}

// start reports the start of a response to the policies. Their output is stored until its first
// text.
func (r *Run) start(ctx context.Context) error {
	if r.started {
		return nil
	}
	r.started = true
	for i := range r.stages {
		st := &r.stages[i]
		if st.hooks.start == nil || r.whole && st.response != nil {
			continue
		}
		if err := r.guarded.do(st.hooks, "OnStreamStart", func() error { return st.hooks.start.OnStreamStart(ctx, &st.x, &st.stream) }); err != nil {
			return err
		}
		st.waiting += st.stream.takeOutput()
	}
	return nil
}
