package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// ErrRefused is returned by [Stream.Write] when no further byte can change the
// verdict: whoever writes can stop, and stop the model too.
var ErrRefused = errors.New("client: the call is refused already")

// Stream is a call whose arguments are still being written. Write and Close belong to
// one goroutine, Verdict and Refused may be used from others.
type Stream struct {
	call    Call
	to      *io.PipeWriter
	gone    func() error  // why the context of the call ended; nil while it has not
	refused chan struct{} // closed when the answer came before the arguments ended
	done    chan struct{} // closed when the answer is read

	mu       sync.Mutex
	verdict  Verdict
	received int64
	answer   Answer
	err      error
}

// streamLine is one line of a streamed answer.
type streamLine struct {
	Verdict  *Verdict `json:"verdict"`
	Received int64    `json:"received"`
	Call     *Answer  `json:"call"`
}

// Stream proposes a call before its arguments are known; call.Args are the first of
// them, if there are any. End it with Close, or end ctx: until then it holds a
// connection. Scope decide.
func (c *Client) Stream(ctx context.Context, call Call) (*Stream, error) {
	first, err := encode(call.body())
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	out, to := io.Pipe()
	// The gate answers with headers as soon as it knows which tool it is about.
	in, err := c.open(ctx, request{
		method: http.MethodPost, path: "/v1/calls/stream",
		header: merge(prefer(call.Wait), http.Header{
			"Content-Type": {"application/octet-stream"},
			"Expect":       {"100-continue"}, // whoever answers no does not wait for a body first
		}),
	}, io.MultiReader(bytes.NewReader(first), out))
	if err != nil {
		to.CloseWithError(err)
		return nil, err
	}
	gone := func() error { return context.Cause(ctx) }
	s := &Stream{call: call, to: to, gone: gone, refused: make(chan struct{}), done: make(chan struct{})}
	go s.read(in.Body, out)
	if len(call.Args) > 0 {
		if _, err := s.Write(call.Args); err != nil && !errors.Is(err, ErrRefused) {
			return nil, errors.Join(err, s.abort())
		}
	}
	return s, nil
}

// read takes the answer until its end.
func (s *Stream) read(body io.ReadCloser, out *io.PipeReader) {
	defer close(s.done)
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxAnswer)
	ended := false
	for lines.Scan() {
		var l streamLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || ended {
			s.fail(out, fmt.Errorf("%w: %w", errAnswer, errors.Join(err, errors.New("a line that does not belong there"))))
			return
		}
		s.mu.Lock()
		if l.Verdict != nil {
			s.verdict, s.received = *l.Verdict, l.Received
		}
		if l.Call != nil {
			s.answer, s.err = l.Call.checked(s.call.Tool)
			s.verdict, s.received, ended = s.answer.Verdict, s.answer.Bytes, true
		}
		s.mu.Unlock()
		if ended {
			close(s.refused)
			out.CloseWithError(ErrRefused) // of no consequence where the arguments ended before
		}
	}
	if !ended {
		s.fail(out, fmt.Errorf("%w: it broke off: %w", errAnswer, errors.Join(lines.Err(), io.ErrUnexpectedEOF)))
	}
}

// fail ends the stream without an answer.
func (s *Stream) fail(out *io.PipeReader, err error) {
	s.mu.Lock()
	s.answer, s.err = Answer{}, err
	s.mu.Unlock()
	out.CloseWithError(err)
}

// Write sends a piece of the argument text. It returns ErrRefused when the answer is
// there already: Close then returns it.
func (s *Stream) Write(piece []byte) (int, error) {
	select {
	case <-s.refused:
		return 0, ErrRefused
	default:
	}
	n, err := s.to.Write(piece)
	if err == nil {
		return n, nil
	}
	// The connection may break before the line that says why has been read.
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return n, ErrRefused
	}
	return n, s.err
}

// Verdict is what the gate has said so far, and the argument bytes behind it. An
// unattended one is provisional, for people to see (D26): only the answer of Close lets
// the call run.
func (s *Stream) Verdict() (v Verdict, received int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.verdict, s.received
}

// Refused is closed when the answer is known: before Close that is a refusal.
func (s *Stream) Refused() <-chan struct{} { return s.refused }

// Close ends the arguments and returns the answer. A call that is closed without its
// last bytes is denied as what it is, malformed. Behind the end of its context a call is
// given up, as by Cancel: the gate is not told that the arguments are complete.
func (s *Stream) Close() (Answer, error) {
	s.to.CloseWithError(s.gone()) // nil: io.EOF
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answer, s.err
}

// Cancel gives the call up: the gate records it as cut off and nothing runs.
func (s *Stream) Cancel() error {
	err := s.abort()
	if errors.Is(err, errAnswer) { // that it breaks off is what was asked for
		return nil
	}
	return err
}

func (s *Stream) abort() error {
	s.to.CloseWithError(errors.New("client: cancelled"))
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// merge adds headers to others, which may be nil.
func merge(a, b http.Header) http.Header {
	for name, values := range a {
		b[name] = values
	}
	return b
}
