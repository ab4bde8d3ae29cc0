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

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/record/metrics/prometheus"
)

// Other is the label of every tool that the policy does not name.
const Other = "_other"

// Metrics are the metrics of one gate. It is a [gate.NoteTracer] and a [gateway.Observer].
type Metrics struct {
	registry  *prometheus.Registry
	tools     atomic.Pointer[map[stopgate.ToolName]stopgate.ToolName]
	decisions *prometheus.Counter
	handoffs  *prometheus.Counter
	held      *prometheus.Histogram
	decided   *prometheus.Histogram
	asked     *prometheus.Histogram
	reviews   *prometheus.Counter
	reviewed  *prometheus.Histogram
	externals *prometheus.Counter
	answered  *prometheus.Histogram
	exchanges *exchanges
	mcp       *mcp
	agents    *agents
}

// New returns the metrics of a gate. tools are the names in its policy, see [policy.Program.Tools].
func New(tools map[stopgate.ToolName]stopgate.ToolName) *Metrics {
	r := prometheus.NewRegistry()
	m := &Metrics{
		registry:  r,
		decisions: r.Counter("stopgate_decisions_total", "Proposals that came to their end.", "surface", "dialect", "tool", "decision", "mode", "layer", "code"),
		handoffs:  r.Counter("stopgate_handoffs_total", "Handoffs that came to their end.", "surface", "decision", "code"),
		held: r.Histogram("stopgate_hold_duration_seconds", "From the opening of a proposal to its end.",
			[]float64{.001, .01, .1, 1, 10, 60, 300, 900}, "surface", "decision", "mode"),
		decided: r.Histogram("stopgate_decision_duration_seconds", "From the last byte of a call to its end, without the time in which people were asked.",
			[]float64{.00001, .0001, .001, .005, .01, .05, .1, .5, 1, 5, 10}, "surface", "mode"),
		asked: r.Histogram("stopgate_approval_duration_seconds", "From asking people to their answer, or to giving up.",
			[]float64{1, 5, 15, 60, 300, 900, 1800}, "surface", "decision", "mode"),
	}
	m.Tools(tools)
	m.exchanges = newExchanges(r)
	m.mcp = newMCP(r)
	m.agents = newAgents(r)
	m.reviews = r.Counter("stopgate_judge_reviews_total", "Calls that a judge was asked about: passed, objected, failed.", "surface", "tool", "answer", "cached")
	m.reviewed = r.Histogram("stopgate_judge_seconds", "How long a judge took for one call.",
		[]float64{.05, .1, .25, .5, 1, 2, 5, 10, 30, 60}, "answer")
	m.externals = r.Counter("stopgate_external_answers_total", "Answers of external policies; failed: none that is valid.", "policy", "ask", "answer")
	m.answered = r.Histogram("stopgate_external_seconds", "How long an external policy took for one answer.",
		[]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .05, .1, .5, 1, 5, 30}, "policy", "ask")
	r.Process()
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
		m.decisions.With(surface, dialect, tool, e.Decision, mode, e.Metadata["layer"], string(e.Reason)).Add(1)
	case gate.TraceHandoff:
		m.handoffs.With(surface, e.Decision, string(e.Reason)).Add(1)
	default:
		return
	}
	m.held.With(surface, e.Decision, mode).Observe(e.Took.Seconds())
	m.decided.With(surface, mode).Observe(e.Decided.Seconds())
	if e.Asked > 0 {
		m.asked.With(surface, e.Decision, mode).Observe(e.Asked.Seconds())
	}
}

// External counts the answer of an external policy.
func (m *Metrics) External(a stopgate.ExternalAnswer) {
	answer := a.Answer
	if a.Fault != "" {
		answer = "failed"
	}
	m.externals.With(a.Policy, a.Hook, answer).Add(1)
	m.answered.With(a.Policy, a.Hook).Observe(float64(a.Micros) / 1e6)
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
	m.reviews.With(surface, tool, answer, strconv.FormatBool(r.Cached)).Add(1)
	if !r.Cached {
		m.reviewed.With(answer).Observe(float64(r.Millis) / 1000)
	}
}

// Watch adds the state of a gate and of its gateway, which may be nil.
func (m *Metrics) Watch(g *gate.Gate, gw *gateway.Gateway) {
	health := m.registry.Gauge
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
	m.registry.Read("counter", "stopgate_faults_total", "Refused and broken exchanges.", []string{"code"}, func(yield func(float64, ...string)) {
		for code, n := range gw.Stats().Faults {
			yield(float64(n), string(code))
		}
	})
}

// BundleSource is the policy bundle of a gate: its generation, 0 for none, when its channel was last
// read, and whether the newest bundle of the channel was refused.
type BundleSource interface {
	Figures() (generation uint64, checked time.Time, refused bool)
}

// WatchBundle adds the state of the policy bundle of a gate.
func (m *Metrics) WatchBundle(b BundleSource) {
	gauge := m.registry.Gauge
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

// Handler returns the handler of scrapes.
func (m *Metrics) Handler() http.Handler { return m.registry }

// Names lists the metrics of stopgate, sorted.
func (m *Metrics) Names() []string {
	return slices.DeleteFunc(m.registry.Names(), func(name string) bool {
		return strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_")
	})
}
