package gateway

import (
	"context"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/body"
	"github.com/stopgate/stopgate/internal/gateway/header"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// ask sends the request and passes the response to serve, under observation.
func (x *exchange) ask(r *http.Request, body []byte, serve func(*http.Response)) {
	stopGateway := context.AfterFunc(x.g.stopped, func() { x.cancel(errDraining) })
	defer stopGateway()
	x.watch.begin(x)
	defer x.watch.end()
	var answer *http.Response
	var no *refusal
	apart(func() { answer, no = x.provider.send(r, body) })
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

// shuttingDown is the message for new and remaining clients at shutdown.
const shuttingDown = "The gate is shutting down; try again later."

// refuse responds with an error before anything else was written.
func (x *exchange) refuse(no *refusal) {
	x.fault = no.code
	if no.code == stopgate.CodeClientGone {
		return // the client is gone
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.client.Header().Set("X-Stopgate-Upstream", x.upstream.ID)
	if no.code == stopgate.CodeOverloaded {
		x.client.Header().Set("Retry-After", "1")
	}
	x.client.started = true
	x.client.renew(time.Now())
	writeRefusal(x.client.ResponseWriter, x.dialect, no)
}

// forwardError forwards a provider's error response: unchanged if it is JSON and an error, else in
// the dialect's format with the same status.
func (x *exchange) forwardError(answer *http.Response, content io.Reader, err error, kind string) {
	x.fault = stopgate.CodeUpstreamError
	var body []byte
	if err == nil && kind == "application/json" {
		const maxError = 1 << 20
		body, _ = x.provider.read(answer, content, maxError)
	}
	if body != nil && x.enforced && !x.harmless(body) {
		body = nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	header.Answer(x.client.Header(), answer.Header)
	if body == nil {
		body = x.dialect.ErrorBody(answer.StatusCode, stopgate.CodeUpstreamError, stopgate.CodeUpstreamError.Public())
	}
	x.client.whole(answer.StatusCode, x.upstream.ID, body)
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
