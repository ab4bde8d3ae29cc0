package metrics

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
)

// exchanges are the metrics of an LLM gateway: tokens and durations of model calls, with the names
// of OpenTelemetry's conventions for generative AI, and the argument bytes that were not read
// because a call was denied.
type exchanges struct {
	duration  *prometheus.HistogramVec
	first     *prometheus.HistogramVec
	tokens    *prometheus.HistogramVec
	arguments prometheus.Counter
	discarded prometheus.Counter
	cancelled *prometheus.CounterVec
	decidedAt *prometheus.HistogramVec
	unjudged  *prometheus.CounterVec
	models    boundedLabels
}

// seconds are the bucket boundaries that OpenTelemetry's conventions give for these durations, and
// two more, because answers of reasoning models take minutes.
var seconds = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68}

// maxModels bounds the models with their own series, because clients choose the names.
const maxModels = 64

func newExchanges(r *prometheus.Registry) *exchanges {
	model := []string{"gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model", "gen_ai_response_model"}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
		r.MustRegister(h)
		return h
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	return &exchanges{
		duration: histogram("gen_ai_client_operation_duration_seconds", "From sending a request to a model to the end of its answer.",
			seconds, append(model, "error_type")...),
		first: histogram("gen_ai_client_operation_time_to_first_chunk_seconds", "From sending a request to a model to the first bytes of its answer.",
			seconds, model...),
		tokens: histogram("gen_ai_client_token_usage", "Tokens of a request and its answer, as the provider counts them.",
			prometheus.ExponentialBuckets(1, 4, 14), append(model, "gen_ai_token_type")...),
		arguments: counter("stopgate_arguments_bytes_total", "Bytes of arguments of calls in answers.").WithLabelValues(),
		discarded: counter("stopgate_arguments_discarded_bytes_total", "Of these, bytes that came after their call was refused.").WithLabelValues(),
		cancelled: counter("stopgate_upstream_cancelled_total", "Answers that were stopped at the provider, because nothing was left that could run.", "gen_ai_provider_name"),
		decidedAt: histogram("stopgate_decided_at_bytes", "The argument byte at which the verdict of a call was determined.",
			append([]float64{0}, prometheus.ExponentialBuckets(4, 4, 10)...), "surface", "mode"),
		unjudged: counter("stopgate_not_evaluated_total", "What may have carried a call and passed unjudged.", "code"),
		models:   boundedLabels{max: maxModels},
	}
}

// boundedLabels is a bounded set of labels: further ones become _other.
type boundedLabels struct {
	mu    sync.Mutex
	max   int
	known map[string]bool
}

func (w *boundedLabels) label(text string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.known[text]:
		return text
	case text == "" || len(w.known) >= w.max || len(text) > 64:
		return Other
	}
	if w.known == nil {
		w.known = map[string]bool{}
	}
	w.known[text] = true
	return text
}

// Begin implements [gateway.Observer].
func (m *Metrics) Begin(ctx context.Context, _ *http.Request, _ *gateway.Observed) (context.Context, gateway.Observation) {
	return ctx, m
}

// Send implements [gateway.Observation].
func (m *Metrics) Send(*gateway.Observed, http.Header) {}

// End implements [gateway.Observation].
func (m *Metrics) End(o *gateway.Observed) {
	x := m.exchanges
	x.arguments.Add(float64(o.Arguments))
	x.discarded.Add(float64(o.Discarded))
	m.Next(o)
}

// Next implements [gateway.Observation]: it counts one model call.
func (m *Metrics) Next(o *gateway.Observed) {
	x := m.exchanges
	if o.Dialect == "" || o.Sent.IsZero() || o.Canned {
		return
	}
	failure := string(o.Fault)
	if failure == "" && o.UpstreamStatus >= 400 {
		failure = strconv.Itoa(o.UpstreamStatus)
	}
	first := o.First
	if !o.Streamed {
		first = time.Time{} // not streamed
	}
	x.asked(modelCall{o.Provider(), o.Model, failure, o.UpstreamStatus == http.StatusOK, o.Cancelled, o.Answer, o.Sent, first, o.Ended})
}

// modelCall is a request to a model and its answer.
type modelCall struct {
	provider, model, failure string
	known                    bool // the provider knows the model
	cancelled                bool
	answer                   gateway.Answer
	sent, first, ended       time.Time
}

// asked counts a model call.
func (x *exchanges) asked(c modelCall) {
	if c.cancelled {
		x.cancelled.WithLabelValues(c.provider).Inc()
	}
	// A model name that the provider refused gets no series.
	model, answers := Other, ""
	if c.known {
		model = x.models.label(c.model)
		if c.answer.Model != "" {
			answers = x.models.label(c.answer.Model)
		}
	}
	x.duration.WithLabelValues("chat", c.provider, model, answers, c.failure).Observe(since(c.sent, c.ended))
	if !c.first.IsZero() {
		x.first.WithLabelValues("chat", c.provider, model, answers).Observe(since(c.sent, c.first))
	}
	if n := c.answer.Tokens; n.Known {
		x.tokens.WithLabelValues("chat", c.provider, model, answers, "input").Observe(float64(n.Input))
		x.tokens.WithLabelValues("chat", c.provider, model, answers, "output").Observe(float64(n.Output))
	}
}

func since(a, b time.Time) float64 { return max(b.Sub(a), 0).Seconds() }

// Note implements [gate.NoteTracer].
func (m *Metrics) Note(_ context.Context, r stopgate.Record) {
	if r.Event == stopgate.AuditNotEvaluated {
		m.exchanges.unjudged.WithLabelValues(string(r.Code)).Inc()
	}
}

// decided counts the offset in the arguments at which a call was decided.
func (x *exchanges) decided(e *gate.TraceEvent) {
	if e.Row != nil && e.Row.DecidedAt != nil {
		x.decidedAt.WithLabelValues(string(e.Surface), e.Metadata["mode"]).Observe(float64(*e.Row.DecidedAt))
	}
}

// Drops adds a counter of lost telemetry; reason is its label.
func (m *Metrics) Drops(reason string, read func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "stopgate_telemetry_dropped_total", Help: "Events and spans that were dropped, because who takes them was too slow.",
		ConstLabels: prometheus.Labels{"reason": reason},
	}, read))
}
