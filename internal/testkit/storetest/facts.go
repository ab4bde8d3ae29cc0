// Package storetest is the behaviour that every store of the gate has to show, as
// tests that run against any of them.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/session"
)

var ctx = context.Background()

// inside compares what the types hold. An empty list is no list.
var inside = cmp.Options{cmp.AllowUnexported(session.State{}, session.Entry{}, session.Amount{}), cmpopts.EquateEmpty()}

// Owners whose names are chosen to be taken for each other.
var owners = []session.Owner{
	{Principal: "local", Session: "s"},
	{Principal: "local", Session: "s/x"},
	{Principal: "local/s", Session: "x"},
	{Principal: "", Session: "local"},
	{Principal: "local", Session: ""},
	{Principal: "lo\x00cal", Session: "s"},
	{Principal: "lo\x00cal", Session: "s\x00"},
	{Principal: "*", Session: "ß∂\xff"},
}

// Facts runs the suite of [gate.Store] on stores that open makes, each empty.
func Facts(t *testing.T, open func(t *testing.T) gate.Store) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s gate.Store)
	}{
		{"EmptyIsZero", emptyIsZero},
		{"UpdateIsSeen", updateIsSeen},
		{"NothingOnError", nothingOnError},
		{"OwnersAreApart", ownersAreApart},
		{"PrincipalsShare", principalsShare},
		{"ManyKeys", manyKeys},
		{"Paging", paging},
		{"Listing", listing},
		{"ReserveOnce", reserveOnce},
		{"EndOfContext", endOfContext},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
	t.Run("Fold", func(t *testing.T) { fold(t, open(t)) })
}

// Add appends facts without a condition.
func Add(t testing.TB, s gate.Store, o session.Owner, facts ...session.Fact) {
	t.Helper()
	if err := s.Update(ctx, o, keysOf(facts), func(session.State) (gate.Change, error) { return gate.Change{Facts: facts}, nil }); err != nil {
		t.Fatal(err)
	}
}

func keysOf(facts []session.Fact) (keys []session.Key) {
	released := map[stopgate.ProposalID]session.Fact{}
	for _, f := range facts {
		keys = append(keys, f.Keys()...)
		if f.Kind == session.Released {
			released[f.Proposal] = f
		}
		of := released[f.Proposal]
		keys = append(keys, of.Keys()...)
	}
	return keys
}

func load(t testing.TB, s gate.Store, o session.Owner, keys ...session.Key) session.State {
	t.Helper()
	state, err := s.Load(ctx, o, keys)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func cell(t testing.TB, s gate.Store, o session.Owner, k session.Key) session.Cell {
	t.Helper()
	c, ok := load(t, s, o, k).Cell(k)
	if !ok {
		t.Fatalf("the cell %s was asked for and is not there", k.Text())
	}
	return *c
}

func logOf(t testing.TB, s gate.Store, o session.Owner) []session.Fact {
	t.Helper()
	facts, err := s.Facts(ctx, o, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// Note is a fact that changes one cell of any scope.
func note(k session.Key, text string, at int64) session.Fact {
	return session.Fact{Kind: session.Noted, At: at, Key: k, Text: text}
}

var (
	own    = session.Key{Space: session.SpaceNote, Name: "p", Value: "v"}
	shared = session.Key{Scope: session.OfPrincipal, Space: session.SpaceNote, Name: "p", Value: "v"}
)

// Nobody's session is there before anybody wrote to it, and looking makes none.
func emptyIsZero(t *testing.T, s gate.Store) {
	state := load(t, s, owners[0], own, shared, own)
	if len(state.Entries()) != 3 || state.Head != 0 || !state.Has([]session.Key{own, shared}) {
		t.Errorf("state %+v", state)
	}
	if c := cell(t, s, owners[0], own); !cmp.Equal(c, session.Cell{}, inside) {
		t.Errorf("cell %+v", c)
	}
	if facts := logOf(t, s, owners[0]); len(facts) != 0 {
		t.Errorf("facts %v", facts)
	}
	list, err := s.Sessions(ctx, "", 10)
	if err != nil || len(list) != 0 {
		t.Errorf("sessions %v, %v", list, err)
	}
}

func updateIsSeen(t *testing.T, s gate.Store) {
	o := owners[0]
	Add(t, s, o, note(own, "a", 1), note(own, "b", 2))
	Add(t, s, o, note(own, "c", 3))
	state := load(t, s, o, own)
	if c, _ := state.Cell(own); state.Head != 3 || c.Text != "c" || c.Seq != 3 || len(c.Permits) != 3 {
		t.Errorf("head %d, cell %+v", state.Head, c)
	}
	var seen []string
	for _, f := range logOf(t, s, o) {
		seen = append(seen, fmt.Sprint(f.Seq, f.Text))
	}
	if want := []string{"1a", "2b", "3c"}; !slices.Equal(seen, want) {
		t.Errorf("facts %q, want %q", seen, want)
	}
	var inside session.State
	err := s.Update(ctx, o, []session.Key{own, own}, func(st session.State) (gate.Change, error) {
		inside = st
		return gate.Change{}, nil
	})
	if c, _ := inside.Cell(own); err != nil || inside.Head != 3 || c.Text != "c" || len(inside.Entries()) != 2 {
		t.Errorf("inside: %+v, %v", inside, err)
	}
}

// Whatever stops an update leaves everything as it was.
func nothingOnError(t *testing.T, s gate.Store) {
	o := owners[0]
	Add(t, s, o, note(own, "a", 1))
	before := load(t, s, o, own, shared)
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		keys  []session.Key
		facts []session.Fact
		err   error
		want  error
	}{
		"the decision's error": {[]session.Key{session.Self, own}, []session.Fact{note(own, "b", 2)}, boom, boom},
		"a cell not loaded":    {[]session.Key{session.Self, own}, []session.Fact{note(own, "b", 2), note(shared, "b", 2)}, nil, session.ErrNotLoaded},
		"an unknown call":      {[]session.Key{session.Self, session.CallKey("x")}, []session.Fact{{Kind: session.Succeeded, Proposal: "x"}}, nil, session.ErrUnknown},
	} {
		err := s.Update(ctx, o, c.keys, func(session.State) (gate.Change, error) { return gate.Change{Facts: c.facts}, c.err })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a panic of the decision got lost")
			}
		}()
		s.Update(ctx, o, []session.Key{own}, func(session.State) (gate.Change, error) { panic("boom") })
	}()
	if after := load(t, s, o, own, shared); !cmp.Equal(after, before, inside) {
		t.Errorf("state %+v, want %+v", after, before)
	}
	if facts := logOf(t, s, o); len(facts) != 1 {
		t.Errorf("facts %v", facts)
	}
	Add(t, s, o, note(own, "c", 3)) // and it goes on
	if c := cell(t, s, o, own); c.Seq != 2 {
		t.Errorf("cell %+v", c)
	}
}

// What is told of one owner is told of no other, however their names look.
func ownersAreApart(t *testing.T, s gate.Store) {
	tricky := []session.Key{
		own, {Space: session.SpaceNote, Name: "p/v"}, {Space: session.SpaceTool, Name: "p", Value: "v"},
		{Space: session.SpaceNote, Name: "*", Value: "v"}, {Space: session.SpaceNote, Name: "p", Value: "v/\x00\xfe"},
	}
	for i, o := range owners {
		for j, k := range tricky {
			Add(t, s, o, note(k, fmt.Sprint(i, j), int64(i)))
		}
	}
	for i, o := range owners {
		for j, k := range tricky {
			if c := cell(t, s, o, k); c.Text != fmt.Sprint(i, j) || len(c.Permits) != 1 {
				t.Errorf("owner %d, key %d: %+v", i, j, c)
			}
		}
		if facts := logOf(t, s, o); len(facts) != len(tricky) {
			t.Errorf("owner %d: %d facts", i, len(facts))
		}
	}
}

// Cells of a principal are one for all its sessions, and positions too.
func principalsShare(t *testing.T, s gate.Store) {
	one, two, other := owners[0], owners[1], owners[2]
	Add(t, s, one, note(shared, "a", 1), note(own, "a", 1))
	Add(t, s, two, note(shared, "b", 2))
	for _, o := range []session.Owner{one, two} {
		if c := cell(t, s, o, shared); c.Text != "b" || len(c.Permits) != 2 || c.Seq != 3 {
			t.Errorf("%v: %+v", o, c)
		}
	}
	if c := cell(t, s, other, shared); c.Seq != 0 {
		t.Errorf("another principal: %+v", c)
	}
	if c := cell(t, s, two, own); c.Seq != 0 {
		t.Errorf("another session: %+v", c)
	}
	if facts := logOf(t, s, two); len(facts) != 1 || facts[0].Seq != 3 {
		t.Errorf("facts %v", facts)
	}
}

func manyKeys(t *testing.T, s gate.Store) {
	o := owners[0]
	var facts []session.Fact
	var keys []session.Key
	for i := range 300 {
		k := session.Key{Space: session.SpaceNote, Name: "p", Value: fmt.Sprint(i)}
		keys = append(keys, k)
		if i%3 == 0 {
			facts = append(facts, note(k, fmt.Sprint(i), 1))
		}
	}
	Add(t, s, o, facts...)
	state := load(t, s, o, keys...)
	if !state.Has(keys) || len(state.Entries()) != len(keys) {
		t.Fatalf("%d entries", len(state.Entries()))
	}
	for i, k := range keys {
		want := ""
		if i%3 == 0 {
			want = fmt.Sprint(i)
		}
		if c, _ := state.Cell(k); c.Text != want {
			t.Errorf("key %d: %q, want %q", i, c.Text, want)
		}
	}
}

func paging(t *testing.T, s gate.Store) {
	o := owners[0]
	for i := range 25 {
		Add(t, s, owners[i%2], note(own, fmt.Sprint(i), int64(i)))
	}
	var got []uint64
	for after := uint64(0); ; {
		facts, err := s.Facts(ctx, o, after, 4)
		if err != nil {
			t.Fatal(err)
		}
		if len(facts) == 0 {
			break
		}
		if len(facts) > 4 {
			t.Fatalf("%d facts in a page of 4", len(facts))
		}
		for _, f := range facts {
			got = append(got, f.Seq)
			after = f.Seq
		}
	}
	if fmt.Sprint(got) != "[1 3 5 7 9 11 13 15 17 19 21 23 25]" {
		t.Errorf("positions %v", got)
	}
	if facts, err := s.Facts(ctx, o, 0, 0); err != nil || len(facts) != 0 {
		t.Errorf("a page of nothing: %v, %v", facts, err)
	}
}

func listing(t *testing.T, s gate.Store) {
	Add(t, s, owners[0], note(own, "a", 10), note(own, "b", 20))
	Add(t, s, owners[1], note(own, "a", 30))
	Add(t, s, owners[2], note(own, "a", 25))
	Add(t, s, owners[0], note(own, "c", 40))
	all, err := s.Sessions(ctx, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	want := []session.Info{
		{Owner: owners[0], Facts: 3, First: 10, Last: 40, Head: 4},
		{Owner: owners[1], Facts: 1, First: 30, Last: 30, Head: 3},
		{Owner: owners[2], Facts: 1, First: 25, Last: 25, Head: 1},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	some, err := s.Sessions(ctx, owners[0].Principal, 1)
	if err != nil || len(some) != 1 || some[0].Owner != owners[0] {
		t.Errorf("%v, %v", some, err)
	}
}

// Check and reserve is one step: of many callers that see room for some, exactly
// that many get in (INVARIANTS I19, THREATS H4).
func reserveOnce(t *testing.T, s gate.Store) {
	const callers, limit = 32, 7
	full := errors.New("full")
	var mu sync.Mutex
	in := 0
	var running sync.WaitGroup
	for i := range callers {
		o := owners[i%2] // two sessions of one principal
		running.Go(func() {
			err := s.Update(ctx, o, []session.Key{session.Self, shared}, func(st session.State) (gate.Change, error) {
				if c, _ := st.Cell(shared); len(c.Permits) >= limit {
					return gate.Change{}, full
				}
				return gate.Change{Facts: []session.Fact{note(shared, fmt.Sprint(i), 1)}}, nil
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				in++
			case !errors.Is(err, full):
				t.Error(err)
			}
		})
	}
	running.Wait()
	if in != limit {
		t.Errorf("%d callers got in, want %d", in, limit)
	}
}

func endOfContext(t *testing.T, s gate.Store) {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	o := owners[0]
	if _, err := s.Load(gone, o, []session.Key{own}); !errors.Is(err, context.Canceled) {
		t.Errorf("load: %v", err)
	}
	err := s.Update(gone, o, []session.Key{session.Self, own}, func(session.State) (gate.Change, error) {
		return gate.Change{Facts: []session.Fact{note(own, "a", 1)}}, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("update: %v", err)
	}
	if c := cell(t, s, o, own); c.Seq != 0 {
		t.Errorf("cell %+v", c)
	}
}

// The cells of a store are what its log adds up to: a model keeps the log in a
// slice and folds it with session.Apply whenever it is asked (INVARIANTS I19).
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
		kind := rapid.SampledFrom([]session.Kind{session.Noted, session.Released, session.Succeeded, session.Failed, session.Denied, session.Told}).Draw(rt, "kind")
		if len(calls[o]) == 0 && (kind == session.Succeeded || kind == session.Failed) {
			kind = session.Noted
		}
		switch kind {
		case session.Noted:
			f = note(rapid.SampledFrom(cells).Draw(rt, "cell"), "n", at)
		case session.Told:
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
