package gateway

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/calls"
	"github.com/stopgate/stopgate/internal/gateway/chain"
	"github.com/stopgate/stopgate/internal/provider"
)

// This file runs event policies in an exchange: on texts before the codec, on calls before the
// gate.

// begin starts the run of the policies for an exchange.
func (x *exchange) begin(r *http.Request, body []byte) {
	if len(x.chain.Names()) == 0 {
		return
	}
	trace, span := x.observed.span()
	if trace == "" {
		trace, span = traceParent(r.Header.Get("Traceparent"))
	}
	var continues func(choice int) bool
	if x.enforced {
		continues = x.calls.ChoiceHasCalls
	}
	x.policies = x.chain.Begin(chain.Setup{
		Continues: continues, Stop: x.stopModel,
		Exchange: events.Exchange{
			ID: string(x.turnID), TraceID: trace, SpanID: span, Session: x.session, Principal: x.principal, Agent: x.agent,
			Dialect: x.dialect.Name(), Model: x.req.Model, Streamed: x.req.Stream, Original: body, Publish: x.emit,
		},
		Limit: x.settings.Timeouts.Hook, MaxBytes: x.settings.Limits.Body,
	})
}

// traceParent parses a W3C traceparent header.
func traceParent(h string) (trace, span string) {
	parts := strings.Split(h, "-")
	if len(parts) < 4 || len(parts[1]) != 32 || len(parts[2]) != 16 || strings.Trim(parts[1]+parts[2], "0123456789abcdef") != "" {
		return "", ""
	}
	return parts[1], parts[2]
}

// revise passes the request through the policies and parses the result as strictly as the client's
// request.
func (x *exchange) revise(r *http.Request, vendor string, body []byte) ([]byte, *refusal) {
	revised, err := x.policies.Request(x.ctx, body)
	if err != nil {
		var rejection *events.Rejection
		if errors.As(err, &rejection) {
			return nil, &refusal{status: rejection.StatusCode(), code: stopgate.CodeRequestRejected, message: rejection.Message}
		}
		return nil, &refusal{status: http.StatusInternalServerError, code: x.hookFailed(err)}
	}
	if len(revised) == len(body) && (len(body) == 0 || &revised[0] == &body[0]) {
		return body, nil
	}
	req, err := x.api.Request(r.URL.Path, revised)
	if err != nil || req.Stream != x.req.Stream {
		x.g.log.Error("a policy made a request that is none", "error", err)
		return nil, &refusal{status: http.StatusInternalServerError, code: stopgate.CodePolicyError}
	}
	x.req, x.upstream = req, x.upstreams.Choose(vendor, req.Model, r)
	return revised, nil
}

// hookFailed logs the failure of a policy and returns its code.
func (x *exchange) hookFailed(err error) stopgate.Code {
	x.g.log.Error("event policy", "error", err, "exchange", string(x.turnID))
	var failed *chain.HookError
	if errors.As(err, &failed) && failed.Late {
		return stopgate.CodePolicyTimeout
	}
	return stopgate.CodePolicyError
}

// texts returns the stream of a response after the policies.
func (x *exchange) texts(content io.Reader) io.Reader {
	if x.policies == nil {
		return content
	}
	return x.policies.Reader(x.ctx, x.rounds.before(content, x.settings.Limits.Event))
}

// passBody passes a response that is not streamed through the policies and decodes it. Policies that
// decide about calls receive texts and calls in the order of the response: it is decoded before, for
// the calls, and again if a text changed.
func (x *whole) passBody(body []byte) (passed []byte, need provider.Need, err error, no *refusal) {
	failed := func(err error) *refusal {
		return &refusal{status: http.StatusInternalServerError, code: x.hookFailed(err)}
	}
	body, hookErr := x.policies.Responses(x.ctx, body)
	if hookErr == nil && !x.calls.Watched {
		body, hookErr = x.policies.Texts(x.ctx, body, nil)
	}
	if hookErr != nil {
		return nil, 0, nil, failed(hookErr)
	}
	x.codec = x.dialect.Body(x.req, &x.calls, x.options(x.settings.Limits.Body))
	need, err = x.codec.Decode(body)
	x.calls.Feed()
	if !x.calls.Watched || x.enforced && (err != nil || x.calls.Err != nil) {
		return body, need, err, nil
	}
	passed, hookErr = x.policies.Texts(x.ctx, body, x.calls.ShowOne)
	switch {
	case hookErr != nil:
		return nil, 0, nil, failed(hookErr)
	case err != nil || bytes.Equal(passed, body):
		return passed, need, err, nil
	}
	again := &calls.Same{Calls: &x.calls}
	x.codec = x.dialect.Body(x.req, again, x.options(x.settings.Limits.Body))
	need, err = x.codec.Decode(passed)
	if err == nil && !again.Equal() {
		err = errOtherCalls
	}
	return passed, need, err, nil
}

var errOtherCalls = errors.New("the calls differ after the event policies")

// counts returns the numbers of calls for event policies.
func (x *exchange) counts() events.CallCounts {
	n := x.sum.counts
	x.calls.Count(&n)
	return n
}

// stopModel cancels the provider because a hook stopped the response. A response that cannot be ended
// yet is ended after one of the next events.
func (x *exchange) stopModel() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.watch.reading && x.stream != nil && x.enforced && x.stream.CanStop() {
		x.provider.stop()
	}
}

// emit reports an event to subscribers.
func (x *exchange) emit(e events.Event) {
	if x.g.events != nil {
		x.g.events(x.records, e)
	}
}
