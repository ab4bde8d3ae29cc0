package prove_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/prove/diff"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// originSources are the sources of generated rules.
var originSources = []flow.Source{"user", "a", "b"}

// origins is a session in which the source at i of originSources has a value: 0 nowhere, 1
// possibly, 2 certainly.
type origins map[string][3]int

func (o origins) Find(value []byte, q *flow.Query) (f flow.Finding) {
	for i, name := range originSources {
		if at := o[string(value)][i]; slices.Contains(q.Sources, name) {
			f.Possible, f.Certain = f.Possible || at > 0, f.Certain || at == 2
		}
	}
	if f.Certain {
		f.Texts = []int{1}
	}
	return f
}

func (o origins) Carries(value []byte, q *flow.Query) flow.Finding { return o.Find(value, q) }

func (o origins) Origin([]byte, flow.Kind) flow.Ref { return flow.Ref{} }

func (o origins) Said(string) bool { return true }

func (o origins) Read(*flow.Query, func(string) bool, bool) bool { return false }

// originRule is a generated rule on the sources of two parameters.
type originRule struct {
	conditions []originCondition
	mode       stopgate.Mode
}

type originCondition struct {
	value, kind string
	sources     []int // of originSources
}

// originRules generates rules.
func originRules(r *rand.Rand) (rules []originRule) {
	for range 2 + r.IntN(4) {
		rule := originRule{mode: []stopgate.Mode{stopgate.Unattended, stopgate.Ask, stopgate.Deny}[r.IntN(3)]}
		for range 1 + r.IntN(3)/2 {
			c := originCondition{value: []string{"p", "q"}[r.IntN(2)], kind: []string{"from", "not_from", "from"}[r.IntN(3)]}
			for i := range originSources {
				if r.IntN(2) == 0 {
					c.sources = append(c.sources, i)
				}
			}
			if len(c.sources) == 0 {
				c.sources = []int{1}
			}
			rule.conditions = append(rule.conditions, c)
		}
		rules = append(rules, rule)
	}
	return rules
}

// first returns the first rule that holds where the values have these origins, -1 if none does.
func first(rules []originRule, o origins) int {
	return slices.IndexFunc(rules, func(r originRule) bool {
		return !slices.ContainsFunc(r.conditions, func(c originCondition) bool {
			least := 1 // suspicion
			if (r.mode == stopgate.Unattended) == (c.kind == "from") {
				least = 2
			}
			is := slices.ContainsFunc(c.sources, func(i int) bool { return o[c.value+"value"][i] >= least })
			return is != (c.kind == "from")
		})
	})
}

func originPolicy(rules []originRule) string {
	var out strings.Builder
	for _, r := range rules {
		var all []string
		for _, c := range r.conditions {
			var names []string
			for _, i := range c.sources {
				names = append(names, strconv.Quote(string(originSources[i])))
			}
			all = append(all, fmt.Sprintf("{ arg = \"/%s\", %s = [%s] }", c.value, c.kind, strings.Join(names, ", ")))
		}
		fmt.Fprintf(&out, "  { all = [%s], mode = %q },\n", strings.Join(all, ", "), r.mode)
	}
	return "version = 1\n[sources.a]\ntool = \"r\"\n[sources.b]\ntool = \"r\"\n[tools.r]\n[tools.t]\nparameters.p = { type = \"string\", required = true }\nparameters.q = { type = \"string\", required = true }\npolicy.run = [\n" + out.String() + "]\n"
}

// eachSession yields every session in which the values p and q have origins.
func eachSession(yield func(origins) bool) {
	const all = 3 * 3 * 3
	of := func(n int) [3]int { return [3]int{n % 3, n / 3 % 3, n / 9} }
	for i := range all * all {
		if !yield(origins{"pvalue": of(i % all), "qvalue": of(i / all)}) {
			return
		}
	}
}

// modeWith is the mode of a list of rules.
func modeWith(rules []originRule, o origins) stopgate.Mode {
	if i := first(rules, o); i >= 0 {
		return rules[i].mode
	}
	return stopgate.Ask
}

// decides returns the verdict on the values p and q.
func decides(p *policy.Program, texts flow.View) stopgate.Verdict {
	e := p.Bind(stopgate.Call{Tool: "t"}).EvaluateWith(texts)
	e.Feed([]byte(`{"p":"pvalue","q":"qvalue"}`))
	return e.Close(stopgate.Ended)
}

// Proves I25, D25-38: rules on the sources of values are reported as unreachable exactly if no
// origin of the values reaches them.
func TestUnreachableRulesOnSources(t *testing.T) {
	dead := 0
	for seed := range property.Cases(20, 60, 10_000) {
		rules := originRules(rand.New(rand.NewPCG(uint64(seed), 19)))
		text := originPolicy(rules)
		file, _ := parser.Parse(kinds.Table(), "origin.toml", []byte(text))
		reached := make(map[int]bool)
		eachSession(func(o origins) bool {
			reached[first(rules, o)] = true
			return true
		})
		for _, r := range prove.Reach(file, policy.Options{}) {
			switch {
			case r.Answer == regular.NotProven:
				t.Fatalf("seed %d: rule %d was not decided\n%s", seed, r.Index, text)
			case (r.Answer == regular.Yes) != reached[r.Index]:
				t.Fatalf("seed %d: rule %d: %v, but reached: %t\n%s", seed, r.Index, r.Answer, reached[r.Index], text)
			case r.Answer == regular.No:
				dead++
			}
		}
	}
	if dead == 0 {
		t.Error("no rule was unreachable")
	}
}

// Proves I25: the differences of rules on sources are complete, and have a witness in each direction.
func TestDifferencesOfRulesOnSources(t *testing.T) {
	differ := 0
	for seed := range property.Cases(15, 40, 5_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 20))
		var rules [2][]originRule
		var texts [2]string
		var programs [2]*policy.Program
		for i := range texts {
			rules[i] = originRules(r)
			texts[i] = originPolicy(rules[i])
			programs[i], _ = policy.Compile([]policy.Source{{Name: "origin.toml", Text: []byte(texts[i]), Trusted: true}}, policy.Options{})
		}
		want := make(map[diff.Direction]bool)
		eachSession(func(o origins) bool {
			was, is := decides(programs[0], o).Mode, decides(programs[1], o).Mode
			switch {
			case was != modeWith(rules[0], o) || is != modeWith(rules[1], o):
				t.Fatalf("seed %d: %v: %v and %v\n%s\n%s", seed, o, was, is, texts[0], texts[1])
			case was == is:
			case stopgate.Strictest(was, is) == was:
				want[diff.Loosened] = true
			default:
				want[diff.Tightened] = true
			}
			return true
		})
		d, a, b := diff.Files(policy.Source{Name: "old.toml", Text: []byte(texts[0])}, policy.Source{Name: "new.toml", Text: []byte(texts[1])}, policy.Options{}, nil)
		if d == nil {
			continue // an unreachable rule
		}
		got := make(map[diff.Direction]bool)
		for _, c := range d.Changes {
			got[c.Direction] = true
			if len(c.Supposed) == 0 {
				t.Errorf("seed %d: no sentence on the sources of %s", seed, c.Witness.Args)
			}
		}
		if !d.Complete || len(d.Open) > 0 || len(got) != len(want) || len(got) > 0 && (got[diff.Loosened] != want[diff.Loosened] || got[diff.Tightened] != want[diff.Tightened]) {
			t.Fatalf("seed %d: %v, want %v (complete %t, open %v) %v %v\n%s\n%s", seed, got, want, d.Complete, d.Open, a, b, texts[0], texts[1])
		}
		differ += len(got)
	}
	if differ == 0 {
		t.Error("no pair differed")
	}
}
