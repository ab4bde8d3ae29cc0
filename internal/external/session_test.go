package external_test

import (
	"slices"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/session"
)

// readFirst is a session policy: a path is written only after it was read.
func readFirst(q map[string]any) map[string]any {
	var read []any
	if state, ok := q["state"].(map[string]any); ok {
		read = state["read"].([]any)
	}
	call := q["call"].(map[string]any)
	path := call["args"].(map[string]any)["path"]
	switch {
	case q["ask"] == "session_result" && call["tool"] == "read":
		return map[string]any{"state": map[string]any{"read": append(read, path)}}
	case q["ask"] == "session_check" && call["tool"] == "write" && !slices.Contains(read, path):
		return map[string]any{"decision": "deny", "reason": "read_required", "public_reason": "Read the file first.", "missing": []string{"read"}}
	case q["ask"] == "session_check":
		return map[string]any{"decision": "allow"}
	}
	return nil
}

func result(t *testing.T, g *gate.Gate, out stopgate.Outcome, tool string) {
	t.Helper()
	if _, err := g.Observe(t.Context(), stopgate.Result{Proposal: out.Proposal, Session: "s", Tool: stopgate.ToolName(tool), Data: []byte("x"), Observed: true}); err != nil {
		t.Fatal(err)
	}
}

// Proves S75, TPS-01, TPS-06, TPS-08, TPS-17, TPS-29, TPS-30: the state of a service's policy is facts of
// the session, each question is asked once, and a restore takes back what the state permitted.
func TestSession(t *testing.T) {
	s := serve(t, readFirst)
	g, rows := newGate(t, s.table(`"session"`), gate.WithSealKey(make([]byte, 32)))
	who := session.Owner{Session: "s"}
	before, err := g.Snapshot(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	if out := decide(t, g, declared("write", `{"path":"a"}`)); out.Allowed() || out.Verdict.Code != stopgate.CodeReadRequired || out.Verdict.Public != "Read the file first." {
		t.Fatalf("%+v", out.Verdict)
	}
	out := decide(t, g, declared("read", `{"path":"a"}`))
	result(t, g, out, "read")
	for path, want := range map[string]bool{"a": true, "b": false} {
		if out := decide(t, g, declared("write", `{"path":"`+path+`"}`)); out.Allowed() != want {
			t.Errorf("write %s: %+v", path, out.Verdict)
		}
	}
	if got := s.asked(); !slices.Equal(got, []string{"session_check", "session_check", "session_result", "session_check", "session_check"}) {
		t.Errorf("asked %v", got)
	}
	if a := rows.Decisions()[0].External; len(a) != 1 || a[0].Answer != "deny" || a[0].Code != stopgate.CodeReadRequired {
		t.Errorf("%+v", a)
	}
	if err := g.Restore(t.Context(), who, before, gate.Rewind{By: "ops"}); err != nil {
		t.Fatal(err)
	}
	if out := decide(t, g, declared("write", `{"path":"a"}`)); out.Allowed() {
		t.Error("a restore did not take back what the state permitted")
	}
	// What was taken back does not come again with the next result.
	result(t, g, decide(t, g, declared("read", `{"path":"c"}`)), "read")
	for path, want := range map[string]bool{"a": false, "c": true} {
		if out := decide(t, g, declared("write", `{"path":"`+path+`"}`)); out.Allowed() != want {
			t.Errorf("write %s after the restore: %+v", path, out.Verdict)
		}
	}
}

// Proves TPS-36, S8: a state that restricts counts at once and survives a restore.
func TestSessionRestricts(t *testing.T) {
	s := serve(t, func(q map[string]any) map[string]any {
		n, _ := q["state"].(float64)
		switch {
		case q["ask"] == "session_result":
			return map[string]any{"state": n + 1}
		case n >= 1:
			return map[string]any{"decision": "deny", "reason": "only_once"}
		}
		return map[string]any{"decision": "allow"}
	})
	g, _ := newGate(t, s.table(`"session"`), gate.WithSealKey(make([]byte, 32)))
	who := session.Owner{Session: "s"}
	before, err := g.Snapshot(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	result(t, g, decide(t, g, declared("pay", `{}`)), "pay")
	if out := decide(t, g, declared("pay", `{}`)); out.Allowed() {
		t.Error("the second call ran")
	}
	if err := g.Restore(t.Context(), who, before, gate.Rewind{By: "ops"}); err != nil {
		t.Fatal(err)
	}
	if out := decide(t, g, declared("pay", `{}`)); out.Allowed() || out.Verdict.Code != "only_once" {
		t.Errorf("a restore gave back what the state restricts: %+v", out.Verdict)
	}
}

// Proves FM16: after a result that the service did not take, the calls that it governs are denied.
func TestSessionResultLost(t *testing.T) {
	s := serve(t, func(q map[string]any) map[string]any {
		if q["ask"] == "session_result" {
			return map[string]any{"unknown": true}
		}
		return map[string]any{"decision": "allow"}
	})
	g, _ := newGate(t, s.table(`"session"`))
	out := decide(t, g, declared("pay", `{}`))
	if _, err := g.Observe(t.Context(), stopgate.Result{Proposal: out.Proposal, Session: "s", Tool: "pay", Data: []byte("x"), Observed: true}); err == nil {
		t.Error("no error")
	}
	if out := decide(t, g, declared("pay", `{}`)); out.Allowed() || out.Verdict.Code != stopgate.CodeSessionDegraded {
		t.Errorf("%+v", out.Verdict)
	}
}
