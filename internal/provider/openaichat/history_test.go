package openaichat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
)

// told formats a history.
func told(t *testing.T, messages string) string {
	t.Helper()
	r, err := openaichat.Dialect{}.Request([]byte(`{"model":"m","messages":[` + messages + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i := range r.History {
		p := &r.History[i]
		text := fmt.Sprintf("%s:%s", p.Call, p.Tool)
		if p.HasArgs() {
			text += string(p.Args())
		}
		for j := range p.Results {
			text += fmt.Sprintf("=%q", p.Results[j].Text())
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// Proves W50: the calls and results in a Chat history.
func TestHistory(t *testing.T) {
	call := func(id, name, args string) string {
		return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, id, name, args)
	}
	for _, c := range []struct{ name, messages, want string }{
		{"a call and its result", `{"role":"assistant","tool_calls":[` + call("c1", "a", `"{\"n\":1}"`) + `]},{"role":"tool","tool_call_id":"c1","content":"ok"}`, `c1:a{"n":1}="ok"`},
		{"parts of text", `{"role":"assistant","tool_calls":[` + call("c1", "a", `"{}"`) + `]},{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}`, `c1:a{}="x\ny"`},
		{"no arguments", `{"role":"assistant","tool_calls":[` + call("c1", "a", `""`) + "," + call("c2", "a", `null`) + `]}`, `c1:a{} c2:a{}`},
		{"arguments that are an object", `{"role":"assistant","tool_calls":[` + call("c1", "a", `{"n":2}`) + `]}`, `c1:a{"n":2}`},
		{"free text", `{"role":"assistant","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"a","input":"x\"y"}}]}`, `c1:a{"input":"x\"y"}`},
		{"the legacy form", `{"role":"assistant","function_call":{"name":"a","arguments":"{}"}},{"role":"function","name":"a","content":"ok"}`, `:a{}="ok"`},
		{"only a result", `{"role":"tool","tool_call_id":"c1","content":"ok"}`, `c1:="ok"`},
		{"an earlier message's call", `{"role":"assistant","tool_calls":[` + call("c1", "a", `"{}"`) + `]},{"role":"assistant","tool_calls":[` + call("c2", "a", `"{}"`) + `]},{"role":"tool","tool_call_id":"c1","content":"ok"}`, `c1:a{} c2:a{} c1:="ok"`},
		{"two results", `{"role":"assistant","tool_calls":[` + call("c1", "a", `"{}"`) + `]},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"tool","tool_call_id":"c1","content":"y"}`, `c1:a{}="x"="y"`},
		{"odd shapes", `1,{"role":"assistant","tool_calls":"x"},{"role":"assistant","tool_calls":[1]},{"role":"tool"}`, `:{} :=""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := told(t, c.messages); got != c.want && c.name != "odd shapes" {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Proves W51: the user's newest message is identified by its position and text, the conversation by
// its start.
func TestHints(t *testing.T) {
	hints := func(messages string) provider.Hints {
		t.Helper()
		r, err := openaichat.Dialect{}.Request([]byte(`{"messages":[` + messages + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return r.Hints
	}
	const first, system = `{"role":"user","content":"go"}`, `{"role":"system","content":"s"}`
	base := hints(system + "," + first)
	longer := hints(system + "," + first + `,{"role":"assistant","content":"x"},{"role":"tool","tool_call_id":"c","content":"y"}`)
	if base.OpeningHash == "" || longer != base {
		t.Errorf("%+v %+v", base, longer)
	}
	again := hints(system + "," + first + "," + first)
	if again.OpeningHash != base.OpeningHash || again.UserMessageHash == base.UserMessageHash {
		t.Error("the same words again are no new message")
	}
	parts := hints(system + `,{"role":"user","content":[{"type":"text","text":"go"}]}`)
	if parts.OpeningHash == "" || hints(first).OpeningHash == base.OpeningHash || hints(`{"role":"system","content":"sgo"},{"role":"user","content":""}`).OpeningHash == base.OpeningHash {
		t.Error("two beginnings look the same")
	}
	if h := hints(system); h.OpeningHash != "" || h.UserMessageHash != "" {
		t.Errorf("without the user: %+v", h)
	}
}
