package otel

import (
	"io"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/record/transcript"
	"go.opentelemetry.io/otel/attribute"
)

// show is a JSON text as a span may hold it.
func (t *Tracer) show(text []byte) string {
	return transcript.Writer{Hide: t.o.Hide}.Value(text)
}

// content is what a model was asked, and what there is of its answer.
type content struct {
	asked  []byte
	answer kept
}

// Content implements [gateway.ContentObservation].
func (x *exchange) Content(_ *gateway.Observed, body []byte) io.Writer {
	if !x.t.o.Content || !x.server.IsRecording() {
		return nil
	}
	x.said = &content{asked: body}
	return &x.said.answer
}

// kept keeps the beginning of what is written to it.
type kept struct{ p []byte }

// Write implements [io.Writer]. It keeps what there is room for.
func (k *kept) Write(p []byte) (int, error) {
	k.p = append(k.p, p[:min(len(p), transcript.MaxAnswer-len(k.p))]...)
	return len(p), nil
}

// messages are the attributes that hold a conversation.
func (t *Tracer) messages(dialect string, c *content, streamed bool) (list []attribute.KeyValue) {
	if c == nil {
		return nil
	}
	w := transcript.Writer{Hide: t.o.Hide}
	asked := w.Request(dialect, c.asked)
	list = appendText(list, "gen_ai.system_instructions", asked.System)
	list = appendText(list, "gen_ai.input.messages", asked.Messages)
	list = appendText(list, "gen_ai.tool.definitions", asked.Tools)
	return appendText(list, "gen_ai.output.messages", w.Answer(dialect, streamed, c.answer.p))
}

// showText is a result as a span may hold it: JSON, or a text.
func (t *Tracer) showText(text string) string {
	if shown := t.show([]byte(text)); shown != "" {
		return shown
	}
	return transcript.Text(text)
}
