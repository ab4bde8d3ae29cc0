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
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// Sink receives a response while it arrives. Its methods are called by the goroutine of Run and by
// callers of [Stream.Stop], never concurrently. They must not block and not call the stream.
type Sink interface {
	// Text receives the next chunk of text; Thinking a chunk of visible reasoning.
	Text(piece string)
	Thinking(piece string)
	// Call is an event of a call, see [provider.Sink].
	Call(e *stopgate.Event)
	// Refused reports whether every call so far is finally refused. If no other block is open, the
	// stream then cancels the response (D26-22).
	Refused() bool
}

// Reply is a response, possibly incomplete.
type Reply struct {
	// Parts are the parts of the response. Calls are without arguments, which the caller received
	// as events.
	Parts []conversation.Part
	// Stopped reports that the response was cancelled because every call was refused.
	Stopped bool
	// Limited reports that the model reached its token limit.
	Limited bool
	Usage   Usage
}

// Usage is the number of tokens that the provider reported, or zero.
type Usage struct{ In, Out int64 }

// Stream is a response that is arriving.
type Stream struct {
	sink   Sink
	body   io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	api    API
	names  map[stopgate.ToolName]stopgate.ToolName // original names of tools, by their aliases

	mu     sync.Mutex
	codec  provider.Stream
	reader reader
	parts  []conversation.Part
	calls  []int // indexes of calls in parts
	usage  Usage
	fault  error // error event of the provider
	limit  bool
	over   bool
	stop   bool
	out    []byte
}

// errStopped is the cause of a response that was cancelled because every call was refused.
var errStopped = errors.New("every call was refused")

// Run reads the response to its end. If it fails, the error is the cause of the context or the
// failure of the provider or connection, the reply is the part that arrived, and every incomplete
// call has ended as refused.
func (s *Stream) Run() (Reply, error) {
	defer s.cancel(nil)
	defer s.body.Close()
	// A body may ignore the context, so it is closed.
	release := context.AfterFunc(s.ctx, func() { s.body.Close() })
	defer release()
	var dec sse.Decoder
	dec.Reset(make([]byte, 4<<10), sse.Limits{})
	defer dec.Close()
	for {
		n, err := s.body.Read(dec.Space())
		done, failed := s.handleRead(&dec, n, err)
		if done {
			return s.reply(), failed
		}
	}
}

// handleRead processes the bytes of one read.
func (s *Stream) handleRead(dec *sse.Decoder, n int, readErr error) (done bool, err error) {
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

// event passes one event to the codec, which validates it, and then to the reader.
func (s *Stream) event(ev *sse.Event) error {
	out, need, err := s.codec.Event(s.out[:0], ev)
	s.out = out
	if err != nil {
		return err
	}
	if need == provider.Resolve {
		// The codec's output has no reader; the agent releases the calls itself.
		if s.out, err = s.codec.Release(s.out[:0], nil, nil); err != nil {
			return err
		}
	}
	s.over = need == provider.Finished
	if !ev.Dispatched || len(ev.Data) == 0 || ev.Data[0] != '{' {
		return nil
	}
	var doc jsonstream.Document
	if err := doc.Scan(ev.Data, provider.EnvelopeOptions(provider.DefaultMaxBytes)); err != nil {
		return err
	}
	s.reader.read(s, doc.Root())
	return nil
}

// abort ends the open calls of a broken response.
func (s *Stream) abort(err error) error {
	code := stopgate.CodeStreamTruncated
	var stream *provider.StreamError
	switch {
	case context.Cause(s.ctx) != nil:
		code = stopgate.CodeCancelled
	case errors.As(err, &stream):
		code = stream.Code
	}
	s.out = s.codec.Abort(s.out[:0], code, "")
	if s.fault != nil {
		return s.fault // more precise than the missing end
	}
	return err
}

// Stop cancels the response if every call is refused, after a verdict that did not come from the
// stream.
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
	s.out, _ = s.codec.Release(s.out[:0], nil, nil) // not read
	s.stop = true
	s.cancel(errStopped)
}

// Info returns the provider's description of the response.
func (s *Stream) Info() provider.ResponseInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.codec.Notes().Response
}

func (s *Stream) reply() Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Reply{Parts: slices.Clone(s.parts), Stopped: s.stop, Limited: s.limit, Usage: s.usage}
}

// Event implements [provider.Sink]. It keeps the position of a call among the other parts.
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

// addText adds a chunk of text.
func (s *Stream) addText(piece string) {
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

// keep adds an opaque part.
func (s *Stream) keep(raw string) {
	s.parts = append(s.parts, conversation.Part{Kind: conversation.Opaque, API: string(s.api), Raw: raw})
}

// fail stores the first error event of the response.
func (s *Stream) fail(v jsonstream.Value) {
	if s.fault == nil {
		text := message(v)
		if text == "" {
			text = "it does not say why"
		}
		s.fault = fmt.Errorf("the provider broke its answer off: %s", text)
	}
}
