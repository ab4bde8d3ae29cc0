package conversation_test

import (
	"reflect"
	"strings"
	"testing"

	. "github.com/stopgate/stopgate/internal/agent/conversation"
)

// log is a conversation with two responses and three calls.
var log = []Entry{
	{Kind: Begun, Dir: "/w"},
	{Kind: User, Text: "fix it"},
	{Kind: Reply, Parts: []Part{
		{Kind: Opaque, API: "anthropic", Raw: `{"type":"thinking"}`},
		{Kind: Text, Text: "I look."},
		{Kind: Call, ID: "1", Tool: "a", Args: `{"x":1}`},
		{Kind: Call, ID: "2", Tool: "b", Args: `{}`},
	}},
	{Kind: Started, Call: 0, Args: `{"x":2}`},
	{Kind: Result, Call: 0, Text: "one"},
	{Kind: Started, Call: 1},
	{Kind: Result, Call: 1, Text: "two", Failed: true},
	{Kind: Reply, Parts: []Part{{Kind: Call, ID: "1", Tool: "c", Args: `{}`}}},
	{Kind: Result, Call: 0, Text: "three"},
	{Kind: Reply, Parts: []Part{{Kind: Text, Text: " \n"}}},
	{Kind: User, Text: "and"},
	{Kind: User, Text: "now?"},
}

func TestMessages(t *testing.T) {
	want := []Message{
		{Role: FromUser, Text: "fix it"},
		{Role: FromModel, Parts: []Part{
			log[2].Parts[0], log[2].Parts[1], {Kind: Call, ID: "1", Tool: "a", Args: `{"x":2}`}, log[2].Parts[3],
		}},
		{Role: FromTools, Results: []CallResult{{ID: "1", Tool: "a", Text: "one"}, {ID: "2", Tool: "b", Text: "two", Failed: true}}},
		{Role: FromModel, Parts: log[7].Parts},
		{Role: FromTools, Results: []CallResult{{ID: "1", Tool: "c", Text: "three"}}},
		{Role: FromUser, Text: "and\n\nnow?"},
	}
	if got := Messages(log); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// Proves S7: wherever the process died, every call has one result, directly after its response, and
// only a call that had not started is reported as not run.
func TestEveryPrefixIsAValidHistory(t *testing.T) {
	for n := range len(log) + 1 {
		began := map[string]bool{}
		open := false
		for i, m := range Messages(log[:n]) {
			if (m.Role == FromTools) != open {
				t.Fatalf("after %d entries message %d is %+v", n, i, m)
			}
			open = false
			for _, p := range m.Parts {
				open = open || p.Kind == Call
			}
			if m.Role == FromModel && len(m.Parts) == 0 {
				t.Errorf("after %d entries message %d is empty", n, i)
			}
			for _, r := range m.Results {
				if strings.Contains(r.Text, "did not run") && began[r.Tool] || r.Text == "" {
					t.Errorf("after %d entries %+v", n, r)
				}
			}
		}
		if open {
			t.Errorf("after %d entries calls have no result", n)
		}
		for _, e := range log[:n] {
			if e.Kind == Started {
				began["ab"[e.Call:e.Call+1]] = true
			}
		}
		for _, m := range Messages(log[:n]) {
			for _, r := range m.Results {
				if began[r.Tool] && strings.Contains(r.Text, "did not run") {
					t.Errorf("after %d entries: %s began, and is said not to have run", n, r.Tool)
				}
			}
		}
	}
}

func TestOpen(t *testing.T) {
	for n, want := range map[int]bool{0: false, 1: false, 2: true, 3: true, 7: true, 8: true, 9: true, 11: true} {
		if got := Open(log[:n]); got != want {
			t.Errorf("after %d entries: %v", n, got)
		}
	}
	if Open([]Entry{{Kind: User, Text: "a"}, {Kind: Reply, Parts: []Part{{Kind: Text, Text: "b"}}}}) {
		t.Error("the person has to speak")
	}
}
