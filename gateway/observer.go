package gateway

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/body"
	"github.com/stopgate/stopgate/internal/gateway/upstream"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/registry"
)

// Observer receives notifications about exchanges, for traces and metrics. It cannot change
// decisions. Its methods run on the goroutine of the exchange and must not block (FM3).
type Observer interface {
	// Begin is called for an admitted request. The gate passes the returned context to tracers. The
	// returned observation receives the rest; it may be nil.
	Begin(ctx context.Context, r *http.Request, o *Observed) (context.Context, Observation)
}

// Observation receives the rest of an exchange. o is complete only in End.
type Observation interface {
	// Send is called before the request is sent upstream. It may add headers.
	Send(o *Observed, h http.Header)
	// Next is called after a provider response that the gateway itself answers; another Send
	// follows. Times and Answer are those of this response.
	Next(o *Observed)
	// End is called once at the end. It may retain o.
	End(o *Observed)
}

// ContentObservation is an [Observation] that also receives content: requests to models, and their
// responses before the gate has judged them.
type ContentObservation interface {
	Observation
	// Content receives the body of a request before Send is called. It may retain body but must not
	// modify it. The response's bytes are written to the returned writer, which may be nil.
	Content(o *Observed, body []byte) io.Writer
}

// Observed describes an exchange without its content.
type Observed struct {
	Method, Route string // "/v1/models/{id}"
	Dialect       string // "" for routes without calls
	Principal     stopgate.Principal
	Agent         stopgate.AgentName
	Session       stopgate.SessionID
	SessionSource string // source of the session id, see history.Conversation
	Enforced      bool

	Model    string // requested by the client
	Streamed bool
	Choices  int // requested number; 0 if absent
	Limit    int // requested token limit; 0 if absent

	Upstream, Address string // id, and HOST:PORT
	Scheme            string // of the client's request: http or https
	Path              string // path of the client's request, as received
	HTTP              string // its version: "1.1", "2"
	UpstreamHTTP      string // HTTP version of the provider's response, or ""
	Canned            bool   // the upstream is the replay model

	Begun, Sent, Answered, First, Ended time.Time // Zero if it did not happen. Answered is the time of the response header, First that of the first body bytes.
	UpstreamStatus, Status              int       // status of the provider's and the gateway's response, or 0
	Fault                               stopgate.Code
	Answer                              Answer
	Events                              bool // the response was a stream of server-sent events

	Calls, Denied int
	Arguments     int64 // argument bytes received
	Discarded     int64 // of these, bytes after the call's final verdict (S14)
	Cancelled     bool  // the provider was cancelled because no call could run any longer
}

// Answer is the metadata of a provider's response, as far as it was read.
type Answer struct {
	Started       bool // part of the response was read
	ID, Model     string
	FinishReasons []string // finish reasons of the choices, as written by the provider
	Tokens        Tokens
}

// Tokens are the token counters of a response. Input includes the tokens that were read from a
// cache and those that were written to it.
type Tokens struct {
	Known                                              bool
	Input, Output, CacheRead, CacheCreation, Reasoning int64
}

func answerOf(i provider.ResponseInfo) Answer {
	return Answer{i.Started, i.ID, i.Model, i.FinishReasons, Tokens(i.Tokens)}
}

// observedExchange is the observation of an exchange. Methods of a nil observedExchange have no
// effect.
type observedExchange struct {
	Observed
	to   Observation
	copy io.Writer // receives a copy of the response, or nil
}

// statusWriter records the status of a response.
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

// Unwrap supports http.ResponseController.
func (w statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// watched starts the observation of an exchange if there is an observer.
func (g *Gateway) watched(w http.ResponseWriter, r *http.Request, rt *route, v *clientRequest) (http.ResponseWriter, *http.Request) {
	if g.observer == nil {
		return w, r
	}
	s := &observedExchange{Observed: Observed{
		Method: rt.Method, Route: rt.Path, Principal: v.principal, Begun: time.Now(),
		Scheme: "http", Path: r.URL.Path, HTTP: version(r.ProtoMajor, r.ProtoMinor),
	}}
	if r.TLS != nil {
		s.Scheme = "https"
	}
	ctx, to := g.observer.Begin(r.Context(), r, &s.Observed)
	if to == nil {
		return w, r
	}
	s.to, v.observed = to, s
	return statusWriter{w, &s.Status}, r.WithContext(ctx)
}

// begin records the properties of the request.
func (s *observedExchange) begin(x *exchange) {
	if s == nil {
		return
	}
	s.Dialect, s.Agent, s.Session, s.Enforced = x.dialect.Name(), x.agent, x.session, x.enforced
	s.SessionSource = x.conversation.Source
	s.Model, s.Streamed, s.Choices, s.Limit = x.req.Model, x.req.Stream, x.req.N, x.req.MaxTokens
}

// sent records that the request is sent upstream.
func (s *observedExchange) sent(u *upstream.Server, h http.Header, body []byte) {
	if s == nil {
		return
	}
	s.Upstream, s.Address, s.Canned, s.Sent = u.ID, u.Address(), u.Canned, time.Now()
	s.copy = nil
	if to, ok := s.to.(ContentObservation); ok && s.Model != "" {
		s.copy = to.Content(&s.Observed, body)
	}
	s.to.Send(&s.Observed, h)
}

// answered records the header of the response.
func (s *observedExchange) answered(a *http.Response) {
	if s == nil {
		return
	}
	s.Answered, s.UpstreamStatus, s.Events = time.Now(), a.StatusCode, body.MediaType(a.Header) == "text/event-stream"
	s.UpstreamHTTP = version(a.ProtoMajor, a.ProtoMinor)
	if s.copy != nil {
		a.Body = copied{io.TeeReader(a.Body, s.copy), a.Body}
	}
}

// version formats an HTTP version as OpenTelemetry's conventions require.
func version(major, minor int) string {
	switch {
	case major == 0:
		return ""
	case major == 1:
		return "1." + strconv.Itoa(minor)
	}
	return strconv.Itoa(major)
}

// copied is a body that is also copied to a writer.
type copied struct {
	io.Reader
	io.Closer
}

// first records the time of the first bytes of the response body.
func (s *observedExchange) first(now time.Time) {
	if s != nil && s.First.IsZero() {
		s.First = now
	}
}

// next records the end of a response that the gateway continues.
func (s *observedExchange) next(x *exchange) {
	if s == nil {
		return
	}
	s.Answer, s.Ended, s.Cancelled = answerOf(x.notes.Response), time.Now(), x.provider.cancelled
	s.to.Next(&s.Observed)
	s.Answer, s.Answered, s.First, s.Ended, s.UpstreamStatus, s.UpstreamHTTP = Answer{}, time.Time{}, time.Time{}, time.Time{}, 0, ""
}

// result records the result of the exchange. The exchange's mutex must be locked.
func (s *observedExchange) result(x *exchange) {
	if s == nil {
		return
	}
	s.Fault, s.Answer = x.fault, answerOf(x.notes.Response)
	s.Calls, s.Denied = x.sum.calls+len(x.calls.List), x.sum.denied+x.calls.Denied
	s.Arguments, s.Discarded = x.sum.received+x.calls.Received, x.sum.wasted+x.calls.Wasted
	s.Cancelled = x.provider.cancelled
}

// end notifies the observer of the end.
func (s *observedExchange) end() {
	if s == nil {
		return
	}
	s.Ended = time.Now()
	s.to.End(&s.Observed)
}

// Observers returns an observer that notifies several, in order.
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

// Content implements [ContentObservation] with the first observation that returns a writer.
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

// Span returns the span of the first observation that has one.
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

// span returns trace and span of the exchange, or "".
func (s *observedExchange) span() (trace, span string) {
	if s == nil {
		return "", ""
	}
	if to, ok := s.to.(spanned); ok {
		return to.Span()
	}
	return "", ""
}

// Provider returns the name of the provider as OpenTelemetry's conventions define it.
func (o *Observed) Provider() string {
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
	if api := registry.Named(o.Dialect); api != nil {
		return api.Vendor.Telemetry // servers that are compatible with its API
	}
	return registry.Vendors()[0].Telemetry
}
