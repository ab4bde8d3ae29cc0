package mem_test

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/internal/testkit/storetest"
	"github.com/stopgate/stopgate/session"
)

const day = 24 * 60 * 60 * 1000 // in milliseconds

var ctx = context.Background()

func add(t *testing.T, s *mem.Store, o session.Owner, keys []session.Key, f session.Fact) {
	t.Helper()
	err := s.Update(ctx, o, append(keys, f.Keys()...), func(session.State) (gate.Change, error) {
		return gate.Change{Facts: []session.Fact{f}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func cellOf(t *testing.T, s *mem.Store, o session.Owner, k session.Key) *session.Cell {
	t.Helper()
	state, err := s.Load(ctx, o, []session.Key{k})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := state.Cell(k)
	return c
}

// Proves S38: a call is known until a day after its last fact, facts for a day, and their totals
// for ever.
func TestForgetsCalls(t *testing.T) {
	s, o := mem.New(), session.Owner{Principal: "p", Session: "s"}
	total := session.Key{Space: session.SpaceLimit, Name: "l"}
	release := func(id stopgate.ProposalID, at int64) session.Fact {
		f := session.Fact{Kind: session.Released, At: at, Proposal: id, Tool: "t", CallID: stopgate.CallID(id), Marks: []session.Mark{{Key: total, Counts: true}}}
		add(t, s, o, nil, f)
		return f
	}
	known := func(id stopgate.ProposalID) bool { return !cellOf(t, s, o, session.CallKey(id)).IsZero() }
	open := release("open", 1)
	ended := release("ended", 1)
	add(t, s, o, ended.Keys(), session.Fact{Kind: session.Succeeded, At: day, Proposal: "ended"})
	if !known("open") || !known("ended") {
		t.Error("forgotten within a day")
	}
	if c := cellOf(t, s, o, session.OpenKey("ended", "t")); len(c.Open) != 0 || len(c.Past) != 1 {
		t.Errorf("the id of a call that ended: %+v", c)
	}
	release("later", day+2)
	if known("open") || !known("ended") {
		t.Error("after a day the open call is to be forgotten, and the one that ended since is not")
	}
	err := s.Update(ctx, o, append(open.Keys(), session.CallKey("open")), func(session.State) (gate.Change, error) {
		return gate.Change{Facts: []session.Fact{{Kind: session.Failed, At: day + 2, Proposal: "open"}}}, nil
	})
	if err == nil {
		t.Error("a result of a forgotten call counts")
	}
	release("last", 2*day+1)
	if known("ended") || !known("later") {
		t.Error("a day after its result a call is to be forgotten")
	}
	for _, id := range []stopgate.CallID{"open", "ended"} {
		if c := cellOf(t, s, o, session.OpenKey(id, "t")); !c.IsZero() {
			t.Errorf("the id of a forgotten call stays: %+v", c)
		}
	}
	if c := cellOf(t, s, o, total); c.Count != 4 {
		t.Errorf("the total is %d", c.Count)
	}
	facts, err := s.Facts(ctx, o, 0, 10)
	if err != nil || len(facts) != 2 || facts[0].Proposal != "later" {
		t.Errorf("%v %v", facts, err)
	}
	if list, _ := s.Sessions(ctx, "p", 10); len(list) != 1 || list[0].Facts != 2 || list[0].First != day+2 || list[0].Head != 5 {
		t.Errorf("%+v", list)
	}
	if facts, _ = s.Facts(ctx, o, 4, 10); len(facts) != 1 || facts[0].Seq != 5 {
		t.Errorf("behind 4: %v", facts)
	}
}

// Proves S38: a session stores a bounded number of calls.
func TestBoundsCalls(t *testing.T) {
	s, o := mem.New(), session.Owner{Principal: "p", Session: "s"}
	const n = 3 * mem.MaxCalls
	for i := range n {
		keys, decide := storetest.Reservation(fmt.Sprint("c", i))
		if err := s.Update(ctx, o, keys, decide); err != nil {
			t.Fatal(err)
		}
	}
	if c := cellOf(t, s, o, session.CallKey("c0")); !c.IsZero() {
		t.Error("the first call is known")
	}
	if c := cellOf(t, s, o, session.CallKey(stopgate.ProposalID(fmt.Sprint("c", n-mem.MaxCalls)))); c.IsZero() {
		t.Error("a call that others followed is forgotten")
	}
}

// Calls are found by their ids after any sequence of writes and removals: the hash table behaves
// like a map.
func TestFindsCalls(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		s, o := mem.New(), session.Owner{Principal: "p", Session: "s"}
		oracle := map[stopgate.ProposalID]session.Kind{}
		written := map[stopgate.ProposalID]int64{}
		now := int64(day)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += int64(rapid.IntRange(0, day/3).Draw(t, "later"))
			id := stopgate.ProposalID(fmt.Sprint("call-", rapid.IntRange(0, 20).Draw(t, "id")))
			f := session.Fact{Kind: session.Released, At: now, Proposal: id, Tool: "t", CallID: stopgate.CallID(id)}
			if _, known := oracle[id]; known {
				f.Kind = session.Succeeded
			}
			keys := append((&session.Fact{Kind: session.Released, Proposal: id, Tool: "t", CallID: stopgate.CallID(id)}).Keys(), f.Keys()...)
			err := s.Update(ctx, o, keys, func(session.State) (gate.Change, error) {
				return gate.Change{Facts: []session.Fact{f}}, nil
			})
			if over := oracle[id] == session.Succeeded; over != (err != nil) {
				t.Fatalf("%s ended before: %v, %v", id, over, err)
			}
			if err != nil {
				continue
			}
			oracle[id], written[id] = f.Kind, now
			for other, at := range written {
				if at < now-day {
					delete(oracle, other)
					delete(written, other)
				}
			}
			for i := range 21 {
				id := stopgate.ProposalID(fmt.Sprint("call-", i))
				state, err := s.Load(ctx, o, []session.Key{session.CallKey(id)})
				if err != nil {
					t.Fatal(err)
				}
				c, _ := state.Cell(session.CallKey(id))
				kind, known := oracle[id]
				if known != (c.Call.Fact != nil) || known && (c.Call.Fact.Proposal != id || (kind == session.Succeeded) != (c.Call.Done == kind) || c.At != written[id]) {
					t.Fatalf("%s is %q, written at %d; the store has %+v", id, kind, written[id], c)
				}
			}
		}
	})
}
