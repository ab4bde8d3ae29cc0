package chain

import (
	"context"
	"io"
	"slices"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// editor passes the texts of a stream to the policies of a run.
type editor struct {
	run *Run
	ctx context.Context // of the current batch of events

	onlyText bool // the current event continues a text and begins nothing else
}

// Text implements [provider.TextEditor].
func (e *editor) Text(choice, index int, piece string) (string, error) {
	e.onlyText = true
	if e.run.stopped.Load() {
		return "", nil
	}
	return e.run.text(e.ctx, 0, choice, index, piece)
}

// Complete implements [provider.TextEditor].
func (e *editor) Complete(choice, index int) (string, error) {
	e.onlyText = false
	if e.run.stopped.Load() {
		return "", nil
	}
	return e.run.complete(e.ctx, 0, choice, index)
}

// DeferEnd implements [provider.TextEditor].
func (e *editor) DeferEnd(choice, index int, reason string, calls bool) bool {
	return e.run.stopped.Load() || e.run.deferEnd(choice, index, reason, calls)
}

// Finish implements [provider.TextEditor].
func (e *editor) Finish(choice, index int, reason string) (string, error) {
	return e.run.finish(e.ctx, choice, index, reason)
}

// reader is an upstream's stream after the policies.
type reader struct {
	run     *Run
	ctx     context.Context
	from    io.Reader
	decoder *sse.Decoder
	ev      sse.Event
	editor  *editor
	ordered bool // the calls of an event are processed before the next text
	to      provider.TextStream
	mayEnd  func(data []byte) bool
	split   func(data []byte) [][]byte // see [provider.Texts]; nil if no policy has a hook for calls
	parts   []sse.Event                // rest of an event that was split
	out     []byte                     // output for the caller
	at      int                        // read position in out
	waits   bool                       // ev ends a response; it is processed after everything before it
	closed  bool                       // the texts that were open when a hook stopped the response are closed
	more    bool                       // the decoder may have more events
	last    error                      // error of from
	err     error                      // that error, once it follows all output
}

// readSize is the size of a stream's buffer.
const readSize = 8 << 10

// Reader returns the stream of a response after the policies, or from itself if no policy has a
// hook for response text.
func (r *Run) Reader(ctx context.Context, from io.Reader) io.Reader {
	if r == nil || !r.chain.texts {
		return from
	}
	texts := registry.Texts(r.x.Dialect)
	if texts == nil {
		return from
	}
	e := &editor{run: r, ctx: ctx}
	split := texts.Split
	if !r.chain.wants((*hooks).calls) {
		split = nil
	}
	return &reader{
		split: split,
		run:   r, ctx: ctx, from: from, editor: e, mayEnd: texts.MayEnd,
		to:      texts.Stream(&provider.TextRewriter{Editor: e, MaxBytes: r.maxBytes}),
		ordered: r.chain.calls, decoder: sse.NewDecoder(newBuffer(), sse.Limits{MaxEvent: r.maxBytes}),
	}
}

func newBuffer() []byte { return make([]byte, readSize) }

// Read implements [io.Reader]. An error that is not an error of the stream is a *HookError, and no
// part of the events that caused it is returned. It reads upstream at most once, so that every byte
// of the provider counts as activity: zero bytes and no error mean that no complete event has
// arrived.
func (d *reader) Read(p []byte) (int, error) {
	if d.at == len(d.out) {
		if d.err != nil {
			return 0, d.err
		}
		d.out, d.at = d.out[:0], 0
		d.fill()
	}
	n := copy(p, d.out[d.at:])
	d.at += n
	return n, nil
}

// fill reads once and passes the new events to the policies.
func (d *reader) fill() {
	if !d.waits && !d.more {
		n, err := d.from.Read(d.decoder.Space())
		d.decoder.Filled(n)
		d.last = err
	}
	d.more = false
	out, failed := d.out, d.run.failure()
	switch {
	case failed != nil:
	case d.run.chain.onlyEnds: // no hook runs
		failed = d.run.inTurn(d.ctx, func() (err error) {
			out, err = d.work(d.ctx, out)
			return err
		})
	case d.run.chain.quick:
		d.run.enter(&job{run: d.run})
		out, failed = d.work(d.ctx, out)
	default:
		failed = d.run.guard(d.ctx, ordered, func(ctx context.Context) (err error) {
			out, err = d.work(ctx, out)
			return err
		})
	}
	if failed != nil && d.run.unedited() {
		out, failed = d.pass(out)
	}
	if failed != nil {
		// An abandoned hook may still write to the buffer.
		d.out, d.at, d.err = nil, 0, failed
		return
	}
	d.out = out
	if d.last != nil && !d.waits && !d.more {
		d.out = append(d.out, d.decoder.Tail()...)
		d.err = d.last
	}
}

// unedited reports whether the rest of a response passes although a hook for calls failed: no policy
// edits its texts or has ended its output. The calls are denied.
func (r *Run) unedited() bool {
	return r.chain.onlyEnds && !slices.ContainsFunc(r.stages, func(st stage) bool { return st.stream.finished.Load() })
}

// next reads the next complete event, or a part of one.
func (d *reader) next() (bool, error) {
	if len(d.parts) == 0 {
		ok, err := d.decoder.Next(&d.ev)
		if err != nil || !ok || d.split == nil || !d.ev.Dispatched {
			return ok, err
		}
		for _, data := range d.split(d.ev.Data) {
			d.parts = append(d.parts, d.ev.WithData(data))
		}
		if len(d.parts) == 0 {
			return true, nil
		}
	}
	d.ev, d.parts = d.parts[0], d.parts[1:]
	return true, nil
}

// pass forwards complete events without the policies.
func (d *reader) pass(out []byte) ([]byte, error) {
	if d.waits {
		d.waits = false
		out = d.ev.AppendTo(out)
	}
	for {
		ok, err := d.next()
		if err != nil || !ok {
			return out, err
		}
		out = d.ev.AppendTo(out)
	}
}

// work passes complete events through the policies.
func (d *reader) work(ctx context.Context, out []byte) ([]byte, error) {
	d.editor.ctx = ctx
	if err := d.run.start(ctx); err != nil {
		return nil, err
	}
	for {
		if !d.waits {
			ok, err := d.next()
			if err != nil || !ok {
				return out, err
			}
			if d.waits = (d.ordered || d.run.continues != nil) && len(out) > 0 && d.mayEnd(d.ev.Data); d.waits {
				return out, nil // whether this is the end is known once everything before it was judged
			}
		}
		d.waits, d.editor.onlyText = false, false
		var err error
		if out, err = d.to.Event(out, &d.ev); err != nil {
			return nil, err
		}
		if d.run.stopped.Load() && !d.closed {
			d.closed = true
			if to, ok := d.to.(provider.TextCloser); ok {
				out = to.CloseTexts(out)
			}
		}
		if d.ordered && !d.editor.onlyText && d.ev.Dispatched {
			d.more = true // the event may have a part of a call
			return out, nil
		}
	}
}
