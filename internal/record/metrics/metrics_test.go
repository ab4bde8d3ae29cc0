package metrics_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/record/metrics"
)

type patient struct{}

func (patient) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true}
}

func (patient) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	v, err := q.Complete(ctx)
	time.Sleep(time.Millisecond)
	return v.Approve("ann"), err
}

// reviewer is a judge that never objects.
type reviewer struct{}

func (reviewer) Judge(context.Context, gate.Proposal) (gate.Opinion, error) {
	return gate.Opinion{Mode: stopgate.Unattended, Review: stopgate.Review{Explanation: "secret-explanation"}}, nil
}

// Proves H18, H17, V3-24: every decision is counted with labels from known lists: a tool name that
// a model made up, a session or an argument creates no series.
func TestCounted(t *testing.T) {
	program, mistakes := prove.Compile([]policy.Source{{Name: "p", Trusted: true, Text: []byte(
		"version = 1\n[tools.a]\nalso = [\"b\"]\npolicy.run = \"unattended\"\n[tools.c]\npolicy.run = \"ask\"\n[tools.\"x_*\"]\npolicy.run = \"deny\"\n")}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	m := metrics.New(program.Tools())
	g, err := gate.New(program, gate.WithTracer(m), gate.WithApprover(patient{}), gate.WithDenyMode(gate.DenyToolResult),
		gate.WithJudge(reviewer{}, stopgate.Deny))
	if err != nil {
		t.Fatal(err)
	}
	m.Watch(g, nil)
	call := func(tool stopgate.ToolName) {
		if _, err := g.Decide(t.Context(), stopgate.Call{Tool: tool, Session: "secret-session", Surface: stopgate.SurfaceDecide, Args: []byte(`{"k":"secret-value"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range []stopgate.ToolName{"a", "b", "c"} {
		call(tool)
	}
	for i := range 50 {
		call(stopgate.ToolName(fmt.Sprint("x_", i)))
	}
	if _, err := g.Handoff(t.Context(), gate.HandoffCall{To: "somebody"}); err != nil {
		t.Fatal(err)
	}
	g.Lock(gate.Lockdown{Since: time.Now(), By: "ann"})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	text := w.Body.String()
	for _, want := range []string{
		`stopgate_decisions_total{code="rule_matched",decision="allowed",dialect="",layer="rules",mode="unattended",surface="decide",tool="a"} 2`,
		`stopgate_decisions_total{code="rule_matched",decision="allowed",dialect="",layer="rules",mode="ask",surface="decide",tool="c"} 1`,
		`stopgate_decisions_total{code="rule_matched",decision="denied",dialect="",layer="rules",mode="deny",surface="decide",tool="_other"} 50`,
		`stopgate_handoffs_total{code="policy_not_configured",decision="denied",surface=""} 1`,
		`stopgate_hold_duration_seconds_count{decision="allowed",mode="unattended",surface="decide"} 2`,
		`stopgate_decision_duration_seconds_count{mode="ask",surface="decide"} 1`,
		`stopgate_approval_duration_seconds_count{decision="allowed",mode="ask",surface="decide"} 1`,
		`stopgate_judge_reviews_total{answer="passed",cached="false",surface="decide",tool="a"} 2`, `stopgate_judge_seconds_count{answer="passed"} 3`,
		"stopgate_lost_rows 0", "stopgate_stuck_calls 0", "stopgate_lockdown 1",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	for _, secret := range []string{"secret", "x_1", "somebody", "ann"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is among the metrics", secret)
		}
	}
	if t.Failed() {
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "stopgate_") {
				t.Log(line)
			}
		}
	}
}
