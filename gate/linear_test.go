package gate_test

import (
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// history is the naive model of a session: a list of facts, read from the start.
type history []session.Fact

// says is the model's verdict on a call when the first n facts were there.
func (h history) says(n uint64, tool stopgate.ToolName, limit int) bool {
	used, tested := 0, false
	of := map[stopgate.ProposalID]stopgate.ToolName{}
	for _, f := range h[:n] {
		switch f.Kind {
		case session.Released:
			of[f.Proposal] = f.Tool
			if f.Tool == "mail" {
				used++
			}
		case session.Failed, session.Withdrawn:
			if of[f.Proposal] == "mail" {
				used--
			}
		case session.Succeeded:
			tested = tested || of[f.Proposal] == "test"
		}
	}
	switch tool {
	case "mail":
		return used < limit
	case "deploy":
		return tested
	}
	return true
}

// Proves I19, Q12, TPS-36: every concurrent history of calls, results and forged
// results is equal to a serial one. The witness is in the rows: each says at which
// position of the log it was decided, and the naive model agrees there.
func TestLinearizable(t *testing.T) {
	defer goleak.VerifyNone(t)
	property.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 4).Draw(t, "limit")
		local := rapid.Bool().Draw(t, "local")
		store, rec := &ports.Store{Memory: local}, new(ports.Recorder)
		policies := ports.Registry(policies.Limit("mail").Calls(int64(limit)), policies.Require("deploy").After("test"))
		policy := &gate.ScriptedPolicy{Hash: "p", Tools: map[stopgate.ToolName]gate.Script{
			"mail": says(stopgate.Unattended), "test": says(stopgate.Unattended), "deploy": says(stopgate.Unattended),
		}}
		g, err := gate.NewScripted(policy, gate.WithStore(store), gate.WithRecorder(rec), gate.WithSessionPolicies(policies),
			gate.WithLimits(gate.Limits{Store: time.Minute, Record: time.Minute}))
		if err != nil {
			t.Fatal(err)
		}
		type step struct {
			tool   stopgate.ToolName
			failed bool
			twice  bool
		}
		var lanes [][]step
		for range rapid.IntRange(2, 4).Draw(t, "lanes") {
			lanes = append(lanes, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
				return step{
					rapid.SampledFrom([]stopgate.ToolName{"mail", "mail", "test", "deploy"}).Draw(t, "tool"),
					rapid.Bool().Draw(t, "failed"), rapid.Bool().Draw(t, "twice"),
				}
			}), 1, 6).Draw(t, "lane"))
		}
		var mu sync.Mutex
		began := map[stopgate.ProposalID]uint64{} // position of the log when a call came
		var all sync.WaitGroup
		for _, lane := range lanes {
			all.Go(func() {
				for _, s := range lane {
					sofar, _ := store.Facts(ctx, session.Owner{Session: "s"}, 0, 1<<20)
					out, err := g.Decide(ctx, stopgate.Call{Tool: s.tool, Session: "s", Args: []byte(`{}`)})
					mu.Lock()
					began[out.Proposal] = uint64(len(sofar))
					mu.Unlock()
					if err != nil || !out.Allowed() {
						continue
					}
					r := stopgate.Result{Proposal: out.Proposal, Session: "s", Tool: s.tool, Failed: s.failed, Observed: true}
					g.Observe(ctx, r)
					if s.twice {
						g.Observe(ctx, r)
					}
				}
			})
		}
		all.Wait()
		facts, _ := store.Facts(ctx, session.Owner{Session: "s"}, 0, 1<<20)
		log := history(facts)
		ends := map[stopgate.ProposalID]int{}
		left := map[stopgate.ProposalID]uint64{}
		for i, f := range log {
			if f.Seq != uint64(i+1) {
				t.Fatalf("position %d holds fact %d", i+1, f.Seq)
			}
			switch f.Kind {
			case session.Released:
				left[f.Proposal] = f.Seq
			case session.Succeeded, session.Failed, session.Withdrawn:
				if ends[f.Proposal]++; ends[f.Proposal] > 1 {
					t.Fatalf("a call ended twice: %+v", f)
				}
			}
		}
		for _, row := range rec.Decisions() {
			allowed := row.Status == stopgate.StatusAllowed
			if row.Code == stopgate.CodeDenialLimit {
				continue
			}
			// A denial counts what was given back since the call came (S8): it stands where
			// it was still reserved, between the two.
			at := row.FactsAt
			for !allowed && at > began[row.ID] && log.says(at, row.Tool, limit) {
				at--
			}
			if log.says(at, row.Tool, limit) != allowed {
				t.Fatalf("%s decided %s at position %d, where the model says otherwise", row.Tool, row.Status, row.FactsAt)
			}
			if allowed && left[row.ID] != row.FactsAt+1 {
				t.Fatalf("decided at %d, released at %d", row.FactsAt, left[row.ID])
			}
		}
	})
}
