package otel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// exchange holds the spans of one exchange.
type exchange struct {
	t       *Tracer
	ctx     context.Context // of the server span
	server  trace.Span
	client  trace.Span // nil before the request goes upstream
	content *content   // nil unless Content is set
}

// Begin implements [gateway.Observer]. Only a client with a token may name the trace of its
// exchange.
func (t *Tracer) Begin(ctx context.Context, r *http.Request, o *gateway.Observed) (context.Context, gateway.Observation) {
	if o.Principal != "local" {
		ctx = t.w3c.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	ctx, span := t.tracer.Start(ctx, o.Method+" "+o.Route, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(o.Begun),
		trace.WithAttributes(
			attribute.String("http.request.method", o.Method), attribute.String("http.route", o.Route),
			attribute.String("url.path", o.Path), attribute.String("url.scheme", o.Scheme),
		))
	return ctx, &exchange{t: t, ctx: ctx, server: span}
}

// Send implements [gateway.Observation].
func (x *exchange) Send(o *gateway.Observed, h http.Header) {
	ctx := x.ctx
	if o.Dialect != "" && o.Model != "" { // a model call; other requests belong to the exchange
		ctx, x.client = x.t.tracer.Start(ctx, "chat "+o.Model, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(o.Sent),
			trace.WithAttributes(asked(o.Provider(), o.Model, o.Address)...))
	}
	h.Del("Traceparent")
	h.Del("Tracestate")
	if x.t.o.Propagate {
		x.t.w3c.Inject(ctx, propagation.HeaderCarrier(h))
	}
}

// Next implements [gateway.Observation]: it ends the span of the model call.
func (x *exchange) Next(o *gateway.Observed) {
	if x.client == nil {
		return
	}
	x.client.SetAttributes(modelCall(o)...)
	x.client.SetAttributes(x.t.messages(o.Dialect, x.content, o.Events)...)
	x.content = nil
	if o.Fault != "" || o.UpstreamStatus >= 400 || o.UpstreamStatus == 0 {
		fail(x.client, errorType(o))
	}
	x.client.End(trace.WithTimestamp(o.Ended))
	x.client = nil
}

// End implements [gateway.Observation].
func (x *exchange) End(o *gateway.Observed) {
	x.Next(o)
	list := []attribute.KeyValue{
		attribute.Int("http.response.status_code", o.Status), attribute.String("stopgate.principal", string(o.Principal)),
		attribute.Int("stopgate.calls", o.Calls), attribute.Int("stopgate.calls.denied", o.Denied),
		attribute.Int64("stopgate.args.bytes", o.Arguments), attribute.Int64("stopgate.args.discarded_bytes", o.Discarded),
		attribute.Bool("stopgate.upstream.cancelled", o.Cancelled),
	}
	list = appendText(list, "network.protocol.version", o.HTTP)
	list = appendText(list, "stopgate.dialect", o.Dialect)
	list = appendText(list, "stopgate.upstream", o.Upstream)
	list = appendText(list, "stopgate.session.source", o.SessionSource)
	list = append(list, conversation(o.Session)...)
	x.server.SetAttributes(list...)
	if o.Fault != "" || o.Status >= 500 {
		fail(x.server, errorType(o))
	}
	x.server.End(trace.WithTimestamp(o.Ended))
}

// conversation returns the attribute of a session, if there is one.
func conversation(session stopgate.SessionID) []attribute.KeyValue {
	if session == "" || strings.HasPrefix(string(session), "weak_") {
		return nil
	}
	return []attribute.KeyValue{attribute.String("gen_ai.conversation.id", hashed(string(session)))}
}

// hashed returns a hash in place of a text that must not be repeated.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func fail(s trace.Span, kind string) {
	s.SetStatus(codes.Error, kind)
	s.SetAttributes(attribute.String("error.type", kind))
}

func errorType(o *gateway.Observed) string {
	switch {
	case o.Fault != "":
		return string(o.Fault)
	case o.UpstreamStatus >= 400:
		return strconv.Itoa(o.UpstreamStatus)
	case o.Status >= 400:
		return strconv.Itoa(o.Status)
	}
	return string(stopgate.CodeUpstreamError)
}

// modelCall returns the attributes of a request to a model.
func modelCall(o *gateway.Observed) []attribute.KeyValue {
	list := conversation(o.Session)
	if o.Streamed {
		list = append(list, attribute.Bool("gen_ai.request.stream", true))
	}
	if o.Choices > 1 {
		list = append(list, attribute.Int("gen_ai.request.choice.count", o.Choices))
	}
	if o.Limit > 0 {
		list = append(list, attribute.Int("gen_ai.request.max_tokens", o.Limit))
	}
	list = append(list, answered(&o.Answer)...)
	list = appendText(list, "network.protocol.version", o.UpstreamHTTP)
	if o.Streamed && !o.First.IsZero() {
		list = append(list, attribute.Float64("gen_ai.response.time_to_first_chunk", seconds(o.First.Sub(o.Sent))))
	}
	return append(list, apiType(o.Dialect)...)
}

// asked returns the attributes of a request to a model that are known before it is sent.
func asked(provider, model, address string) []attribute.KeyValue {
	return append([]attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", provider), attribute.String("gen_ai.request.model", model),
	}, server(address)...)
}

// answered returns the attributes of an answer.
func answered(a *gateway.Answer) (list []attribute.KeyValue) {
	list = appendText(list, "gen_ai.response.model", a.Model)
	list = appendText(list, "gen_ai.response.id", a.ID)
	if len(a.FinishReasons) > 0 {
		list = append(list, attribute.StringSlice("gen_ai.response.finish_reasons", a.FinishReasons))
	}
	if n := a.Tokens; n.Known {
		for _, c := range []struct {
			name string
			n    int64
		}{
			{"input_tokens", n.Input}, {"output_tokens", n.Output}, {"cache_read.input_tokens", n.CacheRead},
			{"cache_creation.input_tokens", n.CacheCreation}, {"reasoning.output_tokens", n.Reasoning},
		} {
			if c.n > 0 || c.name == "input_tokens" || c.name == "output_tokens" {
				list = append(list, attribute.Int64("gen_ai.usage."+c.name, c.n))
			}
		}
	}
	return list
}

// apiType returns the name of the API, if the conventions have one.
func apiType(dialect string) []attribute.KeyValue {
	switch dialect {
	case "openai-chat":
		return []attribute.KeyValue{attribute.String("openai.api.type", "chat_completions")}
	case "openai-responses":
		return []attribute.KeyValue{attribute.String("openai.api.type", "responses")}
	}
	return nil
}

// server returns the address of a provider, HOST:PORT or HOST.
func server(address string) []attribute.KeyValue {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	list := []attribute.KeyValue{attribute.String("server.address", host)}
	if n, err := strconv.Atoi(port); err == nil {
		list = append(list, attribute.Int("server.port", n))
	}
	return list
}

func appendText(list []attribute.KeyValue, key, text string) []attribute.KeyValue {
	if text == "" {
		return list
	}
	return append(list, attribute.String(key, text))
}

func seconds(d time.Duration) float64 { return max(d, 0).Seconds() }
