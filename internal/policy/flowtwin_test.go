package policy_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/gen"
	"github.com/stopgate/stopgate/internal/testkit/naive"
	"github.com/stopgate/stopgate/internal/testkit/naiveflow"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
)

// eachFlow draws policies with sources and sessions. check returns a description of a failure, "" for
// none.
func eachFlow(t *testing.T, cases int, o gen.FlowOptions, check func(c *gen.FlowCase, p *policy.Program, r *rand.Rand) string) {
	seed := uint64(1)
	if s := os.Getenv("STOPGATE_SEED"); s == "random" {
		seed = rand.Uint64()
	} else if s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	refused := 0
	for i := range cases {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		c := gen.DrawFlow(r, o)
		p, list := policy.Compile([]policy.Source{{Name: "file0.toml", Text: []byte(c.Text), Trusted: true}}, policy.Options{})
		if p == nil && strings.Contains(fmt.Sprint(list), "error SG0428: ") {
			refused++ // names from complete texts
			continue
		}
		if p == nil {
			t.Fatalf("case %d: %v\n%s", i, list, c.Text)
		}
		if wrong := check(c, p, r); wrong != "" {
			t.Fatalf("case %d of seed %d\n%s%s\n%s", i, seed, c.Text, session(c.Events, c.Knows), wrong)
		}
	}
	if refused > cases/10 {
		t.Errorf("%d of %d policies are refused", refused, cases)
	}
}

func session(events []naiveflow.Event, knows flow.Knowledge) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# knows %03b\n", knows)
	for _, e := range events {
		fmt.Fprintf(&b, "# %s %s %s %q", e.Kind, e.Tool, e.Args, e.Text)
		if e.Kind == "result" {
			fmt.Fprintf(&b, " %s released %t failed %t opaque %t", e.Call, e.Released, e.Failed, e.Opaque)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// viewOf gives the events of a session to the reader of a policy. Without a reader no rule needs them.
func viewOf(p *policy.Program, events []naiveflow.Event, knows flow.Knowledge) flow.View {
	r := p.Reader()
	if r == nil {
		return nil
	}
	ix := r.NewIndex(bytes.Repeat([]byte{7}, 32))
	r.Knows(ix, knows)
	for _, e := range events {
		switch e.Kind {
		case "call":
			r.Call(ix, stopgate.ToolName(e.Tool), []byte(e.Args))
		case "result":
			r.Result(ix, &flow.Result{
				Tool: stopgate.ToolName(e.Tool), Call: stopgate.CallID(e.Call), Args: []byte(e.Args), Data: []byte(e.Text),
				Released: e.Released, Failed: e.Failed, Opaque: e.Opaque,
			})
		default:
			source := map[string]flow.Source{"user": flow.User, "answer": flow.User, "system": flow.System, "other": flow.Tool}[e.Kind]
			r.Message(ix, &flow.Message{Source: source, Text: []byte(e.Text), Answer: e.Kind == "answer"})
		}
	}
	return ix.View()
}

// judge is the rules of the tool in a session.
type judge struct {
	gate.Rules
	texts flow.View
}

func judgeOf(p *policy.Program, texts flow.View) judge {
	return judge{p.RulesFor(stopgate.Call{Tool: gen.Tool}, gate.Circumstances{Situation: p.SituationOf(stopgate.Groups{}, jsonstream.Value{}, texts)}), texts}
}

// trace returns the verdicts on a call, as they become known.
func (j judge) trace(args string, pieces ...int) []stopgate.Verdict {
	e := j.Evaluate(j.texts)
	defer e.Release()
	pieces = append(pieces, len(args)+1)
	for i := 0; len(args) > 0; i++ {
		n := min(pieces[min(i, len(pieces)-1)], len(args))
		e.Feed([]byte(args[:n]))
		args = args[n:]
	}
	e.Close(stopgate.Ended)
	return slices.Clone(e.(interface{ Trace() []stopgate.Verdict }).Trace())
}

func spell(all []stopgate.Verdict) string {
	var lines []string
	for _, v := range all {
		rule := "-"
		if v.Rule != nil && v.Layer != stopgate.LayerSession {
			rule = fmt.Sprint(v.Rule.Index)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s rule %s candidates %v at %d", v.Layer, v.Mode, v.Code, rule, v.Candidates, v.DecidedAt))
	}
	return strings.Join(lines, "\n")
}

func spellNaive(all []naive.Verdict) string {
	var lines []string
	for _, v := range all {
		rule := "-"
		if v.Rule >= 0 && v.Layer != "session" {
			n := v.Rule
			if v.Layer == "guard" {
				n = v.Guard
			}
			rule = fmt.Sprint(n)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s rule %s candidates %v at %d", v.Layer, v.Mode, v.Code, rule, v.Candidates, v.At))
	}
	return strings.Join(lines, "\n")
}

// opinions returns what the naive evaluator permits for a policy in the session: several answers where
// the definition leaves one open. complete is false if it permits more.
func opinions(c *gen.FlowCase, policy *naive.Policy, args string, known bool, answer func([]naive.Verdict) string) (all []string, complete bool) {
	var g naiveflow.Guesses
	for {
		more, open := g.Next()
		if !more {
			return all, !open
		}
		n := *policy
		if known {
			n.Texts = (&naiveflow.View{Policy: c.Texts, Events: c.Events, Knows: c.Knows, Guess: g.Guess}).Begin()
		}
		if s := answer(n.Trace(args)); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
}

// The engine decides as the naive evaluator, at the same bytes, about random policies in random
// sessions.
func TestFlowAgreesWithTheNaiveTwin(t *testing.T) {
	counts := map[string]int{}
	eachFlow(t, property.Cases(100, 300, 30_000), gen.FlowOptions{}, func(c *gen.FlowCase, p *policy.Program, r *rand.Rand) string {
		texts := viewOf(p, c.Events, c.Knows)
		known, none := judgeOf(p, texts), judgeOf(p, nil)
		for range 6 {
			args := c.Args(r)
			got := known.trace(args)
			want, complete := opinions(c, c.Naive, args, texts != nil, spellNaive)
			counts["calls"]++
			counts["ends "+got[len(got)-1].Mode.String()]++
			counts["code "+string(got[len(got)-1].Code)]++
			if len(want) == 1 && complete {
				counts["one opinion"]++
			}
			if !complete {
				counts["open"]++
			} else if !slices.Contains(want, spell(got)) {
				return fmt.Sprintf("arguments %s\n got:\n%s\nwant:\n%s", args, spell(got), strings.Join(want, "\nor\n"))
			}
			got = none.trace(args)
			if want, _ := opinions(c, c.Naive, args, false, spellNaive); want[0] != spell(got) {
				return fmt.Sprintf("arguments %s without texts\n got:\n%s\nwant:\n%s", args, spell(got), want[0])
			}
		}
		return ""
	})
	t.Log(counts)
	for _, name := range []string{"ends unattended", "ends ask", "ends skip", "ends deny", "code origin_unknown", "code untrusted_text"} {
		if counts["calls"] > 1_500 && counts[name] < counts["calls"]/50 {
			t.Errorf("the generator has gone stale: %d of %d calls are %s", counts[name], counts["calls"], name)
		}
	}
	if counts["one opinion"] < counts["calls"]*8/10 {
		t.Errorf("the naive evaluator is sure of %d of %d calls", counts["one opinion"], counts["calls"])
	}
}
