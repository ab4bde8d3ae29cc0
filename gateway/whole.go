package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/gateway/body"
	"github.com/stopgate/stopgate/internal/gateway/chain"
	"github.com/stopgate/stopgate/internal/gateway/header"
	"github.com/stopgate/stopgate/internal/provider"
)

// whole is a response that is one JSON body. It has the same sink, gate and verdicts as a streamed
// one (L9, I12).
type whole struct {
	*exchange
	answer *http.Response
	codec  provider.Body
}

// serveWhole serves a response that is one JSON body.
func (x *exchange) serveWhole(answer *http.Response, content io.Reader) {
	(&whole{exchange: x, answer: answer}).serve(content)
}

func (x *whole) serve(content io.Reader) {
	body, no := x.provider.read(x.answer, content, int64(x.settings.Limits.Body))
	if no != nil {
		x.refuse(no)
		return
	}
	x.rounds.now.Body = body
	// No keepalives are possible, so approvals have a shorter time limit.
	if len(x.rounds.earlier) == 0 {
		approvals, cancel := context.WithTimeoutCause(x.ctx, x.settings.Timeouts.Unary, gate.ErrHold)
		defer cancel()
		x.calls.Approvals = approvals
	}
	body, need, err, no := x.passBody(body)
	if no != nil {
		x.refuse(no)
		return
	}
	x.rounds.now.ClientBody = body
	x.remember(x.codec.Notes())
	x.mu.Lock()
	x.account()
	x.mu.Unlock()
	all := x.calls.Unresolved()
	switch {
	case !x.enforced:
		x.write(body)
		x.calls.ResolveAll(x.records, all)
		x.keep(x.codec, nil)
		return
	case err != nil || x.calls.Err != nil:
		x.refuse(brokenAnswer(err))
		return
	case need == provider.Finished:
		if more, ok := x.reportEnd(); ok {
			x.finish(body, more)
		}
		return
	}
	x.calls.ResolveAll(x.calls.Approvals, all)
	if x.calls.Denied > 0 && x.settings.OnDeny == DenyError {
		code, message := x.calls.GiveUp(x.records)
		x.refuse(&refusal{status: http.StatusForbidden, code: code, message: message})
		return
	}
	if sent, ok := x.rounds.next(x.exchange, all); ok {
		if i, ok := x.codec.(provider.RoundCloser); ok {
			x.rounds.now.ClientBody = i.CloseRound(nil, x.calls.Releases(all))
		}
		x.keepRound(x.codec)
		x.next(sent)
		return
	}
	more, ok := x.reportEnd()
	if !ok {
		return
	}
	outcomes := x.calls.Releases(all)
	released, err := x.codec.Release(nil, outcomes)
	if err != nil {
		no := brokenAnswer(err)
		no.status = http.StatusForbidden
		x.refuse(no)
		return
	}
	if x.finish(released, more) {
		x.calls.Delivered(outcomes)
	}
}

// reportEnd reports the end of the response to the event policies, before its calls are released: a
// policy may stop the response. It returns the texts that they append, or refuses.
func (x *whole) reportEnd() (more []chain.Addition, ok bool) {
	x.policies.Count(x.counts())
	more, err := x.policies.FinishWhole(x.ctx)
	if err != nil {
		x.refuse(&refusal{status: http.StatusInternalServerError, code: x.hookFailed(err)})
	}
	return more, err == nil
}

// finish writes the body of the last response, with the texts of policies, and reports whether the
// client received it.
func (x *whole) finish(body []byte, more []chain.Addition) bool {
	body, seams, no := x.final(body, more)
	if no != nil {
		x.refuse(no)
		return false
	}
	x.keep(x.codec, seams)
	x.write(body)
	if x.client.broken != nil {
		x.fault = stopgate.CodeClientGone
	}
	return x.client.broken == nil
}

// write writes the response.
func (x *whole) write(body []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	header.Answer(x.client.Header(), x.answer.Header)
	x.client.whole(x.answer.StatusCode, x.upstream.ID, body)
}

// next is continueRound for a response that is not streamed.
func (x *whole) next(sent []byte) {
	x.rounds.advance(x.exchange, sent)
	answer, no := x.provider.send(x.rounds.request, sent)
	if no != nil {
		x.refuse(no)
		return
	}
	defer answer.Body.Close()
	content, err := body.Decoded(answer.Header["Content-Encoding"], answer.Body)
	if answer.StatusCode != http.StatusOK || err != nil || body.MediaType(answer.Header) != "application/json" {
		x.refuse(badAnswer("The model provider's answer in a later round is not one."))
		return
	}
	x.serveWhole(answer, content)
}

// final joins the body of the last response with the earlier rounds. seams are required to restore
// the history when the client sends it back.
func (x *whole) final(body []byte, more []chain.Addition) (joined []byte, seams []provider.ReplacedCall, no *refusal) {
	body, err := x.policies.Append(body, more)
	if err != nil {
		return nil, nil, &refusal{status: http.StatusInternalServerError, code: x.hookFailed(err)}
	}
	if earlier := x.rounds.earlier; len(earlier) > 0 {
		body, seams = x.rounds.dialect.JoinBody(earlier, body)
	}
	return body, seams, nil
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
