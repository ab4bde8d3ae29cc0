package otel

import (
	"io"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/internal/provider/transcript"
	"go.opentelemetry.io/otel/attribute"
)

// show returns a JSON text as a span may contain it.
func (t *Tracer) show(text []byte) string {
	return transcript.Writer{Hide: t.o.Hide}.Value(text)
}

// content is a request to a model and the answer so far.
type content struct {
	asked  []byte
	answer prefix
}

// Content implements [gateway.ContentObservation].
func (x *exchange) Content(_ *gateway.Observed, body []byte) io.Writer {
	if !x.t.o.Content || !x.server.IsRecording() {
		return nil
	}
	x.content = &content{asked: body}
	return &x.content.answer
}

// prefix keeps the start of the bytes written to it.
type prefix struct{ p []byte }

// Write implements [io.Writer]. It keeps the bytes that fit.
func (k *prefix) Write(p []byte) (int, error) {
	k.p = append(k.p, p[:min(len(p), transcript.MaxAnswer-len(k.p))]...)
	return len(p), nil
}

// messages returns the attributes of a conversation.
func (t *Tracer) messages(dialect string, c *content, streamed bool) (list []attribute.KeyValue) {
	api := registry.Named(dialect)
	if c == nil || api == nil {
		return nil
	}
	w := transcript.Writer{Hide: t.o.Hide}
	asked := w.Request(&api.Transcript, c.asked)
	list = appendText(list, "gen_ai.system_instructions", asked.System)
	list = appendText(list, "gen_ai.input.messages", asked.Messages)
	list = appendText(list, "gen_ai.tool.definitions", asked.Tools)
	return appendText(list, "gen_ai.output.messages", w.Answer(&api.Transcript, streamed, c.answer.p))
}

// showText returns a result as a span may contain it: JSON, or a text.
func (t *Tracer) showText(text string) string {
	if shown := t.show([]byte(text)); shown != "" {
		return shown
	}
	return transcript.Text(text)
}
