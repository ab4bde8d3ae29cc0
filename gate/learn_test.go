package gate_test

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// review allows "other" for the paths whose "read" has succeeded. It needs no cells for the
// results that it learns from.
type review struct{ seen []string }

func (*review) Name() string            { return "review" }
func (*review) Tools() session.Selector { return session.Select("read", "other") }
func (*review) Needs(c session.Call) []session.Key {
	if c.Tool != "other" {
		return nil
	}
	path, _ := c.Argument("path")
	return []session.Key{session.NoteKey("review", path)}
}

func (*review) Check(v session.View, c session.Call) session.Decision {
	path, ok := c.Argument("path")
	if _, noted := v.Note("review", path); c.Tool == "other" && !(ok && noted) {
		return session.Deny("not_reviewed", "")
	}
	return session.Allow()
}

func (p *review) OnResult(_ session.View, r session.Result) []session.Fact {
	path, ok := r.Call.Argument("path")
	if p.seen = append(p.seen, path); !ok {
		return nil
	}
	return []session.Fact{session.Note("review", path, "")}
}

// Proves TPS-06, TPS-25: a policy in Go is given the arguments that ran with their result, from
// the gate's own copy or, after a restart, as the surface repeats them. Arguments that are not
// those of the release are unknown.
func TestResultsHaveArguments(t *testing.T) {
	const args = `{"path":"a","n":1.0}`
	for name, c := range map[string]struct {
		restarts bool
		repeated string
		history  bool
		code     stopgate.Code
	}{
		"same process":                   {false, "", false, ""},
		"same process, others repeated":  {false, `{"path":"b"}`, false, ""},
		"restarted":                      {true, "", false, "not_reviewed"},
		"restarted, repeated":            {true, `{"n":1,"path":"a"}`, false, ""},
		"restarted, others repeated":     {true, `{"path":"b"}`, false, "not_reviewed"},
		"restarted, no JSON":             {true, `{"path":`, false, "not_reviewed"},
		"restarted, in a request's past": {true, `{"path":"a","n":1}`, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			store, policy := new(ports.Store), new(review)
			store.Memory = true
			with := []gate.Option{gate.WithStore(store), gate.WithSessionPolicies(ports.Registry(policy))}
			b := newBench(t, with...)
			out := b.expect("read", args, "")
			if c.restarts {
				b = newBench(t, with...)
			}
			r := resultOf(out, "read", "text")
			r.Args = []byte(c.repeated)
			var err error
			if c.history {
				_, err = b.g.Turn(sessionS, "").Remember(ctx, stopgate.Call{}, []gate.PastCall{{
					Call: "call_0", Tool: "read", Args: func() []byte { return r.Args }, Answered: true, Result: func() ([]byte, bool) { return r.Data, false }, Flagged: true,
				}}, gate.Memory{Learn: true})
			} else {
				_, err = b.g.Observe(ctx, r)
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(policy.seen) == 0 {
				t.Fatal("the policy was not asked")
			}
			for _, path := range policy.seen {
				if known := path == `"a"`; known != (c.code == "") || !known && path != "" {
					t.Errorf("path %q", path)
				}
			}
			b.expect("other", `{"path":"a"}`, c.code)
			b.expect("other", `{"path":"b"}`, "not_reviewed")
		})
	}
}

// Proves H5, S39: the result of a call is matched under every name of its tool, with the arguments
// that ran, by the proposal or by the id and the arguments of the call. The result of another tool
// does not use up the call.
func TestResultsUnderAnotherName(t *testing.T) {
	const file = "version = 1\n[tools.read]\nalso = [\"Read\"]\npolicy.run = \"unattended\"\n[tools.other]\nalso = [\"Other\"]\npolicy.run = \"unattended\"\n"
	for _, tools := range [][2]stopgate.ToolName{{"read", "Read"}, {"Read", "read"}, {"Read", "Read"}} {
		for _, identified := range []bool{true, false} {
			g := fileGate(t, file, gate.WithStore(mem.New()), gate.WithSessionPolicies(ports.Registry(new(review))))
			decide := func(tool stopgate.ToolName) stopgate.Outcome {
				out, err := g.Turn(sessionS, "").Decide(ctx, stopgate.Call{Tool: tool, ID: "call_0", Args: []byte(`{"path":"a"}`)})
				var denied *gate.Denied
				if err != nil && !errors.As(err, &denied) {
					t.Fatal(err)
				}
				return out
			}
			out := decide(tools[0])
			for _, forged := range []stopgate.ToolName{"Other", "Noop"} {
				if _, err := g.Observe(ctx, resultOf(out, forged, "text")); !errors.Is(err, gate.ErrUnmatched) {
					t.Errorf("%v: a result of %s: %v", tools, forged, err)
				}
			}
			r := resultOf(out, tools[1], "text")
			if !identified {
				v, _ := jsonstream.Parse(out.Args, jsonstream.Options{})
				sum := jsonstream.HashCanonical(v)
				r.Proposal, r.ArgsHash = "", hex.EncodeToString(sum[:])
			}
			if _, err := g.Observe(ctx, r); err != nil {
				t.Errorf("%v, identified %t: %v", tools, identified, err)
			}
			if out := decide("Other"); !out.Allowed() {
				t.Errorf("%v, identified %t: the policy did not learn the arguments: %v", tools, identified, out.Verdict.Code)
			}
			if _, err := g.Observe(ctx, r); !errors.Is(err, gate.ErrUnmatched) {
				t.Errorf("%v, identified %t: a second time: %v", tools, identified, err)
			}
		}
	}
}
