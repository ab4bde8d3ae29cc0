// Package storetest is the behaviour that every store of the gate has to show, as
// tests that run against any of them.
package storetest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/session"
)

var ctx = context.Background()

// inside compares what the types hold. An empty list is no list, and the time of a store passes.
var inside = cmp.Options{cmpopts.IgnoreFields(session.State{}, "Now"), cmp.AllowUnexported(session.State{}, session.Entry{}, session.Amount{}), cmpopts.EquateEmpty()}

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
