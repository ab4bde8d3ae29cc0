package gate_test

import (
	"fmt"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// rollout compiles a policy that a share of the sessions has, and the one before for the others.
func rollout(t *testing.T, now, before string, share bundle.Share) *policy.Program {
	t.Helper()
	compile := func(text string, r policy.Rollout) *policy.Program {
		p, list := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: true, Bundled: true}}, policy.Options{Rollout: r})
		if p == nil {
			t.Fatal(list)
		}
		return p
	}
	previous := compile(before, policy.Rollout{Bundle: &stopgate.Bundle{Generation: 6, Digest: "before"}})
	return compile(now, policy.Rollout{
		Bundle: &stopgate.Bundle{Generation: 7, Digest: "now"}, Previous: previous,
		Reached: func(id stopgate.SessionID) bool { return share.Includes(string(id)) },
	})
}

const (
	allowing = "version = 1\n[gate]\ndeny_mode = \"tool_result\"\n[tools.t]\npolicy.run = \"unattended\"\n"
	denying  = "version = 1\n[gate]\ndeny_mode = \"tool_result\"\n[tools.t]\npolicy.run = [{ mode = \"deny\", reason = \"no\" }]\n"
)

// Proves S74: in a roll-out in steps each session has one policy, on every gate, and its records name the bundle
// of that. Sessions that are reached stay so in later steps; calls without a session keep the policy
// before.
func TestRollout(t *testing.T) {
	const sessions = 400
	var recorders [2]ports.Recorder
	var gates []*gate.Gate
	for i := range recorders {
		g, err := gate.New(rollout(t, denying, allowing, 2500), gate.WithRecorder(&recorders[i]))
		if err != nil {
			t.Fatal(err)
		}
		gates = append(gates, g)
	}
	decide := func(g *gate.Gate, id stopgate.SessionID) bool {
		t.Helper()
		out, err := g.Decide(ctx, stopgate.Call{Tool: "t", Session: id, Args: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		return out.Allowed()
	}
	reached := map[stopgate.SessionID]bool{}
	for i := range sessions {
		id := stopgate.SessionID(fmt.Sprintf("session-%d", i))
		one, two := !decide(gates[0], id), !decide(gates[1], id)
		if one != two {
			t.Errorf("%s has two policies", id)
		}
		reached[id] = one
	}
	n := 0
	for _, yes := range reached {
		if yes {
			n++
		}
	}
	if n < sessions/5 || n > sessions*3/10 {
		t.Errorf("%d of %d sessions are reached by 25%%", n, sessions)
	}
	if !decide(gates[0], "") {
		t.Error("a call without a session has the new policy")
	}
	for _, row := range recorders[0].Decisions() {
		want := stopgate.Bundle{Generation: 6, Digest: "before"}
		if reached[row.Session] {
			want = stopgate.Bundle{Generation: 7, Digest: "now"}
		}
		if row.Bundle == nil || *row.Bundle != want || (row.Policy == gates[0].PolicyHash()) != reached[row.Session] {
			t.Errorf("session %q: policy %s, bundle %v", row.Session, row.Policy, row.Bundle)
		}
	}
	// The next step.
	if err := gates[0].Swap(rollout(t, denying, allowing, 5000)); err != nil {
		t.Fatal(err)
	}
	for id, before := range reached {
		if now := !decide(gates[0], id); before && !now {
			t.Errorf("%s lost the new policy in the next step", id)
		}
	}
}

// A call that is open while the roll-out reaches its session must pass the new policy, too.
func TestRolloutReachesAnOpenCall(t *testing.T) {
	g, err := gate.New(rollout(t, denying, allowing, 1))
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Open(ctx, stopgate.Call{Tool: "t", Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Swap(rollout(t, denying, allowing, 9999)); err != nil {
		t.Fatal(err)
	}
	p.Feed([]byte(`{}`))
	p.Close(stopgate.Ended)
	if out, err := p.Resolve(ctx); err != nil || out.Allowed() {
		t.Errorf("%+v, %v", out, err)
	}
}

// Where only one of the policies observes, the gate holds calls back.
func TestRolloutOfObserving(t *testing.T) {
	observing := "version = 1\n[gate]\nenforcement = \"observe\"\n[tools.t]\npolicy.run = [{ mode = \"deny\", reason = \"no\" }]\n"
	g, err := gate.New(rollout(t, observing, denying, 5000))
	if err != nil {
		t.Fatal(err)
	}
	if !g.Enforced() {
		t.Error("no call is held back")
	}
	for i := range 50 {
		id := stopgate.SessionID(fmt.Sprint(i))
		out, err := g.Decide(ctx, stopgate.Call{Tool: "t", Session: id, Args: []byte(`{}`)})
		if err == nil && out.Enforced == bundle.Share(5000).Includes(string(id)) {
			t.Errorf("session %s: %+v", id, out)
		}
	}
}

// Proves S72: a file of a bundle with a table of the gate itself has a mistake.
func TestBundledFilesHaveRulesOnly(t *testing.T) {
	for _, table := range []string{"gateway", "store", "policy", "api", "approvals"} {
		text := "version = 1\n[" + table + "]\n"
		if p, list := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: true, Bundled: true}}, policy.Options{}); p != nil || !list.HasErrors() {
			t.Errorf("[%s] is accepted: %v", table, list)
		}
	}
}
