// Package approvals holds the behaviour that every store of approvals must show, as
// one suite that each of them runs.
package approvals

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
)

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Entry is a complete question with everything set.
func Entry(id string) approve.Entry {
	return approve.Entry{
		ID: id, Proposal: "P" + stopgate.ProposalID(id), Parent: "Q", Tool: "deploy", CallID: "c1", Session: "s1", Turn: "t1",
		Agent: "main", Principal: "anna", Server: "srv", Surface: stopgate.SurfaceGateway,
		Mode: stopgate.Ask, Code: stopgate.CodeRuleMatched, Rule: &stopgate.RuleRef{File: "a.toml", Line: 3, Index: 1, ID: "r"},
		Pointer: "/path", Public: "look first", Floors: []stopgate.Floor{{Mode: stopgate.Ask, Code: stopgate.CodeUnknownParameter, Pointer: "/x", At: 9}},
		Complete: true, Received: 12, Args: `{"path":"ä\u0000"}`, Binding: gate.Binding{Args: "hash" + id, Tool: "deploy", Policy: "p", Session: "s1", Principal: "anna"},
		Leaves: []gate.Leaf{{Pointer: "/path", Type: "path", Known: true, JSON: `"ä\u0000"`}},
		Asked:  start, Until: start.Add(time.Minute), Expires: start.Add(time.Hour), State: approve.Waiting,
	}
}

// grant is a grant with everything set.
func grant(id string) approve.Grant {
	return approve.Grant{
		ID: id, Principal: "anna", Session: "s1", Tool: "deploy", Definition: "d", Code: stopgate.CodeRuleMatched, Rule: "r",
		Values: []approve.Value{{Pointer: "/path", How: approve.Below, Text: "src"}}, By: "anna", Made: start, Expires: start.Add(time.Hour), Limit: 2,
	}
}

func never(approve.Entry) bool { return false }

// Opener opens an empty store.
type Opener func(t *testing.T) approve.Store

// Reopener closes a store and opens what it kept; nil for a store that keeps nothing.
type Reopener func(t *testing.T, s approve.Store) approve.Store

// Test runs the suite.
func Test(t *testing.T, open Opener, reopen Reopener) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Opener, Reopener)
	}{
		{"keeps everything of an entry", keepsEntries},
		{"an entry with the same binding can stand for a new one", joins},
		{"changes an entry, or nothing", changes},
		{"finds a changed entry by what it is now", finds},
		{"lists by filter, newest first", lists},
		{"one of many racing changes counts", races},
		{"keeps, uses and ends grants", keepsGrants},
		{"attendance is the latest time", attends},
		{"prunes what has expired", prunes},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open, reopen) })
	}
}

func keepsEntries(t *testing.T, open Opener, reopen Reopener) {
	s, want := open(t), Entry("a")
	if got, err := s.AddEntry(t.Context(), want, never); err != nil || !cmp.Equal(got, want) {
		t.Fatal(err, cmp.Diff(want, got))
	}
	if reopen != nil {
		s = reopen(t, s)
	}
	if got, err := s.Entry(t.Context(), "a"); err != nil || !cmp.Equal(got, want) {
		t.Fatal(err, cmp.Diff(want, got))
	}
	if _, err := s.Entry(t.Context(), "b"); !errors.Is(err, approve.ErrUnknown) {
		t.Fatal(err)
	}
	if _, err := s.AddEntry(t.Context(), want, never); err == nil {
		t.Fatal("two entries with one id")
	}
}

func joins(t *testing.T, open Opener, _ Reopener) {
	s, a := open(t), Entry("a")
	add(t, s, a)
	b := a
	b.ID = "b"
	got, err := s.AddEntry(t.Context(), b, func(e approve.Entry) bool { return e.State == approve.Waiting })
	if err != nil || got.ID != "a" {
		t.Fatal(got.ID, err)
	}
	if _, err := s.Entry(t.Context(), "b"); !errors.Is(err, approve.ErrUnknown) {
		t.Fatal("the other one was kept too")
	}
	other := Entry("c")
	if got, err := s.AddEntry(t.Context(), other, func(approve.Entry) bool { return true }); err != nil || got.ID != "c" {
		t.Fatal("another binding is no company", got.ID, err)
	}
	for _, id := range []string{"d", "e"} {
		early := Entry(id)
		early.Complete, early.Binding = false, gate.Binding{}
		if got, err := s.AddEntry(t.Context(), early, func(approve.Entry) bool { return true }); err != nil || got.ID != id {
			t.Fatal("a question without a binding has no company", got.ID, err)
		}
	}
}

func changes(t *testing.T, open Opener, _ Reopener) {
	s := open(t)
	add(t, s, Entry("a"))
	no := errors.New("no")
	if _, err := s.ChangeEntry(t.Context(), "a", func(e approve.Entry) (approve.Entry, error) {
		e.State = approve.Approved
		return e, no
	}); !errors.Is(err, no) {
		t.Fatal(err)
	}
	if e, _ := s.Entry(t.Context(), "a"); e.State != approve.Waiting {
		t.Fatal("a refused change was kept")
	}
	want := Entry("a")
	want.State, want.By, want.Edit, want.Answered, want.UsedBy = approve.Used, "bob", `{"x":1}`, start.Add(time.Second), "P9"
	got, err := s.ChangeEntry(t.Context(), "a", func(approve.Entry) (approve.Entry, error) { return want, nil })
	if err != nil || !cmp.Equal(got, want) {
		t.Fatal(err, cmp.Diff(want, got))
	}
	if got, err := s.Entry(t.Context(), "a"); err != nil || !cmp.Equal(got, want) {
		t.Fatal(err, cmp.Diff(want, got))
	}
	if _, err := s.ChangeEntry(t.Context(), "b", func(e approve.Entry) (approve.Entry, error) { return e, nil }); !errors.Is(err, approve.ErrUnknown) {
		t.Fatal(err)
	}
}

// A question is asked before all of the call is known, and completed later.
func finds(t *testing.T, open Opener, _ Reopener) {
	s := open(t)
	early, whole := Entry("a"), Entry("a")
	early.Complete, early.Binding = false, gate.Binding{}
	early.Principal, early.Session, early.Expires = "eve", "s0", start
	whole.State = approve.Approved
	add(t, s, early)
	if _, err := s.ChangeEntry(t.Context(), "a", func(approve.Entry) (approve.Entry, error) { return whole, nil }); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		filter approve.Filter
		want   int
	}{
		{approve.Filter{State: whole.State, Principal: whole.Principal, Session: whole.Session, Live: start.Add(time.Minute)}, 1},
		{approve.Filter{State: early.State}, 0}, {approve.Filter{Principal: early.Principal}, 0}, {approve.Filter{Session: early.Session}, 0},
	} {
		if list, err := s.Entries(t.Context(), c.filter); err != nil || len(list) != c.want {
			t.Errorf("%+v: %v, want %d (%v)", c.filter, list, c.want, err)
		}
	}
	if n, err := s.Prune(t.Context(), start.Add(time.Minute)); err != nil || n != 0 {
		t.Errorf("%d pruned by what was, %v", n, err)
	}
	again := whole
	again.ID = "b"
	if got, err := s.AddEntry(t.Context(), again, func(approve.Entry) bool { return true }); err != nil || got.ID != "a" {
		t.Errorf("it is not found by its binding: %s, %v", got.ID, err)
	}
	if _, err := s.ChangeEntry(t.Context(), "a", func(e approve.Entry) (approve.Entry, error) {
		e.Binding.Args = "other"
		return e, nil
	}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.AddEntry(t.Context(), again, func(approve.Entry) bool { return true }); err != nil || got.ID != "b" {
		t.Errorf("it is found by a binding that it no longer has: %s, %v", got.ID, err)
	}
	if err := s.AddGrant(t.Context(), grant("g")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ChangeGrant(t.Context(), "g", func(g approve.Grant) (approve.Grant, error) {
		g.Principal, g.Tool, g.Expires = "bob", "build", start.Add(2*time.Hour)
		return g, nil
	}); err != nil {
		t.Fatal(err)
	}
	live := start.Add(time.Hour)
	if list, err := s.Grants(t.Context(), approve.GrantFilter{Principal: "bob", Tool: "build", Live: live}); err != nil || len(list) != 1 {
		t.Errorf("grants by what they are now: %v, %v", list, err)
	}
	for _, f := range []approve.GrantFilter{{Principal: "anna"}, {Tool: "deploy"}} {
		if list, err := s.Grants(t.Context(), f); err != nil || len(list) != 0 {
			t.Errorf("grants by what they were: %v, %v", list, err)
		}
	}
}

func lists(t *testing.T, open Opener, _ Reopener) {
	s := open(t)
	for i, id := range []string{"a", "b", "c", "d"} {
		e := Entry(id)
		e.Asked = start.Add(time.Duration(i) * time.Second)
		switch id {
		case "b":
			e.State = approve.Declined
		case "c":
			e.Principal = "bob"
		case "d":
			e.Session, e.Expires = "s2", start
		}
		add(t, s, e)
	}
	for _, c := range []struct {
		filter approve.Filter
		want   string
	}{
		{approve.Filter{}, "dcba"},
		{approve.Filter{Limit: 2}, "dc"},
		{approve.Filter{State: approve.Waiting}, "dca"},
		{approve.Filter{State: approve.Waiting, Limit: 2}, "dc"},
		{approve.Filter{Principal: "anna", Session: "s1"}, "ba"},
		{approve.Filter{Live: start}, "cba"},
		{approve.Filter{Live: start, Limit: 1}, "c"},
	} {
		list, err := s.Entries(t.Context(), c.filter)
		got := ""
		for _, e := range list {
			got += e.ID
		}
		if err != nil || got != c.want {
			t.Errorf("%+v: %q, want %q (%v)", c.filter, got, c.want, err)
		}
	}
}

func races(t *testing.T, open Opener, _ Reopener) {
	s := open(t)
	add(t, s, Entry("a"))
	taken := errors.New("taken")
	var won atomic.Int64
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			_, err := s.ChangeEntry(t.Context(), "a", func(e approve.Entry) (approve.Entry, error) {
				if e.State != approve.Waiting {
					return e, taken
				}
				e.State, e.By = approve.Approved, strconv.Itoa(i)
				return e, nil
			})
			switch {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, taken):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d of 16 answers counted", won.Load())
	}
}

func keepsGrants(t *testing.T, open Opener, reopen Reopener) {
	s, want := open(t), grant("g")
	if err := s.AddGrant(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if s.AddGrant(t.Context(), want) == nil {
		t.Fatal("two grants with one id")
	}
	if reopen != nil {
		s = reopen(t, s)
	}
	list, err := s.Grants(t.Context(), approve.GrantFilter{Principal: "anna", Tool: "deploy", Live: start})
	if err != nil || len(list) != 1 || !cmp.Equal(list[0], want) {
		t.Fatal(err, cmp.Diff([]approve.Grant{want}, list))
	}
	younger := grant("younger")
	younger.Limit = 1
	if err := s.AddGrant(t.Context(), younger); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Grants(t.Context(), approve.GrantFilter{Live: start}); err != nil || len(list) != 2 || list[0].ID != "younger" || list[1].ID != "g" {
		t.Errorf("%v, not the younger one and the other, %v", list, err)
	}
	for _, f := range []approve.GrantFilter{{Principal: "bob"}, {Tool: "x"}, {Live: start.Add(time.Hour)}} {
		if list, err := s.Grants(t.Context(), f); err != nil || len(list) != 0 {
			t.Errorf("%+v lets %v through (%v)", f, list, err)
		}
	}
	use := func(g approve.Grant) (approve.Grant, error) {
		g.Uses++
		return g, nil
	}
	for _, id := range []string{"g", "younger", "g"} {
		if _, err := s.ChangeGrant(t.Context(), id, use); err != nil {
			t.Fatal(err)
		}
	}
	if list, _ := s.Grants(t.Context(), approve.GrantFilter{Live: start}); len(list) != 0 {
		t.Error("a used up grant is live")
	}
	if list, _ := s.Grants(t.Context(), approve.GrantFilter{}); len(list) != 2 || list[1].Uses != 2 {
		t.Error(list)
	}
	if _, err := s.ChangeGrant(t.Context(), "h", use); !errors.Is(err, approve.ErrUnknown) {
		t.Error(err)
	}
}

func attends(t *testing.T, open Opener, _ Reopener) {
	s := open(t)
	if at, err := s.Attended(t.Context()); err != nil || !at.IsZero() {
		t.Fatal(at, err)
	}
	for _, d := range []time.Duration{time.Minute, time.Second} {
		if err := s.Attend(t.Context(), start.Add(d)); err != nil {
			t.Fatal(err)
		}
	}
	if at, err := s.Attended(t.Context()); err != nil || !at.Equal(start.Add(time.Minute)) {
		t.Fatal(at, err)
	}
	yesterday := start.AddDate(0, 0, -1)
	if err := s.Attend(t.Context(), yesterday); err != nil {
		t.Fatal(err)
	}
	if at, err := s.Attended(t.Context()); err != nil || !at.Equal(yesterday) {
		t.Fatalf("the clock was set back: %v %v", at, err)
	}
}

func prunes(t *testing.T, open Opener, _ Reopener) {
	s := open(t)
	add(t, s, Entry("a"))
	b := Entry("b")
	b.Expires = start.Add(2 * time.Hour)
	add(t, s, b)
	if err := s.AddGrant(t.Context(), grant("g")); err != nil {
		t.Fatal(err)
	}
	n, err := s.Prune(t.Context(), start.Add(90*time.Minute))
	left, _ := s.Entries(t.Context(), approve.Filter{})
	if err != nil || n != 2 || len(left) != 1 || left[0].ID != "b" {
		t.Fatal(n, left, err)
	}
}

func add(t *testing.T, s approve.Store, e approve.Entry) {
	t.Helper()
	if _, err := s.AddEntry(t.Context(), e, never); err != nil {
		t.Fatal(err)
	}
}
