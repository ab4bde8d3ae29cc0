package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

func flowCases() int { return property.Cases(100, 250, 50_000) }

// Verdicts on origins do not depend on the chunks of the arguments.
func TestFlowIsTheSameInChunks(t *testing.T) {
	eachFlow(t, flowCases(), gen.FlowOptions{}, func(c *gen.FlowCase, p *policy.Program, r *rand.Rand) string {
		known := judgeOf(p, viewOf(p, c.Events, c.Knows))
		for range 4 {
			args := c.Args(r)
			whole := spell(known.trace(args))
			for _, pieces := range [][]int{slices.Repeat([]int{1}, len(args)), slices.Repeat([]int{1 + r.IntN(7)}, len(args)), {r.IntN(len(args)) + 1, 1 + r.IntN(5)}} {
				if got := spell(known.trace(args, pieces...)); got != whole {
					return fmt.Sprintf("arguments %s in pieces of %v:\n%s\nwhole:\n%s", args, pieces[:2], got, whole)
				}
			}
		}
		return ""
	})
}

// weaker describes a verdict that is more permissive than another one, "" for none.
func weaker(args string, before, after judge) string {
	was, is := before.trace(args), after.trace(args)
	a, b := was[len(was)-1].Mode, is[len(is)-1].Mode
	if stopgate.Strictest(a, b) == b || a.Terminal() && b.Terminal() { // the first byte decides which of the two it is
		return ""
	}
	return fmt.Sprintf("arguments %s: before\n%s\nafter\n%s", args, spell(was), spell(is))
}

// A text that anybody may have written never makes a verdict more permissive, wherever it is in the
// session, if permits rely on trusted sources.
func TestUntrustedTextsNeverPermit(t *testing.T) {
	eachFlow(t, flowCases(), gen.FlowOptions{Sorted: true}, func(c *gen.FlowCase, p *policy.Program, r *rand.Rand) string {
		before := judgeOf(p, viewOf(p, c.Events, c.Knows))
		for range 3 {
			e := c.Result(r, "")[0]
			switch r.IntN(4) {
			case 0:
				e = naiveflow.Event{Kind: "other", Text: c.Sentence(r)}
			case 1:
				e.Text = c.Events[r.IntN(len(c.Events))].Text // words of another author
			case 2:
				e = last(c.Result(r, "page"))
				e.Released = false
			}
			at := r.IntN(len(c.Events) + 1)
			after := judgeOf(p, viewOf(p, slices.Insert(slices.Clone(c.Events), at, e), c.Knows))
			for range 4 {
				if wrong := weaker(c.Args(r), before, after); wrong != "" {
					return fmt.Sprintf("with %s at %d: %s", session([]naiveflow.Event{e}, c.Knows), at, wrong)
				}
			}
		}
		return ""
	})
}

func last[T any](list []T) T { return list[len(list)-1] }

// A trusted text never makes a restriction on what is from some sources weaker than it was.
func TestTrustedTextsNeverWeakenRestrictions(t *testing.T) {
	eachFlow(t, flowCases(), gen.FlowOptions{Restricts: true}, func(c *gen.FlowCase, p *policy.Program, r *rand.Rand) string {
		before := judgeOf(p, viewOf(p, c.Events, c.Knows))
		for range 3 {
			more := []naiveflow.Event{{Kind: pick(r, "user", "system", "answer"), Text: c.Sentence(r)}}
			if r.IntN(2) == 0 {
				more = c.Result(r, pick(r, "find_contacts", "inbox", "accounts", "page"))
			}
			after := judgeOf(p, viewOf(p, append(slices.Clone(c.Events), more...), c.Knows))
			for range 4 {
				if wrong := weaker(c.Args(r), before, after); wrong != "" {
					return fmt.Sprintf("with %s: %s", session(more, c.Knows), wrong)
				}
			}
		}
		return ""
	})
}

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

// What a surface does not report is not empty: without its texts, without what the person wrote and
// without results verdicts are at least as strict as with them.
func TestUnknownTextsNeverPermit(t *testing.T) {
	doubts := 0
	eachFlow(t, flowCases(), gen.FlowOptions{Sorted: true}, func(c *gen.FlowCase, p *policy.Program, r *rand.Rand) string {
		known := judgeOf(p, viewOf(p, c.Events, c.Knows))
		missing := flow.Knowledge(r.IntN(8))
		less := judgeOf(p, viewOf(p, c.Events, c.Knows&^missing))
		for range 4 {
			args := c.Args(r)
			for name, other := range map[string]judge{"no texts": judgeOf(p, nil), fmt.Sprintf("without %03b", missing): less} {
				if wrong := weaker(args, known, other); wrong != "" {
					return name + ": " + wrong
				}
				if v := last(other.trace(args)); v.Code == stopgate.CodeOriginUnknown {
					doubts++
				}
			}
		}
		return ""
	})
	if doubts == 0 {
		t.Error("no verdict has the code of a doubt")
	}
}

// Rules about results agree with the naive evaluator, too.
func TestFlowOfResultsAgreesWithTheNaiveTwin(t *testing.T) {
	judged := 0
	eachFlow(t, property.Cases(100, 300, 20_000), gen.FlowOptions{}, func(c *gen.FlowCase, p *policy.Program, r *rand.Rand) string {
		if c.Results == nil {
			return ""
		}
		texts := viewOf(p, c.Events, c.Knows)
		rules := p.RulesFor(stopgate.Call{Tool: gen.Tool}, gate.Circumstances{Situation: p.SituationOf(stopgate.Groups{}, jsonstream.Value{}, texts)})
		for range 6 {
			args := c.Args(r)
			var doc jsonstream.Document
			if err := doc.Scan([]byte(args), jsonstream.Options{}); err != nil {
				return err.Error()
			}
			got := rules.ResultMode(&doc, texts).Mode.String()
			want, complete := opinions(c, c.OfResults(), args, texts != nil, func(v []naive.Verdict) string { return last(v).Mode })
			judged++
			if complete && !slices.Contains(want, got) {
				return fmt.Sprintf("arguments %s: the result is %s, want %s", args, got, want)
			}
		}
		return ""
	})
	if judged == 0 {
		t.Error("no results were judged")
	}
}
