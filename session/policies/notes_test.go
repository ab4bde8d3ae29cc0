package policies_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// noted is a custom policy with state of its own: notes about results.
type noted struct{}

func (noted) Name() string            { return "noted" }
func (noted) Tools() session.Selector { return session.Select("pick", "use") }
func (noted) Needs(session.Call) []session.Key {
	return []session.Key{session.NoteKey("noted", "")}
}
func (noted) Check(v session.View, c session.Call) session.Decision {
	if _, picked := v.Note("noted", ""); c.Tool == "use" && !picked {
		return session.Deny("not_picked", "Pick one first.")
	}
	return session.Allow()
}
func (noted) OnResult(_ session.View, r session.Result) []session.Fact {
	mine := session.Note("noted", "", string(r.Data))
	forged := mine
	forged.Key.Name = "other"
	return []session.Fact{mine, {Kind: session.Approved, Name: "a way out"}, session.Note("other", "", "x"), forged, {Kind: session.Noted, Name: "noted", Key: session.Self}}
}

// Proves TPS-08, TPS-25, TPS-29: a policy of one's own keeps notes, about results of
// calls that did not fail, and nothing else.
func TestNotes(t *testing.T) {
	b := newBook(t, noted{})
	b.expect("use", `{}`, "not_picked")
	for kind, want := range map[session.Kind]int{session.Failed: 0, session.Absent: 0, session.Succeeded: 1, session.Finished: 1} {
		facts := b.reg.NotifyResult(session.View{}, session.Result{Call: session.Call{Tool: "pick"}, Kind: kind, Data: []byte("blue")})
		if len(facts) != want {
			t.Errorf("%s: %v", kind, facts)
		}
		if kind == session.Succeeded {
			b.add(facts...)
		}
	}
	b.expect("use", `{}`, ok)
}

// Proves TPS-30, S15: of notes that permit, those that a restore took back do not count,
// and what stood before does; a turn sees what was noted before it.
func TestNotesThatStand(t *testing.T) {
	b := newBook(t, noted{})
	text := func() string {
		note, _ := b.view(b.call("use", `{}`)).Note("noted", "")
		return note
	}
	b.add(session.Note("noted", "", "red"))
	before := b.head
	b.add(session.Note("noted", "", "blue"))
	b.turn = b.head
	b.add(session.Note("noted", "", "green"))
	if got := text(); got != "blue" {
		t.Errorf("within the turn %q", got)
	}
	b.turn = 0
	if got := text(); got != "green" {
		t.Errorf("after the turn %q", got)
	}
	b.add(session.Fact{Kind: session.Restored, To: before})
	if got := text(); got != "red" {
		t.Errorf("taken back %q", got)
	}
	b.add(session.Fact{Kind: session.Restored, To: 0})
	b.expect("use", `{}`, "not_picked")
	b.add(session.Note("noted", "", "white"))
	b.expect("use", `{}`, ok)
}

// Proves TPS-27, H11: what a wrapped policy notes and counts goes on while it is inactive,
// and holds when it wakes up.
func TestAsleepAndLearning(t *testing.T) {
	awake := false
	asleep := func(p session.Policy) session.Policy {
		return session.Conditional(p, func(session.View) bool { return awake })
	}
	b := newBook(t, asleep(noted{}), asleep(policies.Limit("mail").Calls(2)), asleep(policies.ReadBeforeWrite()))
	for range 3 {
		b.expect("mail", `{}`, ok)
		b.run("mail", `{}`, session.Succeeded)
	}
	b.expect("use", `{}`, ok)
	b.expect("write_file", `{"path":"a"}`, ok)
	b.run("read_file", `{"path":"b"}`, session.Succeeded)
	facts := b.reg.NotifyResult(session.View{}, session.Result{Call: session.Call{Tool: "pick"}, Kind: session.Succeeded, Data: []byte("blue")})
	if len(facts) != 1 {
		t.Fatalf("an inactive policy noted %v", facts)
	}
	awake = true
	b.expect("use", `{}`, "not_picked")
	b.add(facts...)
	b.expect("use", `{}`, ok)
	b.expect("mail", `{}`, stopgate.CodeSessionPolicyDenied)
	b.expect("write_file", `{"path":"a"}`, stopgate.CodeReadRequired)
	b.expect("write_file", `{"path":"b"}`, ok)
	awake = false
	b.expect("mail", `{}`, ok)
}
