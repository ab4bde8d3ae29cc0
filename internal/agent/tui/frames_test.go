package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/arguments"
	"github.com/stopgate/stopgate/internal/agent/tui"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// golden compares frames with a file; -update rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s, - as it was, + as it is (-update writes it):\n%s", path, diff)
	}
}

// params returns the parameters of argument text, complete or not.
func params(text string) []arguments.Parameter {
	var a arguments.Arguments
	a.Feed([]byte(text))
	return a.Parameters()
}

var (
	ask = stopgate.Verdict{Decided: true, Mode: stopgate.Ask, Layer: stopgate.LayerRules, Code: stopgate.CodeRuleMatched,
		Rule: &stopgate.RuleRef{File: "stopgate.toml", Line: 12}, Pointer: "/path", DecidedAt: 20}
	deny = stopgate.Verdict{Decided: true, Mode: stopgate.Deny, Layer: stopgate.LayerGuard, Code: stopgate.CodeRuleMatched,
		Rule: &stopgate.RuleRef{File: "stopgate.toml", Line: 40}, Pointer: "/path", DecidedAt: 14, Public: "secrets stay out of reach"}
	run  = stopgate.Verdict{Decided: true, Mode: stopgate.Unattended, Layer: stopgate.LayerRules, Code: stopgate.CodeRuleMatched}
	long = strings.Repeat("0123456789", 40)
	anna = &stopgate.Approval{ID: "x", By: "anna"}
)

// calls are calls in every state.
var calls = []struct {
	name string
	call agent.Call
}{
	{"nothing known", agent.Call{Tool: "fs_create_file"}},
	{"streaming", agent.Call{Tool: "fs_create_file", Parameters: params(`{"path":"src/main.rs","content":"` + strings.Repeat("x", 12345))}},
	{"asked", agent.Call{Tool: "fs_create_file", Verdict: ask, Parameters: params(`{"path":"src/main.rs","content":"fn main`)}},
	{"refused on the way", agent.Call{Tool: "fs_create_file", Verdict: deny, Received: 5000, Parameters: params(`{"path":".env","content":"A=`)}},
	{"refused", agent.Call{Tool: "fs_create_file", State: agent.Refused, Verdict: deny, Received: 20, Parameters: params(`{"path":".env","content":"A=`)}},
	{"skipped", agent.Call{Tool: "run_command", State: agent.Refused, Verdict: stopgate.Verdict{Decided: true, Mode: stopgate.Skip, Code: stopgate.CodeRuleSkipped, Layer: stopgate.LayerRules}, Parameters: params(`{"command":"make"}`)}},
	{"declined", agent.Call{Tool: "run_command", State: agent.Refused, Verdict: stopgate.Verdict{Decided: true, Layer: stopgate.LayerApproval, Code: stopgate.CodeApprovalDeclined, Public: "use make test"}, Parameters: params(`{"command":"make"}`)}},
	{"running", agent.Call{Tool: "run_command", State: agent.Running, Verdict: run, Parameters: params(`{"command":"go test ./..."}`)}},
	{"done", agent.Call{Tool: "run_command", State: agent.Done, Verdict: run, Took: 1230 * time.Millisecond, Parameters: params(`{"command":"go test ./..."}`),
		Result: "ok  \ta\nok  \tb\nok  \tc\nok  \td\nok  \te\nok  \tf\nok  \tg\n[exit status 0]"}},
	{"failed", agent.Call{Tool: "run_command", State: agent.Failed, Verdict: ask, Approval: anna, Parameters: params(`{"command":"false"}`), Result: "[exit status 1]"}},
	{"edited", agent.Call{Tool: "fs_create_file", State: agent.Done, Verdict: ask, Approval: anna, Edited: true, Parameters: params(`{"path":"b","content":"x"}`), Result: "wrote 1 bytes to b"}},
	{"granted", agent.Call{Tool: "fs_delete_file", State: agent.Done, Verdict: ask, Approval: &stopgate.Approval{ID: "grant:1:2", By: "anna"}, Parameters: params(`{"path":"b"}`), Result: "deleted b"}},
	{"withheld", agent.Call{Tool: "fs_read_file", State: agent.Done, Verdict: run, Withheld: true, Parameters: params(`{"path":"b"}`), Result: "{}"}},
	{"observed", agent.Call{Tool: "fs_read_file", State: agent.Done, Verdict: deny, Observed: true, Parameters: params(`{"path":".env"}`), Result: "A=1"}},
	{"a change", agent.Call{Tool: "fs_modify_file", State: agent.Done, Verdict: run, Parameters: params(`{"path":"a","patterns":[{"old":"x","new":"y"}]}`),
		Preview: "--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-x\ty\n+z\u202e\n", Result: "changed a"}},
	{"long values", agent.Call{Tool: "fs_create_file", State: agent.Done, Verdict: run, Parameters: params(`{"path":"` + long + `","n":12345678901234567890,"content":"` + long + `"}`), Result: long}},
	{"hostile", agent.Call{Tool: "run_command", State: agent.Failed, Verdict: run,
		Parameters: params(`{"comm\u001b[2Jand":"ls \u001b[1A\u001b[K\u009b2J\r\u202e\u200b \\n rm"}`), Result: "a\x1b]8;;http://x\x07b\rc\u2028d"}},
	{"no arguments", agent.Call{Tool: "status", State: agent.Done, Verdict: run}},
}

// Proves D26-17, D26-18, Q7, H14, P23: calls in both forms, in every state.
func TestCallFrames(t *testing.T) {
	for name, style := range map[string]tui.Style{
		"calls.txt": {Width: 80}, "calls-json.txt": {Width: 80, Form: tui.AsJSON}, "calls-narrow.txt": {Width: 40, Plain: true}, "calls-colour.txt": {Width: 80, Color: true},
	} {
		var b strings.Builder
		for _, c := range calls {
			b.WriteString("-- " + c.name + " --\n" + strings.Join(style.Call(c.call), "\n") + "\n")
		}
		golden(t, name, strings.ReplaceAll(b.String(), "\x1b", "ESC"))
	}
}

// questions are questions of every kind.
var questions = []struct {
	name  string
	asked tui.Asked
}{
	{"streaming", tui.Asked{View: gate.View{Call: stopgate.Call{Tool: "fs_create_file"}, Verdict: ask}, Parameters: params(`{"path":"src/main.rs","content":"one\ntwo\nthree\nfour\nfi`)}},
	{"complete", tui.Asked{View: gate.View{Call: stopgate.Call{Tool: "fs_create_file"}, Verdict: ask, Complete: true}, Parameters: params(`{"path":"src/main.rs","replace":true,"content":"` + strings.Repeat(`a line\n`, 30) + `"}`)}},
	{"in full", tui.Asked{All: true, View: gate.View{Call: stopgate.Call{Tool: "fs_create_file"}, Verdict: ask, Complete: true}, Parameters: params(`{"path":"src/main.rs","content":"` + strings.Repeat(`a line\n`, 12) + `"}`)}},
	{"a change", tui.Asked{View: gate.View{Call: stopgate.Call{Tool: "fs_modify_file"}, Verdict: ask, Complete: true},
		Parameters: params(`{"path":"a","patterns":[{"old":"one two three","new":"four five six seven eight nine ten"}]}`), Preview: "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-one\n+four\n"}},
	{"asked again", tui.Asked{Fresh: []string{"mode"}, View: gate.View{Call: stopgate.Call{Tool: "fs_create_file"}, Complete: true, Verdict: stopgate.Verdict{
		Decided: true, Mode: stopgate.Ask, Code: stopgate.CodeRuleMatched, Floors: []stopgate.Floor{{Mode: stopgate.Ask, Code: stopgate.CodeProtectedTarget, Pointer: "/path"}}}},
		Parameters: params(`{"path":".git/config","mode":"0777"}`)}},
	{"edit", tui.Asked{View: gate.View{Call: stopgate.Call{Tool: "run_command"}, Complete: true, Verdict: stopgate.Verdict{Decided: true, Mode: stopgate.Edit, Code: stopgate.CodeRuleMatched, Public: "look before you deploy"}}, Parameters: params(`{"command":"make deploy"}`)}},
	{"a result", tui.Asked{View: gate.View{Call: stopgate.Call{Tool: "fs_read_file"}, Complete: true, OfResult: true, Result: strings.Repeat("KEY=1\n", 20), Verdict: ask}, Parameters: params(`{"path":"secrets/a"}`)}},
	{"no rule", tui.Asked{View: gate.View{Call: stopgate.Call{Tool: "x"}, Complete: true, Verdict: stopgate.Verdict{Decided: true, Mode: stopgate.Ask, Layer: stopgate.LayerRules, Code: stopgate.CodeNoRuleMatched}}}},
	{"hostile", tui.Asked{View: gate.View{Call: stopgate.Call{Tool: "run_command"}, Verdict: ask, Complete: true},
		Parameters: params(`{"command":"echo ok` + strings.Repeat(`\n`, 1000) + `rm -rf / \u001b[2J\u202e"}`)}},
}

// Proves D26-16, Q7, H14, P23: questions name the rule, the pointer and the value, and the parts
// that were not shown; a value is never shown only by its end.
func TestQuestionFrames(t *testing.T) {
	var b strings.Builder
	style := tui.Style{Width: 80}
	for _, q := range questions {
		b.WriteString("-- " + q.name + " --\n" + strings.Join(style.Question(q.asked), "\n") + "\n" + style.Keys(q.asked.View) + "\n")
	}
	golden(t, "questions.txt", b.String())
}

// Proves H14, I17: lines of a call contain no character that moves, hides or colours another one,
// and none is longer than the screen.
func TestFramesAreSafe(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\x00\x07\x08\x1b\r\n\t\u009b\u202e\u2066\u200b\ufeff\\\"漢")))).Draw(t, "text")
		p := []arguments.Parameter{
			{Name: text, JSON: rapid.SampledFrom([]string{`"a"`, `[1]`, `null`}).Draw(t, "json")}, {Name: "x", Head: text, Tail: text, Text: true, Bytes: int64(len(text))},
		}
		c := agent.Call{Tool: stopgate.ToolName(text), State: agent.CallState(rapid.IntRange(0, 5).Draw(t, "state")), Parameters: p, Result: text, Preview: text,
			Approval: &stopgate.Approval{By: text}, Verdict: stopgate.Verdict{Decided: true, Mode: stopgate.Mode(rapid.IntRange(0, 4).Draw(t, "mode")), Public: text, Pointer: text}}
		style := tui.Style{Width: rapid.IntRange(40, 120).Draw(t, "width"), Plain: rapid.Bool().Draw(t, "plain")}
		if rapid.Bool().Draw(t, "json form") {
			style.Form = tui.AsJSON
		}
		lines := style.Call(c)
		lines = append(lines, style.Question(tui.Asked{View: gate.View{Call: stopgate.Call{Tool: c.Tool}, Verdict: c.Verdict, Result: text, OfResult: rapid.Bool().Draw(t, "result")}, Parameters: p, Preview: text, Fresh: []string{text}, All: rapid.Bool().Draw(t, "all")})...)
		for _, l := range lines {
			for _, r := range l {
				if !unicode.IsPrint(r) {
					t.Fatalf("%U in %q", r, l)
				}
			}
			if n := columns(l); n > style.Width+1 {
				t.Fatalf("%d columns of %d: %q", n, style.Width, l)
			}
		}
	})
}

// columns counts the columns of a text as a terminal does.
func columns(text string) (n int) {
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case unicode.In(r, unicode.Han):
			n += 2
		default:
			n++
		}
	}
	return n
}
