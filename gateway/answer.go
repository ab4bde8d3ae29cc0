package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/body"
	"github.com/stopgate/stopgate/internal/gateway/chain"
	"github.com/stopgate/stopgate/internal/gateway/header"
	"github.com/stopgate/stopgate/internal/gateway/upstream"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// ask sends the request and passes the response to serve, under observation.
func (x *exchange) ask(r *http.Request, body []byte, serve func(*http.Response)) {
	stopGateway := context.AfterFunc(x.g.stopped, func() { x.cancel(errDraining) })
	defer stopGateway()
	x.watch.begin(x)
	defer x.watch.end()
	answer, no := x.send(r, body)
	if no != nil {
		x.refuse(no)
		return
	}
	defer func() {
		if x.later == nil {
			answer.Body.Close()
		}
	}()
	serve(answer)
}

// serve serves a response, streamed or not.
func (x *exchange) serve(answer *http.Response) {
	content, err := body.Decoded(answer.Header["Content-Encoding"], answer.Body)
	kind := body.MediaType(answer.Header)
	switch {
	case answer.StatusCode >= 400 && answer.StatusCode < 600:
		x.forwardError(answer, content, err, kind)
	case !saysSomething(answer.StatusCode):
		x.refuse(badAnswer("The model provider answered with a redirect or an unknown status."))
	case !x.enforced && (err != nil || kind != "text/event-stream" && kind != "application/json"):
		x.unjudged(stopgate.CodeNotEvaluated, "content type or encoding")
		x.pass(answer)
	case err != nil:
		x.refuse(badAnswer("The model provider's answer has an unknown content encoding."))
	case kind == "text/event-stream":
		x.serveStream(answer, content)
	case kind == "application/json":
		x.serveWhole(answer, content)
	default:
		x.refuse(badAnswer("The model provider's answer is neither JSON nor an event stream."))
	}
}

// saysSomething reports whether responses with this status have a body.
func saysSomething(status int) bool {
	return status >= 200 && status < 300 && status != http.StatusNoContent && status != http.StatusResetContent
}

func badAnswer(message string) *refusal {
	return &refusal{status: http.StatusBadGateway, code: stopgate.CodeUpstreamError, message: message}
}

// send sends the upstream request and waits for the response header.
func (x *exchange) send(r *http.Request, body []byte) (*http.Response, *refusal) {
	var sent upstream.Payload
	out, err := x.upstream.Request(x.reach(), r, &sent, body)
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
		x.upstreamStatus = answer.StatusCode
		return answer, nil
	}
	code, message := x.why(err)
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

// shuttingDown is the message for new and remaining clients at shutdown.
const shuttingDown = "The gate is shutting down; try again later."

// tooLate describes the timeout that a provider exceeded, by its name in the settings.
func (x *exchange) tooLate(limit string, d time.Duration) string {
	return fmt.Sprintf("The model provider did not answer in time: upstream %s, %s = %q.", x.upstream.ID, limit, d)
}

// why returns the reason for the early end of an exchange, given the error of a read or a request.
// The message is "" where the code's public text suffices.
func (x *exchange) why(err error) (stopgate.Code, string) {
	var failed *chain.HookError
	switch cause := context.Cause(x.ctx); {
	case errors.Is(cause, errAnswerLate):
		if x.req.Stream {
			return stopgate.CodeUpstreamTimeout, x.tooLate("answer", x.upstream.Timeouts.Answer)
		}
		return stopgate.CodeUpstreamTimeout, x.tooLate("answer_whole", x.upstream.Timeouts.AnswerWhole)
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

// refuse responds with an error before anything else was written.
func (x *exchange) refuse(no *refusal) {
	x.fault = no.code
	if no.code == stopgate.CodeClientGone {
		return // the client is gone
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.headed = true
	x.w.Header().Set("X-Stopgate-Upstream", x.upstream.ID)
	if no.code == stopgate.CodeOverloaded {
		x.w.Header().Set("Retry-After", "1")
	}
	x.renew(time.Now())
	writeRefusal(x.w, x.dialect, no)
}

// forwardError forwards a provider's error response: unchanged if it is JSON and an error, else in
// the dialect's format with the same status.
func (x *exchange) forwardError(answer *http.Response, content io.Reader, err error, kind string) {
	x.fault = stopgate.CodeUpstreamError
	var body []byte
	if err == nil && kind == "application/json" {
		const maxError = 1 << 20
		body, _ = x.readWhole(answer, content, maxError)
	}
	if body != nil && x.enforced && !x.harmless(body) {
		body = nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	header.Answer(x.w.Header(), answer.Header)
	if body == nil {
		body = x.dialect.ErrorBody(answer.StatusCode, stopgate.CodeUpstreamError, stopgate.CodeUpstreamError.Public())
	}
	x.writeWhole(answer.StatusCode, body)
}

// harmless reports whether an error response contains no call. Some clients ignore the status and
// would execute a call in the body (F14). Some providers put the error into a list.
func (x *exchange) harmless(body []byte) bool {
	o := provider.EnvelopeOptions(len(body) + 1)
	o.ObjectRoot = false
	root, err := jsonstream.Parse(body, o)
	if err != nil {
		return false
	}
	list := []jsonstream.Value{root}
	if root.Kind() == jsonstream.Array {
		list = slices.Collect(root.Elements())
	}
	for _, v := range list {
		if v.Kind() != jsonstream.Object {
			continue
		}
		o := x.options(len(body) + 1)
		o.AnyKind = true
		need, err := x.dialect.Body(&provider.Request{}, unheard{}, o).Decode(v.Raw())
		if err != nil || need != provider.Finished {
			return false
		}
	}
	return true
}

// unheard is a sink that discards all events.
type unheard struct{}

func (unheard) Event(*stopgate.Event) {}

// writeWhole writes a response that is not streamed. mu must be locked.
func (x *exchange) writeWhole(status int, body []byte) {
	x.headed = true
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Stopgate-Upstream", x.upstream.ID)
	x.renew(time.Now())
	x.w.WriteHeader(status)
	if _, err := x.w.Write(body); err != nil {
		x.broken = err
	}
}
