package upstream

import (
	"io"
	"net/http"
	"sync"
)

// Payload is the body of a request to an upstream. The transport retains the request until the end
// of the response, and histories are long, so the bytes are dropped once the body was sent and a
// response has arrived.
type Payload struct {
	mu   sync.Mutex
	data []byte
	sent bool
}

// attach makes data the body of a request.
func (p *Payload) attach(r *http.Request, data []byte) {
	if len(data) == 0 {
		r.Body = http.NoBody
		return
	}
	p.data = data
	r.ContentLength = int64(len(data))
	r.GetBody = func() (io.ReadCloser, error) { return &payloadReader{p: p}, nil }
	r.Body = &payloadReader{p: p}
}

// Sent releases a body that was sent completely. The transport may still be reading an incomplete
// one.
func (p *Payload) Sent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent {
		p.data = nil
	}
}

// payloadReader reads a payload once. A transport may open another one to send the request again if
// a reused connection was closed.
type payloadReader struct {
	p  *Payload
	at int
}

func (r *payloadReader) Read(b []byte) (int, error) {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if r.at >= len(r.p.data) {
		return 0, io.EOF
	}
	n := copy(b, r.p.data[r.at:])
	r.at += n
	r.p.sent = r.at == len(r.p.data)
	return n, nil
}

func (r *payloadReader) Close() error { return nil }
