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

// ErrRefused is returned by [Stream.Write] when no further byte can change the verdict. Stop
// writing, and stop the model.
var ErrRefused = errors.New("client: the call is refused already")

// Stream is a call whose arguments are still being generated. Write and Close must be called from
// one goroutine; Verdict and Refused are safe for concurrent use.
type Stream struct {
	call    Call
	to      *io.PipeWriter
	gone    func() error  // reason why the call's context ended, or nil
	asked   chan Question // the question, at most twice
	refused chan struct{} // closed if the decision arrives before the end of the arguments
	done    chan struct{} // closed when the decision has been read

	mu       sync.Mutex
	verdict  Verdict
	received int64
	answer   Decision
	err      error
}

// streamLine is one line of a streamed response.
type streamLine struct {
	Verdict  *Verdict  `json:"verdict"`
	Received int64     `json:"received"`
	Approval *Question `json:"approval"`
	Call     *Decision `json:"call"`
}

// Stream submits a call before its arguments are complete; call.Args are the first of them, if any.
// End it with Close or by ending ctx; until then it holds a connection. Scope decide.
func (c *Client) Stream(ctx context.Context, call Call) (*Stream, error) {
	first, err := encode(call.body())
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	out, to := io.Pipe()
	// The gate sends headers as soon as it knows the tool.
	in, err := c.open(ctx, request{
		method: http.MethodPost, path: "/v1/calls/stream",
		header: merge(call.header(), http.Header{
			"Content-Type": {"application/octet-stream"},
			"Expect":       {"100-continue"}, // a gate that rejects the request does not wait for a body
		}),
	}, io.MultiReader(bytes.NewReader(first), out))
	if err != nil {
		to.CloseWithError(err)
		return nil, err
	}
	gone := func() error { return context.Cause(ctx) }
	s := &Stream{call: call, to: to, gone: gone, asked: make(chan Question, 2), refused: make(chan struct{}), done: make(chan struct{})}
	go s.read(in.Body, out)
	if len(call.Args) > 0 {
		if _, err := s.Write(call.Args); err != nil && !errors.Is(err, ErrRefused) {
			return nil, errors.Join(err, s.abort())
		}
	}
	return s, nil
}

// read decodes the response until its end.
func (s *Stream) read(body io.ReadCloser, out *io.PipeReader) {
	defer close(s.done)
	defer body.Close()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxResponse)
	ended := false
	for lines.Scan() {
		var l streamLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || ended {
			s.fail(out, fmt.Errorf("%w: %w", errNotAGate, errors.Join(err, errors.New("a line that does not belong there"))))
			return
		}
		s.mu.Lock()
		if l.Verdict != nil {
			s.verdict, s.received = *l.Verdict, l.Received
		}
		if l.Approval != nil {
			select {
			case s.asked <- *l.Approval:
			default:
			}
		}
		if l.Call != nil {
			s.answer, s.err = l.Call.validate(s.call.Tool)
			s.verdict, s.received, ended = s.answer.Verdict, s.answer.Bytes, true
		}
		s.mu.Unlock()
		if ended {
			close(s.refused)
			out.CloseWithError(ErrRefused) // no effect if the arguments have ended
		}
	}
	if !ended {
		s.fail(out, fmt.Errorf("%w: it broke off: %w", errNotAGate, errors.Join(lines.Err(), io.ErrUnexpectedEOF)))
	}
}

// fail ends the stream without a decision.
func (s *Stream) fail(out *io.PipeReader, err error) {
	s.mu.Lock()
	s.answer, s.err = Decision{}, err
	s.mu.Unlock()
	out.CloseWithError(err)
}

// Write sends a chunk of the argument text. It returns ErrRefused if the decision has arrived;
// Close then returns the decision.
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
	// The connection may break before the line with the reason has been read.
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return n, ErrRefused
	}
	return n, s.err
}

// Verdict returns the current verdict and the number of argument bytes that it is based on. An
// unattended verdict is provisional and for display (D26); only the decision of Close allows the
// call.
func (s *Stream) Verdict() (v Verdict, received int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.verdict, s.received
}

// Asked returns the question about a call that this program answers ([Call.Answers]): once as soon as it
// is asked, when only a no is accepted, and once when the arguments are complete. The stream waits for the
// answer for as long as Call.Wait says.
func (s *Stream) Asked() <-chan Question { return s.asked }

// Refused is closed when the decision is known. Before Close, the decision is a denial.
func (s *Stream) Refused() <-chan struct{} { return s.refused }

// Close ends the arguments and returns the decision. A call that is closed without its last bytes
// is denied as malformed. After the end of its context, Close cancels the call as Cancel does,
// without completing the arguments.
func (s *Stream) Close() (Decision, error) {
	s.to.CloseWithError(s.gone()) // nil becomes io.EOF
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answer, s.err
}

// Cancel abandons the call. The gate records it as cancelled, and it must not run.
func (s *Stream) Cancel() error {
	err := s.abort()
	if errors.Is(err, errNotAGate) { // the broken response was requested
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

// merge adds headers to a, which may be nil.
func merge(a, b http.Header) http.Header {
	for name, values := range a {
		b[name] = values
	}
	return b
}
