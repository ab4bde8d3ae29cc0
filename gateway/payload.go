package gateway

import (
	"io"
	"net/http"
	"sync"
)

// payload is the body of a request to an upstream. The transport keeps the
// request until the response's end, and histories are long: once the body was
// sent and an answer is there, nobody needs it any more.
type payload struct {
	mu   sync.Mutex
	data []byte
	sent bool
}

// attach makes data the body of a request.
func (p *payload) attach(r *http.Request, data []byte) {
	if len(data) == 0 {
		r.Body = http.NoBody
		return
	}
	p.data = data
	r.ContentLength = int64(len(data))
	r.GetBody = func() (io.ReadCloser, error) { return &payloadReader{p: p}, nil }
	r.Body = &payloadReader{p: p}
}

// drop lets go of a body that was sent to its end. One that was not stays: the
// transport is still reading it.
func (p *payload) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent {
		p.data = nil
	}
}

// payloadReader reads a payload once; a transport may open another one to send
// the request again on a connection that turned out to be closed.
type payloadReader struct {
	p  *payload
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
