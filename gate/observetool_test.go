package gate_test

import (
	"errors"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/session"
)

// Proves H5: the id of a call is enough to report its result, in its own session and in no
// other; where only the store remembers the call as well.
func TestResultByProposal(t *testing.T) {
	program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte("version = 1\n[tools.t.policy]\nrun = \"unattended\"\n"), Trusted: true}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	store, ann := mem.New(), session.Owner{Principal: "ann", Session: "s"}
	open := func() *gate.Gate {
		g, err := gate.New(program, gate.WithStore(store))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for _, restarted := range []bool{false, true} {
		g := open()
		out, err := g.Turn(ann, "").Decide(t.Context(), stopgate.Call{Tool: "t", Args: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		if restarted {
			g = open()
		}
		r := stopgate.Result{Proposal: out.Proposal, Data: []byte("done"), Observed: true}
		for _, other := range []session.Owner{{}, {Principal: "ann"}, {Principal: "eve", Session: "s"}} {
			if _, err := g.Turn(other, "").Observe(t.Context(), r); !errors.Is(err, gate.ErrUnmatched) {
				t.Errorf("restarted %v: %v reported the result: %v", restarted, other, err)
			}
		}
		wrong := r
		wrong.Tool = "other"
		if _, err := g.Turn(ann, "").Observe(t.Context(), wrong); !errors.Is(err, gate.ErrUnmatched) {
			t.Errorf("restarted %v: the result of another tool: %v", restarted, err)
		}
		d, err := g.Turn(ann, "").Observe(t.Context(), r)
		if err != nil || string(d.Data) != "done" || !d.Delivered() {
			t.Errorf("restarted %v: %q %v", restarted, d.Data, err)
		}
		if _, err := g.Turn(ann, "").Observe(t.Context(), r); !errors.Is(err, gate.ErrUnmatched) {
			t.Errorf("restarted %v: a second time: %v", restarted, err)
		}
	}
	nameless := stopgate.Result{Data: []byte("done"), Observed: true}
	if _, err := open().Turn(ann, "").Observe(t.Context(), nameless); !errors.Is(err, gate.ErrUnmatched) {
		t.Errorf("a result of nothing: %v", err)
	}
}
