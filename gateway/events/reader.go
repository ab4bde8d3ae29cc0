package events

import (
	"bytes"
	"context"
	"io"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// translator finds texts in the events of one dialect and writes what became of them.
type translator interface {
	// event appends what stands for an event.
	event(dst []byte, ev *sse.Event) ([]byte, error)
}

// translators by dialect; bodies likewise, for responses that are not streamed.
var translators = map[string]func(*tap) translator{
	"openai-chat":      func(t *tap) translator { return &chatStream{tap: t} },
	"openai-responses": func(t *tap) translator { return &responsesStream{tap: t} },
	"anthropic":        func(t *tap) translator { return &anthropicStream{tap: t} },
}

var bodies = map[string]textsOf{
	"openai-chat":      chatBody,
	"openai-responses": responsesBody,
	"anthropic":        anthropicBody,
}

// tap is what all translators need: the run, and the event that is being read.
type tap struct {
	run   *Run
	ctx   context.Context
	doc   jsonstream.Document
	edits wire.Edits
	more  []byte // what is written in front of the event

	repeat wire.Repeat // of the last event that held one text and nothing else
	typ    []byte      // of that event
	of     int         // whose text it was
	buf    []byte
}

// learn remembers an event with one text, so that the next one like it need not be
// read; seq is its number, if it has one.
func (t *tap) learn(ev *sse.Event, of int, text, seq jsonstream.Value, root jsonstream.Value) {
	padding, _ := root.Get("obfuscation")
	t.of, t.typ = of, append(t.typ[:0], ev.Type...)
	t.repeat.Learn(ev, text, seq, padding)
}

// again reports whether an event is the last one with another text, and returns the text.
func (t *tap) again(ev *sse.Event) (text string, ok bool) {
	if !ev.Dispatched || len(ev.Data) > t.run.maxBytes || !bytes.Equal(ev.Type, t.typ) || !t.repeat.Match(ev.Data) {
		t.repeat.Forget()
		return "", false
	}
	t.edits, t.more = t.edits[:0], t.more[:0]
	var decoded []byte
	decoded, t.buf = t.repeat.Found(0).Text(t.buf)
	return string(decoded), true
}

// edit puts another text into an event that repeats the last one.
func (t *tap) edit(ev *sse.Event, text string) {
	raw := t.repeat.Found(0).Raw
	from := cap(ev.Data) - cap(raw) // raw is a part of it
	t.edits = append(t.edits, jsonstream.Edit{Start: from - 1, End: from + len(raw) + 1, Text: jsonstream.AppendQuote(nil, text)})
}

// read reads an event's payload. Whatever cannot be read passes as it is: the codec
// behind refuses it.
func (t *tap) read(ev *sse.Event) (root jsonstream.Value, ok bool) {
	t.edits, t.more = t.edits[:0], t.more[:0]
	if !ev.Dispatched || len(ev.Data) == 0 || ev.Data[0] != '{' || t.doc.Scan(ev.Data, wire.EnvelopeOptions(t.run.maxBytes)) != nil {
		return root, false
	}
	return t.doc.Root(), true
}

// write appends the event with its edits, behind what stands in front of it.
func (t *tap) write(dst []byte, ev *sse.Event) []byte {
	dst = append(dst, t.more...)
	if len(t.edits) == 0 {
		return ev.AppendTo(dst)
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	dst = t.edits.AppendTo(dst, ev.Data, 0, len(ev.Data))
	return ev.AppendTail(dst, payload)
}

// piece shows a piece of text and edits the event if it changed.
func (t *tap) piece(v jsonstream.Value, choice, index int) (old, text string, err error) {
	old = v.Text()
	text, err = t.run.text(t.ctx, 0, choice, index, old)
	if err == nil && text != old {
		t.edits.Replace(v, jsonstream.AppendQuote(nil, text))
	}
	return old, text, err
}

// reader is an upstream's stream as the policies leave it.
type reader struct {
	run     *Run
	ctx     context.Context
	from    io.Reader
	decoder *sse.Decoder
	ev      sse.Event
	tap     *tap
	to      translator
	out     []byte // for the caller
	at      int    // of out
	waits   bool   // ev is the end of an answer, to be read once all before it was
	last    error  // of from
	err     error  // the same, returned behind out
}

// readSize is the size of a stream's buffer.
const readSize = 8 << 10

// Reader returns the stream of a response as the policies leave it. Where no policy
// looks at texts it is the stream itself.
func (r *Run) Reader(ctx context.Context, from io.Reader) io.Reader {
	if r == nil || !r.chain.texts {
		return from
	}
	make := translators[r.x.Dialect]
	if make == nil {
		return from
	}
	t := &tap{run: r, ctx: ctx}
	return &reader{
		run: r, ctx: ctx, from: from, tap: t, to: make(t),
		decoder: sse.NewDecoder(newBuffer(), sse.Limits{MaxEvent: r.maxBytes}),
	}
}

func newBuffer() []byte { return make([]byte, readSize) }

// Read implements [io.Reader]. An error that is not the stream's own is a *HookError,
// and nothing of the events that it stopped at is returned. It reads upstream once at
// most, so that every sign of life of the provider is one: no bytes and no error mean that
// no whole event has come.
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

// fill reads once and shows what came to the policies.
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
		// A hook that was given up may still write into the buffer.
		d.out, d.at, d.err = nil, 0, failed
		return
	}
	d.out = out
	if d.last != nil && !d.waits {
		d.out = append(d.out, d.decoder.Tail()...)
		d.err = d.last
	}
}

// ends reports whether an event may be the end of an answer, in any dialect. A mistake
// costs a pause, or ends the response with this answer.
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

// work shows the complete events to the policies.
func (d *reader) work(ctx context.Context, out []byte) ([]byte, error) {
	d.tap.ctx = ctx
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
				return out, nil // whether it is an end is known when all before it was judged
			}
		}
		d.waits = false
		var err error
		if out, err = d.to.event(out, &d.ev); err != nil {
			return nil, err
		}
	}
}
