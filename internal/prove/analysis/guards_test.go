package analysis_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stopgate/stopgate/internal/prove/analysis"
)

// Proves I25, K0a: with lists and guards, every pair of deciders between which some
// integer changes its mode is found, with such an integer, and no other.
func TestCompareGuardsAgainstAllIntegers(t *testing.T) {
	const most = 9
	domain := analysis.Domain{Number: true, Whole: true, Intervals: between(0, most).Set.Intervals}
	list := analysis.List{Variables: []analysis.Variable{{AtMost: -1, Domain: domain}}}
	guarded := 0
	for seed := range rounds(600, 30_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 13))
		rules := func(n int) (list []analysis.Rule, modes []int) {
			for range n {
				low := r.IntN(most + 1)
				list = append(list, analysis.Rule{Conditions: []analysis.Condition{between(low, low+r.IntN(6))}})
				modes = append(modes, r.IntN(4))
			}
			return list, modes
		}
		draw := func() *analysis.Policy {
			p := &analysis.Policy{End: r.IntN(4)}
			p.Rules, p.Modes = rules(r.IntN(4))
			p.Guards, p.GuardModes = rules(r.IntN(3))
			return p
		}
		before, after := draw(), draw()
		decides := func(p *analysis.Policy, n int) analysis.Decider {
			d := analysis.Decider{Index: firstOf(p.Rules, n), Mode: p.End}
			if d.Index >= 0 {
				d.Mode = p.Modes[d.Index]
			}
			limit := d.Mode
			for g := range p.Guards {
				// The strictest guard that is at least as strict as the list, the first of equals.
				if m := p.GuardModes[g]; firstOf(p.Guards[g:g+1], n) == 0 && (m < d.Mode || m == limit && !d.Guard) {
					d = analysis.Decider{Guard: true, Index: g, Mode: m}
				}
			}
			return d
		}
		want := make(map[[2]analysis.Decider]bool)
		for n := range most + 1 {
			from, to := decides(before, n), decides(after, n)
			if from.Mode != to.Mode {
				want[[2]analysis.Decider{from, to}] = true
			}
		}
		got := analysis.Compare(list, before, after, analysis.Budget{}, nil)
		if !got.Complete || len(got.Cells) != len(want) {
			t.Fatalf("seed %d: %d cells, complete %v, want %d", seed, len(got.Cells), got.Complete, len(want))
		}
		for _, c := range got.Cells {
			if c.Old.Guard || c.New.Guard {
				guarded++
			}
			if !want[[2]analysis.Decider{c.Old, c.New}] {
				t.Fatalf("seed %d: %+v and %+v have no integer between them that changes", seed, c.Old, c.New)
			}
		}
	}
	if guarded == 0 {
		t.Error("no guard decided")
	}
}
