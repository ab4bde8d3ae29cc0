package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/body"
	"github.com/stopgate/stopgate/internal/gateway/chain"
	"github.com/stopgate/stopgate/internal/gateway/upstream"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// providerCall is the exchange's request to the provider; a later round sends another one.
type providerCall struct {
	x         *exchange
	stop      func()      // cancels the request only
	letGo     func() bool // keeps the request alive after the exchange, or nil
	status    int         // status of the last response, or 0
	cancelled bool        // no call of the response could run any longer
}

// send sends the upstream request and waits for the response header.
func (p *providerCall) send(r *http.Request, body []byte) (*http.Response, *refusal) {
	x := p.x
	var sent upstream.Payload
	out, err := x.upstream.Request(p.reach(), r, &sent, body)
	if err != nil {
		return nil, badAnswer("")
	}
	limit := x.upstream.Timeouts.AnswerWhole
	if x.req.Stream {
		limit = x.upstream.Timeouts.Answer
	}
	x.observed.sent(x.upstream, out.Header, body)
	late := time.AfterFunc(limit, func() { x.cancel(errAnswerLate) })
	answer, err := x.upstream.Transport.RoundTrip(out)
	if late.Stop(); err == nil {
		sent.Sent()
		x.observed.answered(answer)
		p.status = answer.StatusCode
		return answer, nil
	}
	code, message := p.why(err)
	status := http.StatusBadGateway
	switch code {
	case stopgate.CodeUpstreamTimeout:
		status = http.StatusGatewayTimeout
	case stopgate.CodeOverloaded:
		status = http.StatusServiceUnavailable
	case stopgate.CodeClientGone: // the client disconnected; the provider is not at fault
	default:
		x.g.log.Warn("upstream unreachable", "upstream", x.upstream.ID, "error", err)
		if code == stopgate.CodeUpstreamError && message == "" {
			message = "The model provider cannot be reached, or broke the connection off: upstream " + x.upstream.ID + ". The gate's log says more."
		}
	}
	return nil, &refusal{status: status, code: code, message: message}
}

// late describes the timeout that a provider exceeded, by its name in the settings.
func (p *providerCall) late(limit string, d time.Duration) string {
	return fmt.Sprintf("The model provider did not answer in time: upstream %s, %s = %q.", p.x.upstream.ID, limit, d)
}

// why returns the reason for the early end of an exchange, given the error of a read or a request.
// The message is "" where the code's public text suffices.
func (p *providerCall) why(err error) (stopgate.Code, string) {
	x := p.x
	var failed *chain.HookError
	switch cause := context.Cause(x.ctx); {
	case errors.Is(cause, errAnswerLate):
		if x.req.Stream {
			return stopgate.CodeUpstreamTimeout, p.late("answer", x.upstream.Timeouts.Answer)
		}
		return stopgate.CodeUpstreamTimeout, p.late("answer_whole", x.upstream.Timeouts.AnswerWhole)
	case errors.Is(cause, errIdle), errors.Is(cause, errTotal):
		return stopgate.CodeUpstreamTimeout, ""
	case errors.Is(cause, errDraining):
		return stopgate.CodeOverloaded, shuttingDown
	case cause != nil:
		return stopgate.CodeClientGone, ""
	case errors.As(err, &failed):
		return x.hookFailed(err), ""
	case errors.Is(err, sse.ErrEventTooLarge):
		return stopgate.CodeLimitExceeded, "The model's answer exceeds a size limit."
	case errors.Is(err, io.ErrUnexpectedEOF):
		return stopgate.CodeStreamTruncated, ""
	}
	return stopgate.CodeUpstreamError, ""
}

// stored reports whether the provider stores the requested response, so that it can be continued by
// id.
func (p *providerCall) stored() bool {
	x := p.x
	_, remembers := x.dialect.(provider.Stateful)
	return remembers && x.enforced && x.req.Stream && x.req.Conversational && !x.req.Hints.Unstored
}

// reach returns the context of a request to the provider. For a stored response it is not canceled
// with the client, only with the exchange until letGo is called.
func (p *providerCall) reach() (ctx context.Context) {
	x := p.x
	if !p.stored() {
		ctx, p.stop = context.WithCancel(x.ctx)
		return ctx
	}
	ctx, p.stop = context.WithCancel(x.records)
	p.letGo = context.AfterFunc(x.ctx, p.stop)
	return ctx
}

// read reads a response to its end. Each read counts as activity.
func (p *providerCall) read(answer *http.Response, content io.Reader, limit int64) ([]byte, *refusal) {
	x := p.x
	x.mu.Lock()
	x.watch.awaitUpstream()
	x.mu.Unlock()
	text, err := body.ReadAll(watchedReader{x, content}, answer.ContentLength, limit)
	x.mu.Lock()
	x.watch.reading = false
	x.mu.Unlock()
	switch {
	case err == nil:
		return text, nil
	case errors.Is(err, body.ErrTooLong), errors.Is(err, body.ErrRatio):
		return nil, &refusal{status: http.StatusBadGateway, code: stopgate.CodeLimitExceeded, message: "The model's answer exceeds a size limit."}
	}
	code, message := p.why(err)
	status := http.StatusBadGateway
	if code == stopgate.CodeUpstreamTimeout {
		status = http.StatusGatewayTimeout
	}
	return nil, &refusal{status: status, code: code, message: message}
}

// watchedReader notifies the watch of every read.
type watchedReader struct {
	x *exchange
	r io.Reader
}

func (h watchedReader) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.x.mu.Lock()
	h.x.watch.read = time.Now()
	h.x.observed.first(h.x.watch.read)
	h.x.mu.Unlock()
	return n, err
}
