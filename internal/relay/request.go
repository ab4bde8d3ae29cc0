package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"
	"unicode/utf8"

	"github.com/stopgate/stopgate/jsonstream"
)

// origin is the origin of URLs at the gate, whatever its path.
const origin = "http://stopgate"

// maxQueued limits the bytes of a body that the gate has not read yet.
const maxQueued = 32 << 20

// request is one open request.
type request struct {
	frame  frame
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   *queue // of a body that arrives in parts; nil for a whole one
}

func newRequest(ctx context.Context, f frame) *request {
	q := &request{frame: f}
	q.ctx, q.cancel = context.WithCancelCause(ctx)
	if f.open {
		q.body = newQueue(f.body)
	}
	return q
}

// more continues the body, ends it or cancels the request. A part that does not fit ends the request:
// whether it had ended before is not known to the client.
func (q *request) more(f frame) {
	var p *Problem
	switch {
	case f.cancel:
		p = &Problem{Cancelled, "the client cancelled the request"}
	case q.body == nil:
		p = errBodyEnded()
	default:
		p = q.body.add(f.body, f.end)
	}
	if p != nil {
		q.cancel(p)
	}
}

func errBodyEnded() *Problem {
	return &Problem{BadRequest, "the body of this request has ended already"}
}

// run sends the request and passes the response on.
func (q *request) run(r *relay) {
	defer q.cancel(nil)
	if p := q.pass(r); p != nil {
		if cause := (*Problem)(nil); errors.As(context.Cause(q.ctx), &cause) {
			p = cause
		}
		r.out.write(appendProblem(nil, q.frame.id, p))
	}
}

// pass returns the problem with which the request ends, nil if the response is complete.
func (q *request) pass(r *relay) *Problem {
	var body io.Reader = bytes.NewReader(q.frame.body)
	if q.body != nil {
		defer q.body.Close()
		body = q.body
	}
	h, err := http.NewRequestWithContext(q.ctx, q.frame.method, origin+q.frame.path, body)
	if err != nil {
		return &Problem{BadRequest, err.Error()}
	}
	for name, values := range q.frame.headers {
		h.Header[name] = values
	}
	// The transport would send a request again that it can repeat, on another connection and to another
	// gate: without GetBody it cannot. It repeats no POST or PUT with an empty body and without a key,
	// which have a length this way.
	if q.body != nil || len(q.frame.body) > 0 || !writes(h) || h.Header.Get("Idempotency-Key") != "" || h.Header.Get("X-Idempotency-Key") != "" {
		h.GetBody, h.Body = nil, io.NopCloser(body)
	}
	if h.Header.Get("Content-Type") == "" && (q.body != nil || len(q.frame.body) > 0) {
		h.Header.Set("Content-Type", "application/json")
	}
	a, err := r.transport.RoundTrip(h)
	if err != nil {
		return problemOf(err, Lost)
	}
	defer a.Body.Close()
	return q.answer(r, a)
}

func writes(h *http.Request) bool { return h.Method == http.MethodPost || h.Method == http.MethodPut }

// answer passes a response on.
func (q *request) answer(r *relay, a *http.Response) *Problem {
	head := appendHead(nil, q.frame.id, a)
	arriving := false
	switch kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type")); kind {
	case "application/x-ndjson", "text/event-stream":
		arriving = true
	}
	if !arriving {
		// A body that fits into a frame is passed on whole.
		text, err := io.ReadAll(io.LimitReader(a.Body, maxPart+1))
		switch {
		case err != nil:
			return problemOf(err, Lost)
		case len(text) <= maxPart && !utf8.Valid(text):
			return errText()
		case len(text) <= maxPart:
			r.out.write(append(quoted(append(head, `,"body":`...), text), "}\n"...))
			return nil
		}
		a.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(text), a.Body), a.Body}
	}
	r.out.write(append(head, `,"open":true}`+"\n"...))
	return q.parts(r, a.Body)
}

// maxPart is the size of a part of a response. A frame has room for it even if every byte is escaped.
const maxPart = 2 << 20

func errText() *Problem { return &Problem{Lost, "the gate's response is not text in UTF-8"} }

// parts passes a body on as it arrives.
func (q *request) parts(r *relay, body io.Reader) *Problem {
	buffer := make([]byte, 32<<10)
	kept := 0 // bytes of a code point whose rest has not arrived
	for {
		n, err := body.Read(buffer[kept:])
		text := buffer[:kept+n]
		whole := wholeText(text)
		if !utf8.Valid(text[:whole]) || err != nil && whole < len(text) {
			return errText()
		}
		if whole > 0 {
			r.out.write(append(quoted(append(appendID(nil, q.frame.id), `,"body":`...), text[:whole]), "}\n"...))
		}
		kept = copy(buffer, text[whole:])
		switch {
		case errors.Is(err, io.EOF):
			r.out.write(append(appendID(nil, q.frame.id), `,"end":true}`+"\n"...))
			return nil
		case err != nil:
			return problemOf(err, Lost)
		}
	}
}

// wholeText returns the length of a text without a code point that is cut at its end.
func wholeText(text []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if b := text[len(text)-i]; utf8.RuneStart(b) {
			if utf8.FullRune(text[len(text)-i:]) {
				break
			}
			return len(text) - i
		}
	}
	return len(text)
}

func quoted(to, text []byte) []byte { return jsonstream.AppendQuote(to, text) }

// queue is a body that arrives in parts. It never blocks the frames of other requests.
type queue struct {
	mu     sync.Mutex
	text   bytes.Buffer
	ended  bool
	closed bool
	wake   chan struct{} // has a value after every change
}

func newQueue(text []byte) *queue {
	b := &queue{wake: make(chan struct{}, 1)}
	b.text.Write(text)
	return b
}

// add appends a part. After Close it has no effect.
func (b *queue) add(text []byte, end bool) *Problem {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil
	case b.ended:
		return errBodyEnded()
	case b.text.Len()+len(text) > maxQueued:
		return &Problem{TooLarge, "the gate does not read the body of a request as fast as it arrives"}
	}
	b.text.Write(text)
	b.ended = end
	b.signal()
	return nil
}

func (b *queue) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Read implements [io.Reader].
func (b *queue) Read(p []byte) (int, error) {
	for {
		b.mu.Lock()
		switch {
		case b.closed:
			b.mu.Unlock()
			return 0, errEnds
		case b.text.Len() > 0:
			defer b.mu.Unlock()
			return b.text.Read(p)
		case b.ended:
			b.mu.Unlock()
			return 0, io.EOF
		}
		b.mu.Unlock()
		<-b.wake
	}
}

// Close ends reading.
func (b *queue) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.signal()
	return nil
}
