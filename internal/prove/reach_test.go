package prove_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// reported returns the indexes of the rules that check reports with a code.
func reported(t *testing.T, rules []naiveRule, code diag.Code) []bool {
	t.Helper()
	var text strings.Builder
	text.WriteString("version = 1\n" + reachSchema + "run = [\n")
	first := strings.Count(text.String(), "\n") + 1
	for _, r := range rules {
		fmt.Fprintf(&text, "%s,\n", r)
	}
	text.WriteString("]\n")
	found := make([]bool, len(rules))
	file, list := parser.Parse(kinds.Table(), "reach.toml", []byte(text.String()))
	if file != nil {
		list = append(list, prove.Check(file, policy.Options{})...)
	}
	for _, d := range list {
		if d.Severity == diag.Error && d.Code != diag.Unreachable && d.Code != diag.NeverHolds {
			t.Fatalf("the generator wrote a policy with a mistake: %v\n%s", d, text.String())
		}
		if d.Code == code || d.Code == diag.NeverHolds && code == diag.Unreachable {
			found[d.Start.Line-first] = true
		}
	}
	return found
}

// Proves D25-38, I25: on single conditions over sets, ranges and prefixes the
// analysis is exact. A rule is reported exactly if no document reaches it; a rule
// that only mixed lists reach is warned about, and one does reach it.
func TestReachabilityIsExact(t *testing.T) {
	for seed := range property.Cases(400, 2000, 50_000) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 1))}
		used := []*shape{&shapes[g.IntN(len(shapes))]}
		longest := 3
		if g.IntN(3) == 0 {
			other := &shapes[g.IntN(len(shapes))]
			if other != used[0] {
				used, longest = append(used, other), 2
			}
		}
		rules := g.rules(used, false)
		dead, mixed := reported(t, rules, diag.Unreachable), reported(t, rules, diag.ShadowedMostly)
		reached := witnesses(rules, used, longest)
		last := len(rules) - 1
		for i := range rules {
			switch {
			case dead[i] && reached[i]:
				t.Fatalf("seed %d: rule %d is reported and can be reached\n%s", seed, i+1, show(rules))
			case needed(rules[:i]) > longest:
				// The search cannot write a list that gets past every rule above.
			case mixed[i] && !reached[i]:
				t.Fatalf("seed %d: rule %d is reported as reached by mixed lists, and nothing reaches it\n%s", seed, i+1, show(rules))
			case !dead[i] && !reached[i] && !(i == last && len(rules[i].conditions) == 0):
				t.Fatalf("seed %d: rule %d cannot be reached and is not reported\n%s", seed, i+1, show(rules))
			}
		}
	}
}

// needed is how many elements a list may need to get past rules that want all of
// them, and to satisfy one more.
func needed(above []naiveRule) int {
	n := 1
	for _, r := range above {
		for _, c := range r.conditions {
			if c.at.list && (c.match == "all" || c.match == "" && r.permissive()) {
				n++
			}
		}
	}
	return n
}

// listed is how many elements of lists the conditions of a rule may ask for.
func listed(r naiveRule) int {
	n := 0
	for _, c := range r.conditions {
		if c.at.list {
			n++
		}
	}
	return n
}

// Proves D25-38, K28, I25: the analysis is exact on compound rules too, as far as the
// search can write lists that get past every rule above.
func TestReachabilityOfCompounds(t *testing.T) {
	found, undecided := 0, 0
	for seed := range property.Cases(400, 2000, 50_000) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 2))}
		used := []*shape{&shapes[g.IntN(len(shapes))], &shapes[g.IntN(len(shapes))]}
		if used[0] == used[1] {
			used = used[:1]
		}
		rules := g.rules(used, true)
		dead, open := reported(t, rules, diag.Unreachable), reported(t, rules, diag.NotProven)
		reached := witnesses(rules, used, 2)
		last := len(rules) - 1
		for i := range rules {
			switch {
			case dead[i] && reached[i]:
				t.Fatalf("seed %d: rule %d is reported and can be reached\n%s", seed, i+1, show(rules))
			case open[i]:
				undecided++ // the note speaks for all rules of the list
				t.Logf("seed %d: rule %d\n%s", seed, i+1, show(rules))
			case undecided > 0 && slices.Contains(open, true) || needed(rules[:i])+listed(rules[i]) > 3:
			case !dead[i] && !reached[i] && !(i == last && len(rules[i].conditions) == 0):
				t.Fatalf("seed %d: rule %d cannot be reached and is not reported\n%s", seed, i+1, show(rules))
			}
			if dead[i] && len(rules[i].conditions) > 1 {
				found++
			}
		}
	}
	if found == 0 {
		t.Error("no unreachable compound was generated")
	}
	if undecided > 0 {
		t.Errorf("%d times the analysis did not decide", undecided)
	}
}

// Proves D25-38, I25: the evaluator agrees with every witness of the analysis: the
// call is decided by exactly that rule.
func TestWitnessesReachTheirRules(t *testing.T) {
	confirmed := 0
	for seed := range property.Cases(100, 400, 20_000) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 4))}
		used := []*shape{&shapes[g.IntN(len(shapes))], &shapes[g.IntN(len(shapes))]}
		text := asPolicy(g.rules(used, g.IntN(2) == 0))
		program, mistakes := prove.Compile([]policy.Source{{Name: "reach.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
		if program == nil {
			continue // some rule is unreachable: the file is refused
		}
		p, _ := parser.Parse(kinds.Table(), "reach.toml", []byte(text))
		for _, r := range prove.Reach(p, policy.Options{}) {
			if r.Answer != regular.Yes || r.Witness.Args == nil {
				continue
			}
			e := program.Bind(r.Witness).Evaluate()
			e.Feed(r.Witness.Args)
			v := e.Close(stopgate.Ended)
			switch {
			case v.Rule != nil && v.Rule.Index != r.Index, v.Rule == nil && !slices.Contains(v.Candidates, r.Index):
				t.Fatalf("seed %d: %s does not reach rule %d but %v %v\n%s%v", seed, r.Witness.Args, r.Index, v.Rule, v.Candidates, text, mistakes)
			}
			confirmed++
		}
	}
	if confirmed == 0 {
		t.Error("nothing was confirmed")
	}
	t.Logf("%d witnesses confirmed", confirmed)
}
