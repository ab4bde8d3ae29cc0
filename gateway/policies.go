package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/events"
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
	var continues func() bool
	if _, ok := x.dialect.(provider.MultiRound); ok && x.answers() {
		continues = x.mayContinue
	}
	x.policies = x.chain.Begin(chain.Setup{
		Continues: continues,
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

// textsOf returns a response that is not streamed after the policies.
func (x *exchange) textsOf(body []byte) ([]byte, *refusal) {
	body, err := x.policies.Body(x.ctx, body)
	if err != nil {
		return nil, &refusal{status: http.StatusInternalServerError, code: x.hookFailed(err)}
	}
	return body, nil
}

// piece is a chunk of a call's arguments that the policies have not received.
type piece struct {
	call int
	text []byte
}

// keep buffers arguments for the policies. The bytes of one call in one read are passed at once.
func (c *calls) keep(call int, text []byte) {
	if n := len(c.unseen); n > 0 && c.unseen[n-1].call == call {
		c.unseen[n-1].text = append(c.unseen[n-1].text, text...)
		return
	}
	c.unseen = append(c.unseen, piece{call, append([]byte(nil), text...)})
}

// show passes the buffered arguments to the policies. If a policy fails, the call is denied, and
// with it every call that is not released.
func (c *calls) show() {
	for _, p := range c.unseen {
		if err := c.x.policies.CallDelta(c.x.ctx, p.call, string(p.text)); err != nil && c.broken == "" {
			c.broken = c.x.hookFailed(err)
		}
	}
	c.unseen = c.unseen[:0]
}

// askPolicies passes complete calls through the policies in upstream order, and starts the judges
// for those that are forwarded (X17). In observe mode the policies cannot change calls.
func (c *calls) askPolicies(ctx context.Context, due []int) {
	if !c.watched {
		return
	}
	c.show()
	for _, i := range due {
		tc := &c.list[i]
		if tc.resolved || tc.pending == nil || tc.shown {
			continue
		}
		tc.shown = true
		var refused stopgate.Code
		if v := tc.pending.Verdict(); v.Terminal() {
			refused = v.Code
		}
		d, err := c.x.policies.CallComplete(ctx, i, tc.id, refused)
		switch {
		case !c.x.enforced:
		case err != nil || c.broken != "":
			if c.broken == "" {
				c.broken = c.x.hookFailed(err)
			}
		case refused != "":
		case !d.Sent:
			tc.dropText = d.Text
			tc.pending.Refuse(stopgate.CodePolicyDropped)
		case d.Changed:
			c.replace(tc, d.Arguments)
		}
	}
	for _, i := range due {
		tc := &c.list[i]
		switch {
		case tc.pending == nil || tc.resolved:
		case c.broken != "" && c.x.enforced:
			tc.pending.Refuse(c.broken) // including those that earlier policies forwarded
		default:
			tc.pending.Consult(c.x.ctx)
		}
	}
}

// replace replaces a call by one with the arguments of a policy. It is a new pending call, judged
// from its first byte.
func (c *calls) replace(tc *call, args string) {
	definition := c.x.req.Tool(tc.tool)
	next, err := c.openPending(tc.tool, tc.id, definition)
	tc.pending.Refuse(stopgate.CodeCancelled)
	tc.pending.Close(stopgate.Cancelled)
	tc.pending.Cancel(c.x.records)
	if err != nil {
		tc.pending = nil // denied: no pending call was opened
		return
	}
	if tc.terminal {
		tc.terminal = false
		c.open++
	}
	tc.pending, tc.asked = next, false
	next.Feed([]byte(args))
	c.note(tc, next.Close(stopgate.Ended))
	if c.x.req.IsUnknown(tc.tool) {
		c.note(tc, next.Refuse(stopgate.CodePolicyNotConfigured))
	}
}

// emit reports an event to subscribers.
func (x *exchange) emit(e events.Event) {
	if x.g.events != nil {
		x.g.events(x.records, e)
	}
}
