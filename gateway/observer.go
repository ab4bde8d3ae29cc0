package gateway

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/wire"
)

// Observer is told about exchanges, for traces and numbers. It decides nothing; its
// methods are called by the goroutine that serves the exchange and must not wait for
// anything (INVARIANTS FM3).
type Observer interface {
	// Begin is told of a request that was let in. The context that it returns belongs to
	// the exchange: the gate hands it on to tracers. The observation, nil for none, is
	// told the rest.
	Begin(ctx context.Context, r *http.Request, o *Observed) (context.Context, Observation)
}

// Observation is the rest of an exchange. What o holds is complete at End only.
type Observation interface {
	// Send is told that the request goes upstream now, and may add headers to it.
	Send(o *Observed, h http.Header)
	// Next is told that the provider's answer is read and that the gate answers its calls:
	// another Send follows. Times and Answer are those of this answer.
	Next(o *Observed)
	// End is told the end, once. o may be kept.
	End(o *Observed)
}

// ContentObservation is an [Observation] that wants content: what models are asked, and
// what they answer before the gate has judged it.
type ContentObservation interface {
	Observation
	// Content is given the body of a request to a model before Send is called. It may be
	// kept and must not be changed. The writer gets the bytes of the answer as they come;
	// nil for nobody.
	Content(o *Observed, body []byte) io.Writer
}

// Observed is what there is to know about an exchange. It holds no content.
type Observed struct {
	Method, Route string // "/v1/models/{id}"
	Dialect       string // "" for routes that carry no calls
	Principal     stopgate.Principal
	Agent         stopgate.AgentName
	Session       stopgate.SessionID
	SessionSource string // what named it, see history.Conversation
	Enforced      bool

	Model    string // that the client asked for
	Streamed bool
	Choices  int // that it asked for; 0 if it did not say
	Limit    int // of tokens that it asked for; 0 if it did not say

	Upstream, Address string // id, and HOST:PORT
	Scheme            string // of the client's request: http or https
	Path              string // of it, as the client wrote it
	HTTP              string // its version: "1.1", "2"
	UpstreamHTTP      string // that of the provider's answer; "" without one
	Canned            bool   // the upstream is the replay model

	Begun, Sent, Answered, First, Ended time.Time // zero: never; Answered is the header, First the first bytes of the body
	UpstreamStatus, Status              int       // of the provider's and of our answer; 0 if there was none
	Fault                               stopgate.Code
	Answer                              wire.Answer
	Events                              bool // the answer came as server-sent events

	Calls, Denied int
	Arguments     int64 // bytes of arguments that came
	Discarded     int64 // of these, bytes behind the end of their call's way (DECISIONS S14)
	Cancelled     bool  // the provider was stopped, because nothing was left that could run
}

// sight is an exchange under observation. A nil sight observes nothing.
type sight struct {
	Observed
	to   Observation
	copy io.Writer // gets the answer; nil for nobody
}

// statusWriter notes the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status *int
}

// WriteHeader implements [http.ResponseWriter].
func (w statusWriter) WriteHeader(status int) {
	if *w.status == 0 && status >= 200 {
		*w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap serves http.ResponseController.
func (w statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// watched puts an exchange under observation, if somebody observes.
func (g *Gateway) watched(w http.ResponseWriter, r *http.Request, rt *route, v *visit) (http.ResponseWriter, *http.Request) {
	if g.observer == nil {
		return w, r
	}
	s := &sight{Observed: Observed{
		Method: rt.method, Route: "/" + strings.Join(rt.segments, "/"), Principal: v.principal, Begun: time.Now(),
		Scheme: "http", Path: r.URL.Path, HTTP: version(r.ProtoMajor, r.ProtoMinor),
	}}
	if r.TLS != nil {
		s.Scheme = "https"
	}
	ctx, to := g.observer.Begin(r.Context(), r, &s.Observed)
	if to == nil {
		return w, r
	}
	s.to, v.seen = to, s
	return statusWriter{w, &s.Status}, r.WithContext(ctx)
}

// begin notes what the request is.
func (s *sight) begin(x *exchange) {
	if s == nil {
		return
	}
	s.Dialect, s.Agent, s.Session, s.Enforced = x.dialect.Name(), x.agent, x.session, x.enforced
	s.SessionSource = x.past.Source
	s.Model, s.Streamed, s.Choices, s.Limit = x.req.Model, x.req.Stream, x.req.N, x.req.MaxTokens
}

// sent notes that the request goes upstream.
func (s *sight) sent(u *upstream, h http.Header, body []byte) {
	if s == nil {
		return
	}
	s.Upstream, s.Address, s.Canned, s.Sent = u.ID, u.address(), u.canned, time.Now()
	s.copy = nil
	if to, ok := s.to.(ContentObservation); ok && s.Model != "" {
		s.copy = to.Content(&s.Observed, body)
	}
	s.to.Send(&s.Observed, h)
}

// answered notes the header of the answer.
func (s *sight) answered(a *http.Response) {
	if s == nil {
		return
	}
	s.Answered, s.UpstreamStatus, s.Events = time.Now(), a.StatusCode, mediaType(a.Header) == "text/event-stream"
	s.UpstreamHTTP = version(a.ProtoMajor, a.ProtoMinor)
	if s.copy != nil {
		a.Body = copied{io.TeeReader(a.Body, s.copy), a.Body}
	}
}

// version is a version of HTTP as the conventions of OpenTelemetry write it.
func version(major, minor int) string {
	switch {
	case major == 0:
		return ""
	case major == 1:
		return "1." + strconv.Itoa(minor)
	}
	return strconv.Itoa(major)
}

// copied is a body of which somebody gets a copy.
type copied struct {
	io.Reader
	io.Closer
}

// first notes the first bytes of the answer's body.
func (s *sight) first(now time.Time) {
	if s != nil && s.First.IsZero() {
		s.First = now
	}
}

// next notes the end of an answer behind which the response goes on.
func (s *sight) next(x *exchange) {
	if s == nil {
		return
	}
	s.Answer, s.Ended, s.Cancelled = x.notes.Answer, time.Now(), x.stopped
	s.to.Next(&s.Observed)
	s.Answer, s.Answered, s.First, s.Ended, s.UpstreamStatus, s.UpstreamHTTP = wire.Answer{}, time.Time{}, time.Time{}, time.Time{}, 0, ""
}

// result notes what came of the exchange; the exchange's mutex is held.
func (s *sight) result(x *exchange) {
	if s == nil {
		return
	}
	s.Fault, s.Answer = x.fault, x.notes.Answer
	s.Calls, s.Denied = x.sum.calls+len(x.calls.list), x.sum.denied+x.calls.denied
	s.Arguments, s.Discarded = x.sum.received+x.calls.received, x.sum.wasted+x.calls.wasted
	s.Cancelled = x.stopped
}

// end tells the observer.
func (s *sight) end() {
	if s == nil {
		return
	}
	s.Ended = time.Now()
	s.to.End(&s.Observed)
}

// Observers is an observer that tells several, in their order.
func Observers(list ...Observer) Observer { return observers(list) }

type observers []Observer

// Begin implements [Observer].
func (l observers) Begin(ctx context.Context, r *http.Request, o *Observed) (context.Context, Observation) {
	var all observations
	for _, one := range l {
		var to Observation
		if ctx, to = one.Begin(ctx, r, o); to != nil {
			all = append(all, to)
		}
	}
	if all == nil {
		return ctx, nil
	}
	return ctx, all
}

type observations []Observation

// Send implements [Observation].
func (l observations) Send(o *Observed, h http.Header) {
	for _, to := range l {
		to.Send(o, h)
	}
}

// Next implements [Observation].
func (l observations) Next(o *Observed) {
	for _, to := range l {
		to.Next(o)
	}
}

// End implements [Observation].
func (l observations) End(o *Observed) {
	for _, to := range l {
		to.End(o)
	}
}

// Content implements [ContentObservation]: it is the first one's that wants it.
func (l observations) Content(o *Observed, body []byte) io.Writer {
	for _, to := range l {
		if c, ok := to.(ContentObservation); ok {
			if w := c.Content(o, body); w != nil {
				return w
			}
		}
	}
	return nil
}

// Span is that of the first observation that has one.
func (l observations) Span() (trace, span string) {
	for _, to := range l {
		if s, ok := to.(spanned); ok {
			return s.Span()
		}
	}
	return "", ""
}

// spanned is an observation with a trace.
type spanned interface {
	Span() (trace, span string)
}

// span is the trace and the span of the exchange, empty without any.
func (s *sight) span() (trace, span string) {
	if s == nil {
		return "", ""
	}
	if to, ok := s.to.(spanned); ok {
		return to.Span()
	}
	return "", ""
}

// Provider is the name of the provider of an exchange as the conventions spell it.
func Provider(o *Observed) string {
	for suffix, name := range map[string]string{
		"openai.com": "openai", "anthropic.com": "anthropic", "openai.azure.com": "azure.ai.openai", "groq.com": "groq", "mistral.ai": "mistral_ai",
		"deepseek.com": "deepseek", "x.ai": "x_ai", "perplexity.ai": "perplexity", "moonshot.ai": "moonshot_ai", "cohere.com": "cohere",
		"generativelanguage.googleapis.com": "gcp.gemini", "aiplatform.googleapis.com": "gcp.vertex_ai", "amazonaws.com": "aws.bedrock",
	} {
		host, _, _ := strings.Cut(o.Address, ":")
		if host == suffix || strings.HasSuffix(host, "."+suffix) {
			return name
		}
	}
	if o.Dialect == "anthropic" {
		return "anthropic"
	}
	return "openai" // who speaks its API and says nothing else
}
