package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/wire"
	"github.com/stopgate/stopgate/internal/wire/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// Sink hears of an answer while it arrives. Its methods are called by the goroutine of
// Run, and by callers of [Stream.Stop], never at the same time. They must not block and
// not call the stream.
type Sink interface {
	// Text is the next piece of what the model says; Thinking of what it shows of its
	// reasoning.
	Text(piece string)
	Thinking(piece string)
	// Call is an event of a call, see [wire.Sink].
	Call(e *stopgate.Event)
	// Refused reports whether every call so far is refused for good: if nothing else is
	// open, the model is then stopped (D26-22).
	Refused() bool
}

// Reply is an answer, or what there was of it.
type Reply struct {
	// Parts are what it consists of. Calls have no arguments: whoever judged them knows
	// what they are.
	Parts []conversation.Part
	// Stopped says that the model was stopped because every call was refused.
	Stopped bool
	// Limited says that the model ran into its limit of tokens.
	Limited bool
	Usage   Usage
}

// Usage is what a provider counted; zero where it does not say.
type Usage struct{ In, Out int64 }

// Stream is an answer that arrives.
type Stream struct {
	sink   Sink
	body   io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	api    API
	names  map[stopgate.ToolName]stopgate.ToolName // of tools, by their aliases

	mu     sync.Mutex
	codec  wire.Stream
	reader reader
	parts  []conversation.Part
	calls  []int // of parts
	usage  Usage
	fault  error // the provider's own
	limit  bool
	over   bool
	stop   bool
	out    []byte
}

// errStopped is the cause of an answer that is not wanted any more.
var errStopped = errors.New("every call was refused")

// Run reads the answer to its end. The error says why it has none: the cause of the
// context, or what the provider or the connection did; the reply is then what came
// before, and every call that was not complete has ended as refused.
func (s *Stream) Run() (Reply, error) {
	defer s.cancel(nil)
	defer s.body.Close()
	// A body that does not care about the context must not hold us.
	release := context.AfterFunc(s.ctx, func() { s.body.Close() })
	defer release()
	var dec sse.Decoder
	dec.Reset(make([]byte, 4<<10), sse.Limits{})
	defer dec.Close()
	for {
		n, err := s.body.Read(dec.Space())
		done, failed := s.take(&dec, n, err)
		if done {
			return s.reply(), failed
		}
	}
}

// take handles what one read brought.
func (s *Stream) take(dec *sse.Decoder, n int, readErr error) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop {
		return true, nil
	}
	dec.Filled(n)
	var ev sse.Event
	for {
		ok, err := dec.Next(&ev)
		if err != nil {
			return true, s.abort(err)
		}
		if !ok {
			break
		}
		if err := s.event(&ev); err != nil {
			return true, s.abort(err)
		}
		if s.over {
			return true, s.fault
		}
	}
	if s.settle(); s.stop {
		return true, nil
	}
	switch {
	case readErr == nil:
		return false, nil
	case context.Cause(s.ctx) != nil:
		return true, s.abort(context.Cause(s.ctx))
	case !errors.Is(readErr, io.EOF):
		return true, s.abort(fmt.Errorf("read the answer: %w", readErr))
	}
	if _, _, err := s.codec.EOF(s.out[:0], dec.Tail()); err != nil {
		return true, s.abort(err)
	}
	return true, s.fault
}

// event hands one event to the codec, which judges its form, and then to the reader.
func (s *Stream) event(ev *sse.Event) error {
	out, need, err := s.codec.Event(s.out[:0], ev)
	s.out = out
	if err != nil {
		return err
	}
	if need == wire.Resolve {
		// Nothing is released to anybody: what runs is for the agent to decide.
		if s.out, err = s.codec.Release(s.out[:0], nil, nil); err != nil {
			return err
		}
	}
	s.over = need == wire.Finished
	if !ev.Dispatched || len(ev.Data) == 0 || ev.Data[0] != '{' {
		return nil
	}
	var doc jsonstream.Document
	if err := doc.Scan(ev.Data, wire.EnvelopeOptions(wire.DefaultMaxBytes)); err != nil {
		return err
	}
	s.reader.read(s, doc.Root())
	return nil
}

// abort ends what is open because the answer broke off.
func (s *Stream) abort(err error) error {
	code := stopgate.CodeStreamTruncated
	var stream *wire.StreamError
	switch {
	case context.Cause(s.ctx) != nil:
		code = stopgate.CodeCancelled
	case errors.As(err, &stream):
		code = stream.Code
	}
	s.out = s.codec.Abort(s.out[:0], code, "")
	if s.fault != nil {
		return s.fault // it says more than that the answer has no end
	}
	return err
}

// Stop looks whether the model need not go on, and stops it then: for a verdict that
// came from elsewhere than the stream.
func (s *Stream) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
}

func (s *Stream) settle() {
	if s.stop || s.over || s.ctx.Err() != nil || !s.sink.Refused() || !s.codec.CanCancel() {
		return
	}
	s.codec.Cancel()
	s.out, _ = s.codec.Release(s.out[:0], nil, nil) // nobody reads it
	s.stop = true
	s.cancel(errStopped)
}

// Answer is what the answer says about itself.
func (s *Stream) Info() wire.ResponseInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.codec.Notes().Response
}

func (s *Stream) reply() Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Reply{Parts: slices.Clone(s.parts), Stopped: s.stop, Limited: s.limit, Usage: s.usage}
}

// Event implements [wire.Sink]: it keeps the place of a call among the other parts.
func (s *Stream) Event(e *stopgate.Event) {
	if name, ok := s.names[e.Tool]; ok {
		known := *e
		known.Tool, e = name, &known
	}
	switch e.Kind {
	case stopgate.CallStarted:
		for len(s.calls) <= e.Call {
			s.calls = append(s.calls, len(s.parts))
			s.parts = append(s.parts, conversation.Part{Kind: conversation.Call})
		}
		p := s.call(e)
		p.ID, p.Tool = string(e.ID), string(e.Tool)
	case stopgate.CallEnded, stopgate.CallRefused:
		if p := s.call(e); e.ID != "" {
			p.ID = string(e.ID)
		}
	}
	s.sink.Call(e)
}

func (s *Stream) call(e *stopgate.Event) *conversation.Part {
	if e.Call < 0 || e.Call >= len(s.calls) {
		return new(conversation.Part)
	}
	return &s.parts[s.calls[e.Call]]
}

// say adds a piece of text.
func (s *Stream) say(piece string) {
	if piece == "" {
		return
	}
	if n := len(s.parts); n > 0 && s.parts[n-1].Kind == conversation.Text {
		s.parts[n-1].Text += piece
	} else {
		s.parts = append(s.parts, conversation.Part{Kind: conversation.Text, Text: piece})
	}
	s.sink.Text(piece)
}

// keep adds something that only its provider understands.
func (s *Stream) keep(raw string) {
	s.parts = append(s.parts, conversation.Part{Kind: conversation.Opaque, API: string(s.api), Raw: raw})
}

// fail keeps the first error that the provider reports within the answer.
func (s *Stream) fail(v jsonstream.Value) {
	if s.fault == nil {
		text := message(v)
		if text == "" {
			text = "it does not say why"
		}
		s.fault = fmt.Errorf("the provider broke its answer off: %s", text)
	}
}
