package agent

import (
	"testing"

	"github.com/stopgate/stopgate/internal/agent/conversation"
)

// The texts of a conversation are rebuilt from its log: results of calls that ran, with the arguments
// that ran, and none of calls that were refused.
func TestTextsOfLog(t *testing.T) {
	a := &Agent{Options: Options{System: "be kind"}, entries: []conversation.Entry{
		{Kind: conversation.Begun},
		{Kind: conversation.User, Text: "hello"},
		{Kind: conversation.Reply, Parts: []conversation.Part{
			{Kind: conversation.Text, Text: "I look"}, {Kind: conversation.Call, ID: "c1", Tool: "read", Args: `{"path":"a"}`}, {Kind: conversation.Call, ID: "c2", Tool: "write", Args: `{}`},
		}},
		{Kind: conversation.Started, Call: 1, Args: `{"path":"b"}`},
		{Kind: conversation.Result, Call: 1, Text: "words"},
		{Kind: conversation.Result, Call: 2, Text: "denied", Failed: true},
		{Kind: conversation.User, Text: "go on"},
	}}
	var got string
	for _, text := range a.texts() {
		if m := text.Message; m != nil {
			got += string(m.Source) + ":" + string(m.Text) + "\n"
			continue
		}
		r := text.Result
		got += string(r.Tool) + " " + string(r.Call) + " " + string(r.Args) + ":" + string(r.Data) + "\n"
		if !r.Released {
			t.Errorf("%s is not released", r.Tool)
		}
	}
	if want := "system:be kind\nuser:hello\nread c1 {\"path\":\"b\"}:words\nuser:go on\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
