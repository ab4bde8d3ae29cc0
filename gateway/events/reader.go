package events

import (
	"bytes"
	"context"
	"io"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// translator finds texts in the events of one dialect and writes the edited events.
type translator interface {
	// event appends the replacement of an event.
	event(dst []byte, ev *sse.Event) ([]byte, error)
}

// translators and bodies by dialect; bodies are for responses that are not streamed.
var translators = map[string]func(*translatorBase) translator{
	"openai-chat":      func(t *translatorBase) translator { return &chatStream{translatorBase: t} },
	"openai-responses": func(t *translatorBase) translator { return &responsesStream{translatorBase: t} },
	"anthropic":        func(t *translatorBase) translator { return &anthropicStream{translatorBase: t} },
}

var bodies = map[string]textsOf{
	"openai-chat":      chatBody,
	"openai-responses": responsesBody,
	"anthropic":        anthropicBody,
}

// translatorBase is the common part of all translators: the run and the current event.
type translatorBase struct {
	run   *Run
	ctx   context.Context
	doc   jsonstream.Document
	edits provider.Edits
	more  []byte // written before the current event

	repeat provider.EventTemplate // template of the last event with exactly one text
	typ    []byte                 // type of that event
	of     int                    // key of its text
	buf    []byte
}

// learn remembers an event with one text, so that a similar next event need not be parsed. seq is
// its sequence number, if any.
func (t *translatorBase) learn(ev *sse.Event, of int, text, seq jsonstream.Value, root jsonstream.Value) {
	padding, _ := root.Get("obfuscation")
	t.of, t.typ = of, append(t.typ[:0], ev.Type...)
	t.repeat.Learn(ev, text, seq, padding)
}

// repeats reports whether an event equals the last one except for its text, and returns the text.
func (t *translatorBase) repeats(ev *sse.Event) (text string, ok bool) {
	if !ev.Dispatched || len(ev.Data) > t.run.maxBytes || !bytes.Equal(ev.Type, t.typ) || !t.repeat.Match(ev.Data) {
		t.repeat.Reset()
		return "", false
	}
	t.edits, t.more = t.edits[:0], t.more[:0]
	var decoded []byte
	decoded, t.buf = t.repeat.Value(0).Text(t.buf)
	return string(decoded), true
}

// edit replaces the text of an event that matches the template.
func (t *translatorBase) edit(ev *sse.Event, text string) {
	raw := t.repeat.Value(0).Raw
	from := cap(ev.Data) - cap(raw) // raw is a subslice of ev.Data
	t.edits = append(t.edits, jsonstream.Edit{Start: from - 1, End: from + len(raw) + 1, Text: jsonstream.AppendQuote(nil, text)})
}

// read parses an event's payload. Events that cannot be parsed are forwarded unchanged; the codec
// rejects them.
func (t *translatorBase) read(ev *sse.Event) (root jsonstream.Value, ok bool) {
	t.edits, t.more = t.edits[:0], t.more[:0]
	if !ev.Dispatched || len(ev.Data) == 0 || ev.Data[0] != '{' || t.doc.Scan(ev.Data, provider.EnvelopeOptions(t.run.maxBytes)) != nil {
		return root, false
	}
	return t.doc.Root(), true
}

// write appends inserted events and then the current event with its edits.
func (t *translatorBase) write(dst []byte, ev *sse.Event) []byte {
	dst = append(dst, t.more...)
	if len(t.edits) == 0 {
		return ev.AppendTo(dst)
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	dst = t.edits.AppendTo(dst, ev.Data, 0, len(ev.Data))
	return ev.AppendTail(dst, payload)
}

// piece passes a chunk of text through the policies and edits the event if the text changed.
func (t *translatorBase) piece(v jsonstream.Value, choice, index int) (old, text string, err error) {
	old = v.Text()
	text, err = t.run.text(t.ctx, 0, choice, index, old)
	if err == nil && text != old {
		t.edits.Replace(v, jsonstream.AppendQuote(nil, text))
	}
	return old, text, err
}

// reader is an upstream's stream after the policies.
type reader struct {
	run     *Run
	ctx     context.Context
	from    io.Reader
	decoder *sse.Decoder
	ev      sse.Event
	base    *translatorBase
	to      translator
	out     []byte // output for the caller
	at      int    // read position in out
	waits   bool   // ev ends a response; it is processed after everything before it
	last    error  // error of from
	err     error  // that error, once it follows all output
}

// readSize is the size of a stream's buffer.
const readSize = 8 << 10

// Reader returns the stream of a response after the policies, or from itself if no policy has a
// hook for response text.
func (r *Run) Reader(ctx context.Context, from io.Reader) io.Reader {
	if r == nil || !r.chain.texts {
		return from
	}
	make := translators[r.x.Dialect]
	if make == nil {
		return from
	}
	t := &translatorBase{run: r, ctx: ctx}
	return &reader{
		run: r, ctx: ctx, from: from, base: t, to: make(t),
		decoder: sse.NewDecoder(newBuffer(), sse.Limits{MaxEvent: r.maxBytes}),
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
	if !d.waits {
		n, err := d.from.Read(d.decoder.Space())
		d.decoder.Filled(n)
		d.last = err
	}
	out, failed := d.out, d.run.over
	switch {
	case failed != nil:
	case d.run.chain.quick:
		d.run.guarded = false
		out, failed = d.work(d.ctx, out)
	default:
		failed = d.run.guard(d.ctx, func(ctx context.Context) (err error) {
			out, err = d.work(ctx, out)
			return err
		})
	}
	if failed != nil {
		// An abandoned hook may still write to the buffer.
		d.out, d.at, d.err = nil, 0, failed
		return
	}
	d.out = out
	if d.last != nil && !d.waits {
		d.out = append(d.out, d.decoder.Tail()...)
		d.err = d.last
	}
}

// ends reports whether an event may end a response, in any dialect. A false positive only delays,
// or ends the response here.
func ends(data []byte) bool {
	if i := bytes.Index(data, []byte(`"finish_reason"`)); i >= 0 {
		rest := bytes.TrimLeft(data[i+len(`"finish_reason"`):], ": ")
		return !bytes.HasPrefix(rest, []byte("null"))
	}
	for _, typ := range [...]string{`"message_delta"`, `"response.completed"`, `"response.incomplete"`, `"response.failed"`} {
		if bytes.Contains(data, []byte(typ)) {
			return true
		}
	}
	return false
}

// work passes complete events through the policies.
func (d *reader) work(ctx context.Context, out []byte) ([]byte, error) {
	d.base.ctx = ctx
	if err := d.run.start(ctx); err != nil {
		return nil, err
	}
	for {
		if !d.waits {
			ok, err := d.decoder.Next(&d.ev)
			if err != nil || !ok {
				return out, err
			}
			if d.waits = d.run.continues != nil && len(out) > 0 && ends(d.ev.Data); d.waits {
				return out, nil // whether this is the end is known once everything before it was judged
			}
		}
		d.waits = false
		var err error
		if out, err = d.to.event(out, &d.ev); err != nil {
			return nil, err
		}
	}
}
