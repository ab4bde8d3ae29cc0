package turn_test

import (
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/turn"
	"github.com/stopgate/stopgate/session"
)

// Proves S8, S9: the first call fixes the position of the facts, and one call takes the
// transition, until it gives it back.
func TestState(t *testing.T) {
	var s turn.State
	if _, known := s.Horizon(); known {
		t.Error("a new turn knows its position")
	}
	if first, second := s.Begin(7), s.Begin(9); first != 7 || second != 7 {
		t.Errorf("positions %d and %d", first, second)
	}
	if !s.TakeTransition("a") || !s.TakeTransition("a") || s.TakeTransition("b") {
		t.Error("the transition is not that of the first call")
	}
	s.ReturnTransition("b")
	if s.TakeTransition("b") {
		t.Error("a call gave back the transition of another")
	}
	s.ReturnTransition("a")
	if !s.TakeTransition("b") {
		t.Error("the transition was not given back")
	}
}

// A call sees what the calls before it would permit, and not what those after it would.
func TestSiblings(t *testing.T) {
	var s turn.State
	read, write := session.ToolKey("read"), session.ToolKey("write")
	s.Join("a", read)
	s.Join("b", write)
	if got := s.UnderWay("b"); !slices.Equal(got, []session.Key{read}) {
		t.Errorf("the second call sees %v", got)
	}
	if got := s.UnderWay("a"); len(got) > 0 {
		t.Errorf("the first call sees %v", got)
	}
	if !s.Arriving("b") || s.Arriving("a") {
		t.Error("the first call is incomplete for the second alone")
	}
	if s.Completes("a", []session.Key{write}); s.Arriving("b") || len(s.UnderWay("b")) != 2 {
		t.Errorf("after the first call is complete the second sees %v", s.UnderWay("b"))
	}
	if s.Leave("a"); len(s.UnderWay("b")) > 0 {
		t.Error("a call that has left is seen")
	}
}

// A turn in a guessed session sees its own facts and no others.
func TestIsolated(t *testing.T) {
	released := session.Fact{Kind: session.Released, Proposal: "p", Tool: "read"}
	k := session.CallKey("p")
	others := session.NewState(9, []session.Entry{{Key: k, Cell: &session.Cell{Count: 5}}})
	var own turn.Isolated
	if c, _ := own.Overlay(others).Cell(k); c.Count != 0 || c.Call.Fact != nil {
		t.Errorf("facts of others are seen: %+v", c)
	}
	own.AddReleased(3, released)
	if c, _ := own.Overlay(others).Cell(k); c.Call.Fact == nil || c.Call.Fact.Proposal != "p" {
		t.Errorf("the own release is not seen: %+v", c)
	}
	var none *turn.Isolated
	if c, _ := none.Overlay(others).Cell(k); c.Count != 5 {
		t.Errorf("without isolation: %+v", c)
	}
	none.LockReleases()()
}
