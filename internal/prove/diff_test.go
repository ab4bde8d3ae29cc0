package prove_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// asPolicy writes rules as a policy over the schema of the reachability tests.
func asPolicy(rules []naiveRule) string {
	var b strings.Builder
	b.WriteString("version = 1\n" + reachSchema + "run = [\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "%s,\n", r)
	}
	return b.String() + "]\n"
}

// modeOf is what a list of the tiny evaluator answers at an index.
func modeOf(rules []naiveRule, i int) string {
	if i < 0 {
		return "ask"
	}
	return rules[i].mode
}

// Proves I25: held against a search through all small documents, no pair of rules
// with a changed mode is missed by a difference that calls itself complete, and equal
// policies have none.
func TestDiffIsExact(t *testing.T) {
	complete, changed := 0, 0
	for seed := range property.Cases(40, 150, 20_000) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 3))}
		used := []*shape{&shapes[g.IntN(len(shapes))], &shapes[g.IntN(len(shapes))]}
		if used[0] == used[1] {
			used = used[:1]
		}
		before := g.rules(used, g.IntN(2) == 0)
		after := slices.Clone(before)
		switch i := g.IntN(len(after)); g.IntN(4) {
		case 0:
			after = slices.Delete(after, i, i+1)
		case 1:
			after = slices.Insert(after, i, g.rules(used, false)[0])
		case 2:
			after[i].mode = pick(g, []string{"unattended", "ask", "deny"})
		default:
			after = g.rules(used, false)
		}
		d, old, new := diff.Files(policy.Source{Name: "old.toml", Text: []byte(asPolicy(before))},
			policy.Source{Name: "new.toml", Text: []byte(asPolicy(after))}, policy.Options{}, nil)
		if d == nil {
			if hasOnly(old, diag.NeverHolds) && hasOnly(new, diag.NeverHolds) {
				continue // a condition that contradicts itself
			}
			t.Fatal(old, new)
		}
		if d.Complete {
			complete++
		}
		changed += len(d.Changes)
		touches := func(p *diff.RulePlace, index int) bool { return p != nil && p.Index == index }
		found := func(i, j int) bool { // an edit of what decides is listed, with these modes
			return slices.ContainsFunc(d.Changes, func(c diff.Change) bool {
				e := d.Edits[c.Edit]
				return c.From.String() == modeOf(before, i) && c.To.String() == modeOf(after, j) && (touches(e.Old, i) || touches(e.New, j))
			})
		}
		eachSmallDocument(slices.Concat(before, after), used, 2, func(doc map[string]leaves) {
			i, j := firstMatch(before, doc), firstMatch(after, doc)
			if d.Complete && modeOf(before, i) != modeOf(after, j) && !found(i, j) {
				t.Fatalf("seed %d: rules %d and %d differ on %v\nold\n%snew\n%s%v", seed, i, j, doc, show(before), show(after), d)
			}
		})
	}
	if complete == 0 || changed == 0 {
		t.Error("nothing was compared")
	}
	t.Logf("%d complete, %d changes", complete, changed)
}

func hasOnly(list diag.List, code diag.Code) bool {
	return !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Severity == diag.Error && d.Code != code })
}
