package gateway

import (
	"io"
	"net/http"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/header"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/registry"
)

// servePassed forwards a request whose response cannot contain a call, or one of a passthrough
// route, which is recorded as not evaluated (L12).
func (g *Gateway) servePassed(w http.ResponseWriter, r *http.Request, rt *route, v clientRequest) {
	body, no := readBody(w, r, &v.settings)
	if no != nil {
		g.refuse(w, r, no)
		return
	}
	up := v.upstreams.Choose(rt.vendor, v.upstreams.ModelOf(body), r)
	x := g.newExchange(w, r, v, registry.Closest(r.URL.Path, r.Header), &provider.Request{}, up)
	defer x.end()
	if rt.how == passedUnjudged {
		x.unjudged(stopgate.CodeNotEvaluated, rt.Method+" "+rt.Path)
	}
	x.ask(r, body, x.forward)
}

// serveCounted forwards a request that contains a conversation to be counted or compacted. It
// withholds the same content as for a turn. It records no results, because the turn itself is a
// separate request.
func (g *Gateway) serveCounted(w http.ResponseWriter, r *http.Request, rt *route, v clientRequest) {
	x, body := g.open(w, r, rt, v)
	if x == nil {
		return
	}
	defer x.end()
	x.req.Conversational = false
	body, no := x.history(r, rt.vendor, body)
	if no != nil {
		g.refuse(w, r, no)
		return
	}
	x.ask(r, body, x.forward)
}

// forward forwards a response of any kind.
func (x *exchange) forward(answer *http.Response) {
	if answer.StatusCode >= 300 && answer.StatusCode < 400 {
		x.refuse(badAnswer("The model provider answered with a redirect."))
		return
	}
	x.pass(answer)
}

// pass copies a response unchanged.
func (x *exchange) pass(answer *http.Response) {
	x.mu.Lock()
	h := x.client.Header()
	header.Answer(h, answer.Header)
	if e, ok := answer.Header["Content-Encoding"]; ok {
		h["Content-Encoding"] = e
	}
	h.Set("X-Stopgate-Upstream", x.upstream.ID)
	x.client.start(answer.StatusCode)
	x.watch.awaitUpstream()
	x.mu.Unlock()
	buf := make([]byte, readBuffer)
	for {
		n, err := watchedReader{x, answer.Body}.Read(buf)
		x.mu.Lock()
		broken := x.client.events(buf[:n], time.Now())
		x.mu.Unlock()
		if err == io.EOF && broken == nil {
			return
		}
		if err != nil || broken != nil {
			x.fault, _ = x.provider.why(err)
			panic(http.ErrAbortHandler)
		}
	}
}
