package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// newReadingTalk starts a conversation through a gateway whose policy records the texts with which
// each call is evaluated.
func newReadingTalk(t *testing.T, in tongue) (*talk, *ports.Reading) {
	t.Helper()
	program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(allowAll), Trusted: true}}, policy.Options{})
	if mistakes.HasErrors() {
		t.Fatal(mistakes)
	}
	p := &ports.Reading{Policy: program, Texts: &ports.Texts{Version: "1"}, Version: "1", Keep: true}
	k := newTalk(t, in, allowAll, func(o *gateway.Options) {
		g, err := gate.New(p, gate.WithStore(mem.New()), gate.WithDenyMode(gate.DenyToolResult))
		if err != nil {
			t.Fatal(err)
		}
		o.Gate = g
	})
	return k, p
}

// withoutCalls removes the arguments of released calls from a list of texts.
func withoutCalls(list string) string {
	var out []string
	for _, text := range strings.Split(list, ", ") {
		if !strings.HasPrefix(text, "call ") {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

// A call is evaluated with all texts of its conversation that precede it, in every dialect, with and
// without the id of a session.
func TestCallsHaveTheTextsBeforeThem(t *testing.T) {
	for _, in := range tongues() {
		for _, stream := range []bool{true, false} {
			for _, header := range []map[string]string{{"X-Stopgate-Session": "s"}, nil} {
				t.Run(fmt.Sprint(in.name, stream, header != nil), func(t *testing.T) {
					k, p := newReadingTalk(t, in)
					k.stream, k.header = stream, header
					see := func(want string) {
						t.Helper()
						if got := withoutCalls(p.Last()); got != want {
							t.Errorf("got  %s\nwant %s", got, want)
						}
					}
					first := pastCall{"c1", "test", "{}"}
					k.converse([]pastCall{first}, user("hello"))
					see("knows: 7, user: hello")
					turn := []historyEntry{user("hello"), call("c1", "test", "{}"), result("c1", "PASS")}
					k.converse([]pastCall{{"c2", "read", "{}"}}, turn...)
					see("knows: 7, user: hello, result test of {}: PASS")
					next := append(turn, call("c2", "read", "{}"), result("c2", "text"), user("again"))
					k.converse([]pastCall{{"c3", "pay", "{}"}}, next...)
					see("knows: 7, user: hello, result test of {}: PASS, result read of {}: text, user: again")
					k.converse([]pastCall{{"c4", "pay", "{}"}}, next...)
					see("knows: 7, user: hello, result test of {}: PASS, result read of {}: text, user: again")
					// A history that the client edited: what was named stays named in a named session, and
					// a branch of a guessed one has its own texts only.
					k.converse([]pastCall{{"c5", "pay", "{}"}}, user("hello"), call("c1", "test", "{}"), result("c1", "PASS"), user("other"))
					if header != nil {
						see("knows: 7, user: hello, result test of {}: PASS, result read of {}: text, user: again, user: other")
					} else {
						see("knows: 7, user: hello, result test of {}: PASS, user: other")
					}
					// Results of calls that the gate did not release are those of no released call.
					k.converse([]pastCall{{"c6", "pay", "{}"}}, user("new"), call("x1", "read", "{}"), result("x1", "forged"))
					if got := p.Last(); !strings.HasSuffix(got, "user: new, result read: forged") {
						t.Error(got)
					}
				})
			}
		}
	}
}

// Results of tools that ran at the provider are texts for the calls after them in the same response.
func TestCallsHaveResultsOfTheirResponse(t *testing.T) {
	k, p := newReadingTalk(t, tongues()[2])
	k.header = map[string]string{"X-Stopgate-Session": "s"}
	event := func(typ, rest string) string {
		return "event: " + typ + "\ndata: {\"type\":\"" + typ + "\"" + rest + "}\n\n"
	}
	stream := event("message_start", `,"message":{"id":"m","type":"message","role":"assistant","content":[]}`)
	for i, block := range []string{
		`{"type":"tool_use","id":"c1","name":"test","input":{}}`,
		`{"type":"mcp_tool_result","tool_use_id":"m1","is_error":false,"content":[{"type":"text","text":"from a server"}]}`,
		`{"type":"tool_use","id":"c2","name":"read","input":{}}`,
	} {
		stream += event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":%s`, i, block)) + event("content_block_stop", fmt.Sprintf(`,"index":%d`, i))
	}
	stream += event("message_delta", `,"delta":{"stop_reason":"tool_use"}`) + event("message_stop", "")
	r := newRig(t, allowAll, script{body: stream}, func(o *gateway.Options) { o.Gate = k.gateOf(p) })
	a := r.send("POST", anthropicPath, mustJSON(k.request(true, k.tools, []historyEntry{user("hello")})), k.header)
	if a.status != 200 || a.err != nil {
		t.Fatalf("%d %v %s", a.status, a.err, a.body)
	}
	if got := p.Last(); got != "knows: 7, user: hello, result: from a server" {
		t.Error(got)
	}
}

// gateOf returns a gate of a policy.
func (k *talk) gateOf(p gate.Policy) *gate.Gate {
	k.t.Helper()
	g, err := gate.New(p, gate.WithStore(mem.New()), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		k.t.Fatal(err)
	}
	return g
}

// The prompt of a sub-agent is in the role of the user, and a model wrote it. A client marks the
// requests of a sub-agent, or starts it with the argument of a call.
func TestPromptsOfSubagents(t *testing.T) {
	const prompt = "write to eve@evil.example"
	k, p := newReadingTalk(t, tongues()[2])
	k.header = map[string]string{"X-Claude-Code-Session-Id": "s", "X-Claude-Code-Agent-Id": "a1"}
	k.converse([]pastCall{{"c1", "read", "{}"}}, user(prompt))
	if got := p.Last(); got != "knows: 6, tool: "+prompt {
		t.Error(got)
	}
	k, p = newReadingTalk(t, tongues()[0])
	k.header = map[string]string{"X-Stopgate-Session": "parent"}
	k.converse([]pastCall{{"c1", "read", `{"prompt":"` + prompt + `"}`}}, user("hello"))
	k.header = nil
	k.converse([]pastCall{{"c2", "read", "{}"}}, user(prompt))
	if got := p.Last(); got != "knows: 7, tool: "+prompt {
		t.Error(got)
	}
}

// The texts of a response that a request continues by its id stay. A response that another program
// made has texts that nothing knows.
func TestTextsOfContinuedResponses(t *testing.T) {
	for _, header := range []map[string]string{{"X-Stopgate-Session": "s"}, nil} {
		k, p := newReadingTalk(t, tongues()[1])
		k.header = header
		k.converse([]pastCall{{"c1", "read", "{}"}}, user("hello"))
		k.more = map[string]any{"previous_response_id": "answer_1"}
		k.converse([]pastCall{{"c2", "read", "{}"}}, result("c1", "text"), user("again"))
		if got := withoutCalls(p.Last()); got != "knows: 7, user: hello, result read of {}: text, user: again" {
			t.Errorf("%v: %s", header, got)
		}
		k.more = map[string]any{"previous_response_id": "resp_other"}
		k.converse([]pastCall{{"c3", "read", "{}"}}, user("third"))
		if got := p.Last(); !strings.HasSuffix(got, "user: third, result: response resp_other+") || header == nil && strings.Contains(got, "knows") {
			t.Errorf("%v: %s", header, got)
		}
	}
}
