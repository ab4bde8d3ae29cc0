package frame_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/approve/frame"
	"github.com/stopgate/stopgate/gate"
)

// Proves H14, S60: what a person is shown, by hand.
func TestFrame(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	e := approve.Entry{
		ID: "Q", Tool: "rm\u202e", Agent: "ma\nin", Session: "s\x1b", Mode: stopgate.Edit, Public: "look",
		Rule: &stopgate.RuleRef{File: "p.toml", Line: 3}, Pointer: "/a", Complete: true,
		Leaves: []gate.Leaf{{Pointer: "/a\u200b", JSON: `"x\\y\u001b"`}, {JSON: `"` + strings.Repeat("z", 20_000) + `"`}},
		Floors: []stopgate.Floor{{Code: stopgate.CodeProtectedTarget, Pointer: "/a"}},
		Asked:  now.Add(-3 * time.Hour), Until: now.Add(-time.Second), Expires: now.Add(30 * time.Minute),
	}
	f := frame.Of(e, now, false)
	rest := f.Values[1]
	f.Values = f.Values[:1]
	want := frame.Frame{
		Who: `ma\nin (session s\u{1b})`, Tool: `rm\u{202e}`, Values: []frame.Value{{Label: `/a\u{200b}`, Text: `"x\\y\u001b"`}},
		Because: "look", Edit: true, Rule: "p.toml:3, /a", ID: "Q", Asked: "3 h", Left: "30 min", Late: true,
		Floors: []string{stopgate.CodeProtectedTarget.Public() + " /a"},
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("%+v\nwant\n%+v", f, want)
	}
	if rest.Label != "(all)" || !strings.Contains(rest.Text, " more ") || !strings.HasPrefix(rest.Rest, "20.0 KB, sha256 ") {
		t.Errorf("%.80s %s %s", rest.Text, rest.Label, rest.Rest)
	}
	other := e
	other.Leaves = []gate.Leaf{{JSON: `"` + strings.Repeat("z", 10_000) + "y" + strings.Repeat("z", 9_999) + `"`}}
	if changed := frame.Of(other, now, false).Values[0]; changed.Rest == rest.Rest {
		t.Error("a change in what is not shown does not show")
	}
	if whole := frame.Of(e, now, true).Values[1]; len(whole.Text) != 20_002 || whole.Rest != "" {
		t.Error("not all of it")
	}
	f = frame.Of(approve.Entry{Received: 12, Asked: now, Expires: now}, now, false)
	if f.Values != nil || f.Received != "12 bytes" || f.Who != "a model" || f.Left != "0 s" || f.Rule != "" {
		t.Errorf("%+v", f)
	}
	e.Segment = &stopgate.Segment{Index: 1, Of: 3, Text: "rm\x1b -rf /"}
	if f = frame.Of(e, now, false); f.Rule != `p.toml:3, /a, command 2 of 3: rm\u{1b} -rf /` {
		t.Errorf("the command that decided: %s", f.Rule)
	}
	if f = frame.Of(approve.Entry{Complete: true, Args: "{}"}, now, false); len(f.Values) != 1 || f.Values[0].Text != "{}" {
		t.Errorf("%+v", f)
	}
}
