// Package metrics counts the decisions of a gate, for Prometheus.
//
//	m := metrics.New(program.Tools())
//	g, err := gate.New(program, gate.WithTracer(m))
//	gw, err := gateway.New(gateway.Options{Gate: g, Observer: m})
//	m.Watch(g, gw)
//	http.Handle("/metrics", m.Handler())
//
// Guarantees: the values of labels are from known lists. A tool that the policy does not name is
// counted as _other, so that a model cannot create series (H18); no label contains an argument, a
// session or a person (H17).
package metrics

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
)

// Other is the label of every tool that the policy does not name.
const Other = "_other"

// Metrics are the metrics of one gate. It is a [gate.NoteTracer] and a [gateway.Observer].
type Metrics struct {
	registry  *prometheus.Registry
	tools     atomic.Pointer[map[stopgate.ToolName]stopgate.ToolName]
	decisions *prometheus.CounterVec
	handoffs  *prometheus.CounterVec
	held      *prometheus.HistogramVec
	decided   *prometheus.HistogramVec
	asked     *prometheus.HistogramVec
	reviews   *prometheus.CounterVec
	reviewed  *prometheus.HistogramVec
	externals *prometheus.CounterVec
	answered  *prometheus.HistogramVec
	exchanges *exchanges
	mcp       *mcp
	agents    *agents
}

// New returns the metrics of a gate. tools are the names in its policy, see [policy.Program.Tools].
func New(tools map[stopgate.ToolName]stopgate.ToolName) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stopgate_decisions_total", Help: "Proposals that came to their end.",
		}, []string{"surface", "dialect", "tool", "decision", "mode", "layer", "code"}),
		handoffs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stopgate_handoffs_total", Help: "Handoffs that came to their end.",
		}, []string{"surface", "decision", "code"}),
		held: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "stopgate_hold_duration_seconds", Help: "From the opening of a proposal to its end.",
			Buckets: []float64{.001, .01, .1, 1, 10, 60, 300, 900},
		}, []string{"surface", "decision", "mode"}),
		decided: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "stopgate_decision_duration_seconds", Help: "From the last byte of a call to its end, without the time in which people were asked.",
			Buckets: []float64{.00001, .0001, .001, .005, .01, .05, .1, .5, 1, 5, 10},
		}, []string{"surface", "mode"}),
		asked: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "stopgate_approval_duration_seconds", Help: "From asking people to their answer, or to giving up.",
			Buckets: []float64{1, 5, 15, 60, 300, 900, 1800},
		}, []string{"surface", "decision", "mode"}),
	}
	m.Tools(tools)
	m.exchanges = newExchanges(m.registry)
	m.mcp = newMCP(m.registry)
	m.agents = newAgents(m.registry)
	m.reviews = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "stopgate_judge_reviews_total", Help: "Calls that a judge was asked about: passed, objected, failed.",
	}, []string{"surface", "tool", "answer", "cached"})
	m.reviewed = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "stopgate_judge_seconds", Help: "How long a judge took for one call.",
		Buckets: []float64{.05, .1, .25, .5, 1, 2, 5, 10, 30, 60},
	}, []string{"answer"})
	m.externals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "stopgate_external_answers_total", Help: "Answers of external policies; failed: none that is valid.",
	}, []string{"policy", "ask", "answer"})
	m.answered = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "stopgate_external_seconds", Help: "How long an external policy took for one answer.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .05, .1, .5, 1, 5, 30},
	}, []string{"policy", "ask"})
	m.registry.MustRegister(m.externals, m.answered, m.decisions, m.handoffs, m.held, m.decided, m.asked, m.reviews, m.reviewed, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Tools sets the names in the policy, after a reload.
func (m *Metrics) Tools(names map[stopgate.ToolName]stopgate.ToolName) { m.tools.Store(&names) }

// Trace implements [gate.Tracer].
func (m *Metrics) Trace(_ context.Context, e gate.TraceEvent) {
	surface, mode, dialect := string(e.Surface), e.Metadata["mode"], ""
	if e.Row != nil {
		dialect = e.Row.Dialect
	}
	switch e.Name {
	case gate.TraceTool:
		tool := m.tool(e.Tool)
		m.review(surface, tool, e.Judge)
		m.exchanges.decided(&e)
		m.decisions.WithLabelValues(surface, dialect, tool, e.Decision, mode, e.Metadata["layer"], string(e.Reason)).Inc()
	case gate.TraceHandoff:
		m.handoffs.WithLabelValues(surface, e.Decision, string(e.Reason)).Inc()
	default:
		return
	}
	m.held.WithLabelValues(surface, e.Decision, mode).Observe(e.Took.Seconds())
	m.decided.WithLabelValues(surface, mode).Observe(e.Decided.Seconds())
	if e.Asked > 0 {
		m.asked.WithLabelValues(surface, e.Decision, mode).Observe(e.Asked.Seconds())
	}
}

// External counts the answer of an external policy.
func (m *Metrics) External(a stopgate.ExternalAnswer) {
	answer := a.Answer
	if a.Fault != "" {
		answer = "failed"
	}
	m.externals.WithLabelValues(a.Policy, a.Hook, answer).Inc()
	m.answered.WithLabelValues(a.Policy, a.Hook).Observe(float64(a.Micros) / 1e6)
}

// review counts the opinion of a judge (V3-24).
func (m *Metrics) review(surface, tool string, r *stopgate.Review) {
	if r == nil {
		return
	}
	answer := "objected"
	switch {
	case r.Fault != "":
		answer = "failed"
	case r.Mode.Permissive():
		answer = "passed"
	}
	m.reviews.WithLabelValues(surface, tool, answer, strconv.FormatBool(r.Cached)).Inc()
	if !r.Cached {
		m.reviewed.WithLabelValues(answer).Observe(float64(r.Millis) / 1000)
	}
}

// Watch adds the state of a gate and of its gateway, which may be nil.
func (m *Metrics) Watch(g *gate.Gate, gw *gateway.Gateway) {
	health := func(name, help string, read func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
	}
	health("stopgate_lost_rows", "Audit rows that could not be written; above 0 nothing is allowed.",
		func() float64 { return float64(g.Health().LostRows) })
	health("stopgate_stuck_calls", "Calls to stores, approvers and policies that overran their deadline and did not return.",
		func() float64 { return float64(g.Health().Stuck) })
	health("stopgate_uncertain_sessions", "Sessions whose state may lack a result.",
		func() float64 { return float64(g.Health().Uncertain) })
	health("stopgate_reload_rejected", "1 while the newest policy is not in force because it is no good.", func() float64 {
		if g.Health().Rejected {
			return 1
		}
		return 0
	})
	health("stopgate_lockdown", "1 while everything is denied by order.", func() float64 {
		if g.Lockdown().Active() {
			return 1
		}
		return 0
	})
	if gw == nil {
		return
	}
	health("stopgate_exchanges", "Requests being served.", func() float64 { return float64(gw.Stats().Exchanges) })
	health("stopgate_held_bytes", "Argument bytes held back.", func() float64 { return float64(gw.Stats().Held) })
	m.registry.MustRegister(faults{gw, prometheus.NewDesc("stopgate_faults_total", "Refused and broken exchanges.", []string{"code"}, nil)})
}

// BundleSource is the policy bundle of a gate: its generation, 0 for none, when its channel was last
// read, and whether the newest bundle of the channel was refused.
type BundleSource interface {
	Figures() (generation uint64, checked time.Time, refused bool)
}

// WatchBundle adds the state of the policy bundle of a gate.
func (m *Metrics) WatchBundle(b BundleSource) {
	gauge := func(name, help string, read func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
	}
	gauge("stopgate_bundle_generation", "Generation of the policy bundle in force.", func() float64 {
		generation, _, _ := b.Figures()
		return float64(generation)
	})
	gauge("stopgate_bundle_checked_timestamp_seconds", "When the channel of the policy bundle was last seen to have no other one.", func() float64 {
		_, checked, _ := b.Figures()
		return float64(checked.UnixMilli()) / 1000
	})
	gauge("stopgate_bundle_refused", "1 while the newest policy bundle of the channel is not in force.", func() float64 {
		if _, _, refused := b.Figures(); refused {
			return 1
		}
		return 0
	})
}

// faults counts the refusals and broken exchanges of a gateway by code.
type faults struct {
	gw   *gateway.Gateway
	desc *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (f faults) Describe(to chan<- *prometheus.Desc) { to <- f.desc }

// Collect implements [prometheus.Collector].
func (f faults) Collect(to chan<- prometheus.Metric) {
	for code, n := range f.gw.Stats().Faults {
		to <- prometheus.MustNewConstMetric(f.desc, prometheus.CounterValue, float64(n), string(code))
	}
}

// Handler returns the handler of scrapes.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Names lists the metrics of stopgate, sorted.
func (m *Metrics) Names() []string {
	all := make(chan *prometheus.Desc)
	go func() {
		m.registry.Describe(all)
		close(all)
	}()
	var names []string
	for d := range all {
		_, rest, _ := strings.Cut(d.String(), `fqName: "`)
		name, _, _ := strings.Cut(rest, `"`)
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
