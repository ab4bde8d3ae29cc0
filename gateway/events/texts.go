package events

import (
	"context"
	"errors"
)

// The pipeline of texts: what one policy sends is what the next is given.

// errLongText says that a text is longer than any response may be.
var errLongText = errors.New("the text is too long")

// text takes a piece of a text through the policies from one on, and returns what is
// left for the client.
func (r *Run) text(ctx context.Context, from, choice, index int, piece string) (string, error) {
	r.texts = max(r.texts, index+1)
	index += r.before.texts
	for i := from; i < len(r.stages); i++ {
		st := &r.stages[i]
		if !st.texts() {
			continue
		}
		var err error
		if piece, err = r.delta(ctx, st, st.content(choice, index), piece); err != nil {
			return "", err
		}
	}
	return piece, nil
}

// delta is one piece at one policy.
func (r *Run) delta(ctx context.Context, st *stage, b *Content, piece string) (string, error) {
	s, before := &st.stream, st.waiting
	st.waiting = ""
	if piece == "" {
		return before, nil
	}
	if b.text.Len()+len(piece) > r.maxBytes {
		return "", &HookError{Policy: st.policy.Name(), Hook: "OnContentDelta", Err: errLongText}
	}
	b.text.WriteString(piece)
	if st.hooks.delta == nil {
		if s.finished {
			s.dropped++
			piece = ""
		}
		return before + piece, nil
	}
	err := r.hook(st.hooks, "OnContentDelta", func() error { return st.hooks.delta.OnContentDelta(ctx, &r.x, s, b, piece) })
	if err != nil {
		return "", err
	}
	return before + s.take(), nil
}

// content finds or begins a text.
func (st *stage) content(choice, index int) *Content {
	for _, b := range st.contents {
		if b.Choice == choice && b.Index == index {
			return b
		}
	}
	b := &Content{Choice: choice, Index: index}
	st.contents = append(st.contents, b)
	return b
}

// forget lets go of a complete text.
func (st *stage) forget(b *Content) {
	for i := range st.contents {
		if st.contents[i] == b {
			st.contents = append(st.contents[:i], st.contents[i+1:]...)
			return
		}
	}
}

// complete ends a text at all policies from one on and returns what they add to it.
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
		b.done = true
		if st.contentComplete != nil {
			err := r.hook(st.hooks, "OnContentComplete", func() error {
				return st.contentComplete.OnContentComplete(ctx, &r.x, &st.stream, b)
			})
			if err != nil {
				return "", err
			}
			more += st.stream.take()
		}
		st.forget(b)
	}
	return more, nil
}

// finish tells the policies why a choice ended and returns what they add at its end.
// index is of the text that this would be.
func (r *Run) finish(ctx context.Context, choice, index int, reason string) (string, error) {
	r.ended = true
	index += r.before.texts
	more := ""
	for i := range r.stages {
		st := &r.stages[i]
		if r.whole && st.response != nil {
			continue // it was given the whole response
		}
		if st.texts() && more != "" {
			var err error
			if more, err = r.delta(ctx, st, st.content(choice, index), more); err != nil {
				return "", err
			}
			b := st.content(choice, index)
			b.done = true
			if st.contentComplete != nil {
				err := r.hook(st.hooks, "OnContentComplete", func() error {
					return st.contentComplete.OnContentComplete(ctx, &r.x, &st.stream, b)
				})
				if err != nil {
					return "", err
				}
				more += st.stream.take()
			}
			st.forget(b)
		}
		if choice == 0 {
			more, st.waiting = st.waiting+more, ""
		}
		if st.hooks.finish != nil {
			err := r.hook(st.hooks, "OnFinishReason", func() error { return st.hooks.finish.OnFinishReason(ctx, &r.x, &st.stream, reason) })
			if err != nil {
				return "", err
			}
			more += st.stream.take()
		}
	}
	return more, nil
}

// start tells the policies that a response begins. What they send waits for its first
// text.
func (r *Run) start(ctx context.Context) error {
	if r.started {
		return nil
	}
	r.started = true
	for i := range r.stages {
		st := &r.stages[i]
		if st.hooks.start == nil {
			continue
		}
		if err := r.hook(st.hooks, "OnStreamStart", func() error { return st.hooks.start.OnStreamStart(ctx, &r.x, &st.stream) }); err != nil {
			return err
		}
		st.waiting += st.stream.take()
	}
	return nil
}
