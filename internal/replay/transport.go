package replay

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Transport returns a RoundTripper that calls a handler in the process, without a socket and
// without a buffer: a write returns when the client has read it, and a client that closes the body
// or cancels its request ends the handler's context at once.
func Transport(h http.Handler) http.RoundTripper { return transport{h} }

type transport struct{ h http.Handler }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	in := req.Clone(ctx)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	pr, pw := io.Pipe()
	w := &pipeWriter{pw: pw, header: http.Header{}, ready: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { pr.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer stop()
		defer in.Body.Close()
		defer func() {
			if v := recover(); v != nil {
				pw.CloseWithError(fmt.Errorf("the handler failed: %v", v))
			}
			w.WriteHeader(http.StatusOK)
			pw.CloseWithError(context.Cause(ctx)) // nil is the regular end
		}()
		t.h.ServeHTTP(w, in)
	}()
	select {
	case <-w.ready:
	case <-ctx.Done():
		cancel(nil)
		return nil, context.Cause(ctx)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: &pipeBody{PipeReader: pr, cancel: cancel}, ContentLength: -1, Request: req,
	}, nil
}

// pipeBody ends the handler's context when the client closes it.
type pipeBody struct {
	*io.PipeReader
	cancel context.CancelCauseFunc
}

func (b *pipeBody) Close() error {
	b.cancel(context.Canceled)
	return b.PipeReader.Close()
}

// pipeWriter is the handler's side. Only the handler's goroutine uses it; closing ready passes the
// fields status and sent to the client.
type pipeWriter struct {
	pw     *io.PipeWriter
	header http.Header
	once   sync.Once
	ready  chan struct{}
	status int
	sent   http.Header
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.ready)
	})
}

func (w *pipeWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pw.Write(p)
}

// Flush sends the header; earlier writes have already been read.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }
