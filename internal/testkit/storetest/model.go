package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/session"
)

// The cells of a store are what its log adds up to: a model keeps the log in a
// slice and folds it with session.Apply whenever it is asked (I19).
func fold(t *testing.T, s gate.Store) {
	runs := 0
	property.Check(t, func(rt *rapid.T) {
		runs++
		model := map[session.Owner][]session.Fact{}
		heads := map[stopgate.Principal]uint64{}
		calls := map[session.Owner][]session.Fact{}  // released
		who := func(o session.Owner) session.Owner { // every run has principals of its own
			return session.Owner{Principal: stopgate.Principal(fmt.Sprint(runs, o.Principal)), Session: o.Session}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			o := who(rapid.SampledFrom(owners[:4]).Draw(rt, "owner"))
			facts, keys := step(rt, calls, o)
			err := s.Update(ctx, o, keys, func(session.State) (gate.Change, error) { return gate.Change{Facts: facts}, nil })
			if err != nil {
				if errors.Is(err, session.ErrUnknown) {
					continue // a call ends once
				}
				rt.Fatal(err)
			}
			for _, f := range facts {
				heads[o.Principal]++
				f.Seq = heads[o.Principal]
				model[o] = append(model[o], f)
				if f.Kind == session.Released {
					calls[o] = append(calls[o], f)
				}
			}
		}
		for o, facts := range model {
			got, err := s.Facts(ctx, o, 0, 1000)
			if err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(facts, got, inside); diff != "" {
				rt.Fatal(diff)
			}
			compare(rt, s, o, model)
		}
	})
}

// step draws facts for one update and the keys that it needs.
func step(rt *rapid.T, calls map[session.Owner][]session.Fact, o session.Owner) (facts []session.Fact, keys []session.Key) {
	cells := []session.Key{own, shared, {Space: session.SpaceTool, Name: "t"}}
	for i := range rapid.IntRange(1, 3).Draw(rt, "facts") {
		at := int64(rapid.IntRange(1, 5).Draw(rt, "at"))
		var f session.Fact
		kind := rapid.SampledFrom([]session.Kind{session.Noted, session.Released, session.Succeeded, session.Failed, session.Denied, session.DataReplaced}).Draw(rt, "kind")
		if len(calls[o]) == 0 && (kind == session.Succeeded || kind == session.Failed) {
			kind = session.Noted
		}
		switch kind {
		case session.Noted:
			f = note(rapid.SampledFrom(cells).Draw(rt, "cell"), "n", at)
		case session.DataReplaced:
			f = session.Fact{Kind: kind, At: at, Text: "{}"}
		case session.Denied:
			f = session.Fact{Kind: kind, At: at, Code: stopgate.CodeRuleMatched, ArgsHash: "h"}
		case session.Released:
			f = session.Fact{Kind: kind, At: at, Tool: "t", Proposal: stopgate.ProposalID(fmt.Sprint(len(calls[o]), "-", i)), CallID: "c"}
			for _, k := range cells {
				if rapid.Bool().Draw(rt, "mark") {
					f.Marks = append(f.Marks, session.Mark{Key: k, Permits: rapid.Bool().Draw(rt, "permits"), Breaks: rapid.Bool().Draw(rt, "breaks"), Opens: true, Counts: true, Step: 2})
				}
			}
		default:
			call := rapid.SampledFrom(calls[o]).Draw(rt, "call")
			f = session.Fact{Kind: kind, At: at, Proposal: call.Proposal}
			keys = append(keys, call.Keys()...)
		}
		facts = append(facts, f)
		keys = append(keys, f.Keys()...)
	}
	return facts, keys
}

// compare folds the model's logs of a principal, in the order of their positions,
// and compares every cell that anybody touched.
func compare(rt *rapid.T, s gate.Store, o session.Owner, model map[session.Owner][]session.Fact) {
	var all []session.Fact
	mine := map[uint64]bool{}
	for other, facts := range model {
		if other.Principal == o.Principal {
			all = append(all, facts...)
		}
		if other == o {
			for _, f := range facts {
				mine[f.Seq] = true
			}
		}
	}
	slices.SortFunc(all, func(a, b session.Fact) int { return int(a.Seq) - int(b.Seq) })
	keys := keysOf(all)
	var own, others []session.Entry // own cells of o, and what of the rest is shared
	for _, k := range keys {
		own = append(own, session.Entry{Key: k, Cell: new(session.Cell)})
	}
	others = own
	state, rest := session.NewState(0, own), session.NewState(0, others)
	for _, f := range all {
		var err error
		if mine[f.Seq] {
			state, err = session.Apply(state, f)
			rest = sync2(rest, state)
		} else {
			rest, err = session.Apply(rest, f)
			state = sync2(state, rest)
		}
		if err != nil {
			rt.Fatalf("the model: %v", err)
		}
	}
	got, err := s.Load(ctx, o, keys)
	if err != nil {
		rt.Fatal(err)
	}
	if got.Head != state.Head {
		rt.Fatalf("head %d, want %d", got.Head, state.Head)
	}
	for _, k := range keys {
		g, _ := got.Cell(k)
		w, _ := state.Cell(k)
		if diff := cmp.Diff(*w, *g, inside); diff != "" {
			rt.Fatalf("cell %s: %s", k.Text(), diff)
		}
	}
}

// sync2 brings the head and the shared cells of one state into another.
func sync2(to, from session.State) session.State {
	cells := slices.Clone(to.Entries())
	for i, e := range cells {
		if e.Key.Scope == session.OfPrincipal {
			c, _ := from.Cell(e.Key)
			cells[i].Cell = c
		}
	}
	return session.NewState(from.Head, cells)
}
