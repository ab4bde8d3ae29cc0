package external_test

import (
	"slices"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// Proves G2-03, G2-04, G2-05, G2-10: a service is the gate of calls, with code, sentence and record.
func TestGate(t *testing.T) {
	s := serve(t, func(q map[string]any) map[string]any {
		call := q["call"].(map[string]any)
		if call["args"].(map[string]any)["path"] == "/tmp/a" {
			return map[string]any{"decision": "allow", "reason": "below_tmp"}
		}
		return map[string]any{"decision": "deny", "reason": "outside_tmp", "public_reason": "Only files below /tmp.", "metadata": map[string]string{"root": "/tmp"}}
	})
	g, rows := newGate(t, s.table(`"gate"`))
	if out := decide(t, g, declared("rm", `{"path": "/tmp/a"}`)); !out.Allowed() {
		t.Fatalf("%+v", out.Verdict)
	}
	out := decide(t, g, declared("rm", `{"path":"/etc"}`))
	if out.Allowed() || out.Verdict.Code != "outside_tmp" || out.Verdict.Public != "Only files below /tmp." || out.Verdict.Layer != stopgate.LayerGate {
		t.Fatalf("%+v", out.Verdict)
	}
	all := rows.Decisions()
	for i, want := range []string{"allow", "deny"} {
		a := all[i].External
		if len(a) != 1 || a[0].Policy != "ext" || a[0].Version != "v1" || a[0].Answer != want || a[0].Time.IsZero() || a[0].Hook != "gate" || len(a[0].Input) != 64 {
			t.Errorf("row %d: %+v", i, a)
		}
		if all[i].Policy != gate.PolicyOf(g.PolicyHash(), a) || all[i].Policy == g.PolicyHash() {
			t.Errorf("row %d: policy %s does not cover the version of the service", i, all[i].Policy)
		}
	}
	if raw := s.questions[0]["call"].(map[string]any)["raw"]; raw != `{"path": "/tmp/a"}` {
		t.Errorf("raw arguments %q", raw)
	}
	if n := len(s.asked()); n != 2 {
		t.Errorf("%d questions for two calls", n)
	}
}

// Proves G2-03, G2-06: a service is the gate of handoffs.
func TestHandoff(t *testing.T) {
	s := serve(t, func(q map[string]any) map[string]any {
		if q["call"].(map[string]any)["to"] == "billing" {
			return map[string]any{"decision": "allow", "reason": "ok"}
		}
		return map[string]any{"decision": "deny", "reason": "not_there", "deny_mode": "throw"}
	})
	g, rows := newGate(t, s.table(`"handoff"`))
	for to, want := range map[stopgate.AgentName]bool{"billing": true, "admin": false} {
		out, err := g.Handoff(t.Context(), gate.HandoffCall{To: to, Session: "s", Turn: stopgate.TurnID(to)})
		if out.Allowed() != want || (err != nil) == want {
			t.Errorf("%s: %+v, %v", to, out.Verdict, err)
		}
	}
	if a := rows.Decisions()[0].External; len(a) != 1 || a[0].Hook != "handoff" {
		t.Errorf("%+v", a)
	}
}

// Proves G2-02, S2: a tool that no file knows runs if the service permits it, and only then.
func TestUnknownTool(t *testing.T) {
	s := serve(t, func(q map[string]any) map[string]any {
		if q["call"].(map[string]any)["tool"] == "mine" {
			return map[string]any{"decision": "allow", "reason": "known_to_me"}
		}
		return map[string]any{"decision": "deny", "reason": "unknown_to_me"}
	})
	text := s.table(`"gate"`)
	g, _ := newGate(t, text[:len(text)-len(tools)])
	for tool, want := range map[string]stopgate.Code{"mine": "known_to_me", "other": "unknown_to_me"} {
		out := decide(t, g, stopgate.Call{Tool: stopgate.ToolName(tool), Args: []byte(`{}`), Session: "s"})
		if out.Verdict.Code != want || out.Allowed() != (tool == "mine") {
			t.Errorf("%s: %+v", tool, out.Verdict)
		}
	}
}

// Proves V3-19, X4: the opinion of a judge only tightens, and is in the row.
func TestJudge(t *testing.T) {
	s := serve(t, func(q map[string]any) map[string]any {
		if q["call"].(map[string]any)["tool"] == "bad" {
			return map[string]any{"decision": "deny", "probability": 0.9, "public_reason": "This is harmful.", "explanation": "it deletes"}
		}
		return map[string]any{"decision": "allow", "probability": 0.1}
	})
	g, rows := newGate(t, s.table(`"judge"`)+"[tools.no]\nrun = [{ mode = \"deny\" }]\n")
	for tool, want := range map[string]stopgate.Code{"good": stopgate.CodeRuleMatched, "bad": stopgate.CodeJudgeDenied, "no": stopgate.CodeRuleMatched} {
		out := decide(t, g, declared(tool, `{}`))
		if out.Verdict.Code != want || out.Allowed() != (tool == "good") {
			t.Errorf("%s: %+v", tool, out.Verdict)
		}
	}
	i := slices.IndexFunc(rows.Decisions(), func(r stopgate.Record) bool { return r.Tool == "bad" })
	if j := rows.Decisions()[i].Judge; j == nil || j.Model != "external:ext" || *j.Probability != 0.9 {
		t.Errorf("%+v", j)
	}
	if len(s.asked()) != 2 {
		t.Errorf("asked %v: a denied call needs no judge", s.asked())
	}
}
