package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/gateway/body"
	"github.com/stopgate/stopgate/internal/gateway/header"
	"github.com/stopgate/stopgate/internal/provider"
)

// serveWhole serves a response that is one JSON body, with the same sink, gate and verdicts as a
// streamed one (L9, I12).
func (x *exchange) serveWhole(answer *http.Response, content io.Reader) {
	body, no := x.readWhole(answer, content, int64(x.settings.Limits.Body))
	if no != nil {
		x.refuse(no)
		return
	}
	x.rounds.now.Body = body
	if body, no = x.textsOf(body); no != nil {
		x.refuse(no)
		return
	}
	x.rounds.now.ClientBody = body
	// No keepalives are possible, so approvals have a shorter time limit.
	if len(x.rounds.earlier) == 0 {
		approvals, cancel := context.WithTimeoutCause(x.ctx, x.settings.Timeouts.Unary, gate.ErrHold)
		defer cancel()
		x.approvals = approvals
	}
	codec := x.dialect.Body(x.req, &x.calls, x.options(x.settings.Limits.Body))
	need, err := codec.Decode(body)
	x.calls.feed()
	x.remember(codec.Notes())
	x.mu.Lock()
	x.account()
	x.mu.Unlock()
	all := x.calls.unresolved()
	switch {
	case !x.enforced:
		x.answerWhole(answer, body)
		x.calls.resolveAll(x.records, all)
		x.keep(codec, nil)
		return
	case err != nil || x.calls.err != nil:
		x.refuse(brokenAnswer(err))
		return
	case need == provider.Finished:
		x.finishWhole(answer, codec, body)
		return
	}
	x.calls.resolveAll(x.approvals, all)
	if x.calls.denied > 0 && x.settings.OnDeny == DenyError {
		code, message := x.calls.giveUp(x.records)
		x.refuse(&refusal{status: http.StatusForbidden, code: code, message: message})
		return
	}
	if sent, ok := x.next(all); ok {
		if i, ok := codec.(provider.RoundCloser); ok {
			x.rounds.now.ClientBody = i.CloseRound(nil, x.calls.releases(all))
		}
		x.keepRound(codec)
		x.continueWhole(sent)
		return
	}
	outcomes := x.calls.releases(all)
	released, err := codec.Release(nil, outcomes)
	if err != nil {
		no := brokenAnswer(err)
		no.status = http.StatusForbidden
		x.refuse(no)
		return
	}
	if x.finishWhole(answer, codec, released) {
		x.calls.delivered(outcomes)
	}
}

// finishWhole writes the body of the last response and reports whether the client received it.
func (x *exchange) finishWhole(answer *http.Response, codec provider.Body, body []byte) bool {
	body, seams, no := x.final(body)
	if no != nil {
		x.refuse(no)
		return false
	}
	x.keep(codec, seams)
	x.answerWhole(answer, body)
	if x.broken != nil {
		x.fault = stopgate.CodeClientGone
	}
	return x.broken == nil
}

// answerWhole writes the response.
func (x *exchange) answerWhole(answer *http.Response, body []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	header.Answer(x.w.Header(), answer.Header)
	x.writeWhole(answer.StatusCode, body)
}

// readWhole reads a response to its end. Each read counts as activity.
func (x *exchange) readWhole(answer *http.Response, content io.Reader, limit int64) ([]byte, *refusal) {
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
	code, message := x.why(err)
	status := http.StatusBadGateway
	if code == stopgate.CodeUpstreamTimeout {
		status = http.StatusGatewayTimeout
	}
	return nil, &refusal{status: status, code: code, message: message}
}

// brokenAnswer returns the refusal for a response that cannot be read.
func brokenAnswer(err error) *refusal {
	no := &refusal{status: http.StatusBadGateway, code: stopgate.CodePolicyError}
	var bad *provider.StreamError
	if errors.As(err, &bad) {
		no.code, no.message = bad.Code, bad.Message
	}
	return no
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
