package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	audit "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
	"github.com/stopgate/stopgate/internal/testkit/storetest"
	"github.com/stopgate/stopgate/session"
)

// Proves S13, S38, S61: old facts and idle sessions are removed; the cells of other sessions and of
// their principals remain, with their positions.
func TestRetain(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	old, young := now.AddDate(0, 0, -100).UnixMilli(), now.AddDate(0, 0, -1).UnixMilli()
	idle := session.Owner{Principal: "local", Session: "idle"}
	living := session.Owner{Principal: "local", Session: "living"}
	own := session.Key{Space: session.SpaceNote, Name: "p"}
	shared := session.Key{Scope: session.OfPrincipal, Space: session.SpaceLimit, Name: "l"}
	released := func(id string, at int64) session.Fact {
		return session.Fact{Kind: session.Released, At: at, Proposal: stopgate.ProposalID(id), Tool: "t", CallID: stopgate.CallID(id),
			Marks: []session.Mark{{Key: shared, Counts: true}}}
	}
	note := func(at int64) session.Fact { return session.Fact{Kind: session.Noted, At: at, Key: own, Text: "n"} }
	for range 3 {
		storetest.Add(t, s, idle, note(old))
	}
	storetest.Add(t, s, idle, released("a", old))
	storetest.Add(t, s, living, note(old), released("b", old))
	storetest.Add(t, s, living, note(young), released("c", young))
	entry := approvals.Entry("q") // it expires in 2026-11
	if _, err := s.AddEntry(ctx, entry, func(approve.Entry) bool { return false }); err != nil {
		t.Fatal(err)
	}

	keep := audit.Retention{Rows: now.AddDate(0, 0, -90)}
	got, err := s.Retain(ctx, keep, now)
	if err != nil || got.Facts != 6 || got.Sessions != 1 || got.Approvals != 0 {
		t.Errorf("removed %+v, %v", got, err)
	}
	list, err := s.Sessions(ctx, "", 10)
	if want := fmt.Sprint([]session.Info{{Owner: living, Facts: 2, First: young, Last: young, Head: 8}}); err != nil || fmt.Sprint(list) != want {
		t.Errorf("sessions %v, %v, want %s", list, err, want)
	}
	state, err := s.Load(ctx, living, []session.Key{own, shared, session.CallKey("b"), session.CallKey("c")})
	if err != nil {
		t.Fatal(err)
	}
	cell := func(k session.Key) *session.Cell { c, _ := state.Cell(k); return c }
	if state.Head != 8 || len(cell(own).Permits) != 2 || cell(shared).Count != 3 || cell(session.CallKey("b")).Call.Fact != nil || cell(session.CallKey("c")).Call.Fact == nil {
		t.Errorf("what stays: head %d, %+v, %+v", state.Head, cell(own), cell(shared))
	}
	gone, err := s.Load(ctx, idle, []session.Key{own, shared})
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := gone.Cell(own); c.Seq != 0 {
		t.Errorf("the idle session is still there: %+v", c)
	}
	if again, err := s.Retain(ctx, keep, now); err != nil || again != got && (again.Facts != 0 || again.Sessions != 0) {
		t.Errorf("again: %+v, %v", again, err)
	}
	if late, err := s.Retain(ctx, audit.Retention{Rows: now.AddDate(1, 0, 0)}, now.AddDate(1, 0, 0)); err != nil || late.Approvals != 1 || late.Sessions != 1 {
		t.Errorf("a year later: %+v, %v", late, err)
	}
	storetest.Add(t, s, living, note(young)) // positions go on
	if facts, err := s.Facts(ctx, living, 0, 10); err != nil || len(facts) != 1 || facts[0].Seq != 9 {
		t.Errorf("facts %v, %v", facts, err)
	}
}

// Proves I19, S61: the facts of a call are stored once, are read in full, and are pruned with the
// fact of its release, even if its end is younger.
func TestCallRefersToFacts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	old, young := now.AddDate(0, 0, -100).UnixMilli(), now.UnixMilli()
	owner := session.Owner{Principal: "local", Session: "s"}
	end := func(id string) {
		t.Helper()
		keys := []session.Key{session.Self, session.CallKey(stopgate.ProposalID(id)), session.OpenKey(stopgate.CallID(id), "t")}
		err := s.Update(ctx, owner, keys, func(session.State) (gate.Change, error) {
			return gate.Change{Facts: []session.Fact{{Kind: session.Succeeded, At: young, Proposal: stopgate.ProposalID(id), Hash: "h"}}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	release := func(id string, at int64) {
		t.Helper()
		storetest.Add(t, s, owner, session.Fact{Kind: session.Released, At: at, Proposal: stopgate.ProposalID(id), Tool: "t", CallID: stopgate.CallID(id),
			ArgsHash: "of the arguments", Release: &session.Release{Policy: "p"}})
	}
	call := func(id string) session.Issued {
		t.Helper()
		k := session.CallKey(stopgate.ProposalID(id))
		state, err := s.Load(ctx, owner, []session.Key{k})
		if err != nil {
			t.Fatal(err)
		}
		c, _ := state.Cell(k)
		return c.Call
	}
	release("a", old)
	release("b", old)
	release("c", young)
	end("b")
	end("c")
	if a := call("a"); a.Fact == nil || a.Fact.Seq != 1 || a.Fact.Release.Policy != "p" || a.Done != "" || a.End != nil {
		t.Errorf("in flight %+v", a)
	}
	for id, seq := range map[string]uint64{"b": 4, "c": 5} {
		if c := call(id); c.Fact == nil || c.Fact.Kind != session.Released || c.Done != session.Succeeded || c.End == nil || c.End.Seq != seq || c.End.Hash != "h" {
			t.Errorf("%s: %+v", id, c)
		}
	}
	var twice int
	if err := raw(t, path).QueryRow("SELECT count(*) FROM cells WHERE instr(stored, CAST('of the arguments' AS BLOB)) AND key GLOB 'call/*'").Scan(&twice); err != nil || twice != 0 {
		t.Errorf("%d calls stand in cells too, %v", twice, err)
	}
	if _, err := s.Retain(ctx, audit.Retention{Rows: now.AddDate(0, 0, -90)}, now); err != nil {
		t.Fatal(err)
	}
	if a, b, c := call("a"), call("b"), call("c"); a != (session.Issued{}) || b != (session.Issued{}) || c.Fact == nil {
		t.Errorf("afterwards %+v, %+v, %+v", a, b, c)
	}
}

// Proves I19, S61, FM13: an idle session is removed completely, even if its clock was set back,
// because its id may be reused. The age of a session is that of its youngest fact.
func TestIdleSessionIsRemoved(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	old, young := now.AddDate(0, 0, -100).UnixMilli(), now.UnixMilli()
	fact := func(at int64) session.Fact { return session.Fact{Kind: session.Spoke, At: at} }
	gone := session.Owner{Principal: "a", Session: "gone"}
	for _, f := range []session.Fact{fact(old), fact(young), fact(old)} {
		storetest.Add(t, s, gone, f)
	}
	got, err := s.Retain(ctx, audit.Retention{Rows: now.AddDate(0, 0, -90)}, now)
	if err != nil || got.Facts != 2 || got.Sessions != 0 {
		t.Errorf("removed %+v, %v", got, err)
	}
	later := now.AddDate(0, 0, 91)
	if got, err = s.Retain(ctx, audit.Retention{Rows: later.AddDate(0, 0, -90)}, later); err != nil || got.Facts != 1 || got.Sessions != 1 {
		t.Errorf("removed %+v, %v", got, err)
	}
	next := session.Owner{Principal: "b", Session: "next"}
	storetest.Add(t, s, next, fact(young), fact(young+1))
	if facts, err := s.Facts(ctx, next, 0, 10); err != nil || len(facts) != 2 || facts[1].At != young+1 {
		t.Errorf("facts %v, %v", facts, err)
	}
}
