package openairesponses_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/internal/testkit/codec"
)

// script writes a stream as the provider does: numbered, with all copies.
type script struct {
	b     strings.Builder
	seq   int
	n     int // number of items
	final []string
}

func (s *script) event(typ, members string, args ...any) *script {
	fmt.Fprintf(&s.b, "event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,%s}\n\n", typ, typ, s.seq, fmt.Sprintf(members, args...))
	s.seq++
	return s
}

func begin() *script {
	s := &script{}
	s.event("response.created", `"response":{"id":"resp_1","model":"m","status":"in_progress","output":[],"tools":[{"type":"function","name":"a"}]}`)
	return s.event("response.in_progress", `"response":{"id":"resp_1","status":"in_progress","output":[]}`)
}

// added and done frame an item; the caller writes the events in between.
func (s *script) added(item string) *script {
	s.event("response.output_item.added", `"output_index":%d,"item":%s`, s.n, item)
	s.n++
	return s
}

func (s *script) done(item string) *script { return s.doneAt(s.n-1, item) }

func (s *script) doneAt(i int, item string) *script {
	s.final = append(s.final, item)
	return s.event("response.output_item.done", `"output_index":%d,"item":%s`, i, item)
}

func (s *script) delta(i int, id, text string) *script {
	return s.event("response.function_call_arguments.delta", `"output_index":%d,"item_id":%q,"delta":%s,"obfuscation":"xy"`, i, id, quote(text))
}

func (s *script) whole(i int, id, text string) *script {
	return s.event("response.function_call_arguments.done", `"output_index":%d,"item_id":%q,"arguments":%s`, i, id, quote(text))
}

func function(name, args string) string {
	return fmt.Sprintf(`{"id":"fc_%s","type":"function_call","status":"completed","call_id":"call_%s","name":%q,"arguments":%s}`, name, name, name, quote(args))
}

// call writes a complete call with all copies, in two deltas.
func (s *script) call(name, args string) *script {
	half := len(args) / 2
	return s.added(function(name, "")).delta(s.n-1, "fc_"+name, args[:half]).delta(s.n-1, "fc_"+name, args[half:]).
		whole(s.n-1, "fc_"+name, args).done(function(name, args))
}

func message(text string) string {
	return `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":` + quote(text) + `}]}`
}

// say writes a message item.
func (s *script) say(text string) *script {
	s.added(`{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}`)
	s.event("response.content_part.added", `"item_id":"msg_1","output_index":%d,"content_index":0,"part":{"type":"output_text","text":""}`, s.n-1)
	for _, piece := range strings.SplitAfter(text, " ") {
		s.event("response.output_text.delta", `"item_id":"msg_1","output_index":%d,"content_index":0,"delta":%s`, s.n-1, quote(piece))
	}
	return s.done(message(text))
}

const reasoning = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAAA=="}`

// item writes an item without events of its own.
func (s *script) item(item string) *script { return s.added(item).done(item) }

func (s *script) end(typ string) string {
	s.event(typ, `"response":{"id":"resp_1","status":%q,"output":[%s],"usage":{"output_tokens":9}}`, strings.TrimPrefix(typ, "response."), strings.Join(s.final, ","))
	return s.b.String()
}

func (s *script) completed() string { return s.end("response.completed") }

// request declares the tools of the test cases.
func request(t testing.TB) *provider.Request {
	t.Helper()
	r, err := openairesponses.Dialect{}.Request([]byte(`{"model":"m","stream":true,"input":"x","tools":[
		{"type":"function","name":"a"},{"type":"function","name":"b"},{"type":"custom","name":"c"},{"type":"function","name":"twice"},{"type":"function","name":"twice"},
		{"type":"shell"},{"type":"local_shell"},{"type":"apply_patch"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func codes(g *codec.Gate) string {
	var list []string
	for _, c := range g.Calls {
		if c.Code == "" {
			list = append(list, "allowed")
		} else {
			list = append(list, string(c.Code))
		}
	}
	return strings.Join(list, " ")
}

// Items of every kind of call, before their arguments and complete.
const (
	customCall = `{"id":"ctc_1","type":"custom_tool_call","status":"completed","call_id":"call_c","name":"c","input":"*** Begin\n\"x\""}`
	localShell = `{"id":"lsh_1","type":"local_shell_call","status":"completed","call_id":"call_l","action":{"type":"exec","command":["ls","-l"],"env":{}}}`
	shellCall  = `{"id":"sh_1","type":"shell_call","status":"completed","call_id":"call_s","action":{"commands":["ls","pwd"],"timeout_ms":null}}`
	patchCall  = `{"id":"ap_1","type":"apply_patch_call","status":"completed","call_id":"call_p","operation":{"type":"update_file","path":"a","diff":"@@\n+x"}}`
	approval   = `{"id":"mcpr_1","type":"mcp_approval_request","server_label":"s","name":"n","arguments":"{}"}`
	computer   = `{"id":"cu_1","type":"computer_call","call_id":"call_cu","action":{"type":"click"}}`
	foo        = `{"id":"foo_1","type":"foo_call","call_id":"call_f","name":"foo"}`
)

func (s *script) custom() *script {
	s.added(strings.Replace(customCall, `"*** Begin\n\"x\""`, `""`, 1))
	for _, piece := range []string{"*** Be", "gin\n\"", `x"`} {
		s.event("response.custom_tool_call_input.delta", `"output_index":%d,"item_id":"ctc_1","delta":%s`, s.n-1, quote(piece))
	}
	s.event("response.custom_tool_call_input.done", `"output_index":%d,"item_id":"ctc_1","input":%s`, s.n-1, quote("*** Begin\n\"x\""))
	return s.done(customCall)
}

func (s *script) shell() *script {
	s.added(strings.Replace(shellCall, `["ls","pwd"]`, `[]`, 1))
	for i, command := range []string{"ls", "pwd"} {
		s.event("response.shell_call_command.added", `"output_index":%d,"command_index":%d,"command":""`, s.n-1, i)
		s.event("response.shell_call_command.delta", `"output_index":%d,"command_index":%d,"delta":%q`, s.n-1, i, command)
		s.event("response.shell_call_command.done", `"output_index":%d,"command_index":%d,"command":%q`, s.n-1, i, command)
	}
	return s.done(shellCall)
}

func (s *script) patch() *script {
	s.added(strings.Replace(patchCall, `"@@\n+x"`, `""`, 1))
	s.event("response.apply_patch_call_operation_diff.delta", `"output_index":%d,"item_id":"ap_1","delta":"@@\n+x"`, s.n-1)
	s.event("response.apply_patch_call_operation_diff.done", `"output_index":%d,"item_id":"ap_1","diff":"@@\n+x"`, s.n-1)
	return s.done(patchCall)
}

// everyKind returns a response with every kind of item.
func everyKind() *script {
	s := begin().item(reasoning).say("hello there").call("a", `{"path":"x"}`).custom()
	return s.item(localShell).shell().patch().item(reasoning).say("and more").call("b", "{}")
}

// Proves W40, W41, W42, W45, L4, L5, F7, F8: every kind of call is forwarded unchanged if allowed,
// and each is replaced by one item if denied, in the stream and in the final response, while
// everything else keeps its bytes.
func TestEveryKindOfCall(t *testing.T) {
	upstream := everyKind().completed()
	want, err := read(upstream, true)
	if err != nil {
		t.Fatal(err)
	}
	r := play(t, codec.NewGate(t), request(t), provider.Options{}, upstream)
	got := legal(t, r)
	if r.Err != nil || got.show() != want.show() || besides(r.Out) != besides(upstream) {
		t.Errorf("%v, the client has\n%swant\n%s\n%s", r.Err, got.show(), want.show(), r.Out)
	}
	tools := []string{"a", "c", "openai.local_shell", "openai.shell", "openai.apply_patch", "b"}
	for i, tool := range tools {
		g := codec.NewGate(t, tool)
		r := play(t, g, request(t), provider.Options{}, upstream)
		m := legal(t, r)
		if string(g.Calls[i].Tool) != tool || len(m.denied()) != 1 || len(m.calls()) != 5 || !strings.Contains(m.denied()[0], "`"+tool+"`") {
			t.Errorf("%s: the client has\n%s", tool, m.show())
		}
		if besides(r.Out) == besides(upstream) || strings.Count(r.Out, `"encrypted_content":"gAAAA=="`) != 6 {
			t.Errorf("%s: reasoning changed", tool)
		}
	}
	g := codec.NewGate(t)
	g.DenyAll = true
	m := legal(t, play(t, g, request(t), provider.Options{}, upstream))
	if len(m.calls()) != 0 || len(m.denied()) != 6 || m.end != "response.completed" || m.usage != `{"output_tokens":9}` {
		t.Errorf("all denied: the client has\n%s", m.show())
	}
}

// Proves W45, L14, S57: items of a kind that cannot be judged are denied individually, whatever the
// policy; listed ones are allowed and noted.
func TestUnknownItems(t *testing.T) {
	for _, item := range []string{approval, computer, foo, `{"id":"t","type":"tool_search_call","execution":"client","call_id":"c"}`, `{"id":"x","type":"Function_call"}`, `{"id":"y"}`} {
		r := play(t, codec.NewGate(t), request(t), provider.Options{}, begin().item(item).call("a", "{}").completed())
		m := legal(t, r)
		if codes(r.Gate) != "policy_not_configured allowed" || len(m.denied()) != 1 || len(m.calls()) != 1 {
			t.Errorf("%s: %s\n%s", item, codes(r.Gate), m.show())
		}
	}
	upstream := begin().item(foo).item(`{"id":"ws","type":"web_search_call","status":"completed"}`).completed()
	r := play(t, codec.NewGate(t), request(t), provider.Options{PassItems: []string{"foo_call"}}, upstream)
	if r.Out != upstream || strings.Join(r.Notes.NotEvaluated, " ") != "foo_call web_search_call" {
		t.Errorf("noted %v\n%s", r.Notes.NotEvaluated, r.Out)
	}
	container := strings.Replace(shellCall, `"action"`, `"environment":{"type":"container_reference"},"action"`, 1)
	upstream = begin().item(container).completed()
	hosted, err := openairesponses.Dialect{}.Request([]byte(`{"model":"m","stream":true,"input":"x","tools":[{"type":"shell","environment":{"type":"container_auto"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if r := play(t, codec.NewGate(t), hosted, provider.Options{}, upstream); r.Out != upstream || len(r.Gate.Calls) != 0 {
		t.Errorf("a shell at the provider\n%s", r.Out)
	}
	// An item cannot declare by itself that a shell runs at the provider.
	if r := play(t, codec.NewGate(t), request(t), provider.Options{}, upstream); len(r.Gate.Calls) != 1 || r.Gate.Calls[0].Tool != "openai.shell" {
		t.Errorf("a shell that only the answer calls the provider's\n%s", r.Out)
	}
}

// Proves W43, W44, F2, F3, F8, F10, L5, L6: calls that are refused individually, while the response
// continues. The other call of each response is complete.
func TestRefusedCalls(t *testing.T) {
	a := func() *script { return begin().added(function("a", "")).delta(0, "fc_a", `{"path":"x"}`) }
	const whole = `{"path":"x"}`
	other := function("a", `{"path":"y"}`)
	for _, c := range []struct {
		name string
		in   *script
		code string
		o    provider.Options
	}{
		{name: "another text at its end", in: a().whole(0, "fc_a", `{"path":"y"}`).done(function("a", whole)), code: "envelope_mismatch"},
		{name: "the same value in another spelling", in: a().whole(0, "fc_a", `{ "path":"x"}`).done(function("a", whole)), code: "envelope_mismatch"},
		{name: "another item at its end", in: a().whole(0, "fc_a", whole).done(other), code: "envelope_mismatch"},
		{name: "no event at its end", in: a().done(function("a", whole)), code: "allowed"},
		{name: "no delta", in: begin().added(function("a", "")).whole(0, "fc_a", whole).done(function("a", whole)), code: "allowed"},
		{name: "neither", in: begin().added(function("a", "")).done(function("a", whole)), code: "allowed"},
		{name: "all of it in the first event", in: begin().added(function("a", whole)).done(function("a", whole)), code: "allowed"},
		{name: "something else in the first event", in: begin().added(function("a", `{}`)).done(function("a", whole)), code: "envelope_mismatch"},
		{name: "no arguments in the first event", in: begin().added(strings.Replace(function("a", ""), `,"arguments":""`, "", 1)).delta(0, "fc_a", whole).done(function("a", whole)), code: "allowed"},
		{name: "no arguments in the item", in: a().done(strings.Replace(function("a", ""), `,"arguments":""`, "", 1)), code: "protocol_violation"},
		{name: "empty arguments", in: begin().added(function("a", "")).delta(0, "fc_a", "").whole(0, "fc_a", "").done(function("a", "")), code: "allowed"},
		{name: "an empty item behind deltas", in: a().done(function("a", "")), code: "envelope_mismatch"},
		{name: "arguments that are an object", in: a().done(strings.Replace(function("a", "X"), `"X"`, `{"path":"x"}`, 1)), code: "protocol_violation"},
		{name: "a delta behind the end", in: a().whole(0, "fc_a", whole).delta(0, "fc_a", ",").done(function("a", whole)), code: "trailing_data"},
		{name: "another name", in: a().done(strings.Replace(function("a", whole), `"name":"a"`, `"name":"b"`, 1)), code: "envelope_mismatch"},
		{name: "another id", in: a().done(strings.Replace(function("a", whole), "call_a", "call_z", 1)), code: "envelope_mismatch"},
		{name: "another item id", in: a().done(strings.Replace(function("a", whole), "fc_a", "fc_z", 1)), code: "envelope_mismatch"},
		{name: "another namespace", in: a().done(strings.Replace(function("a", whole), `"name"`, `"namespace":"n","name"`, 1)), code: "envelope_mismatch"},
		{name: "another name at its end", in: a().event("response.function_call_arguments.done", `"output_index":0,"name":"b","arguments":"{\"path\":\"x\"}"`).done(function("a", whole)), code: "envelope_mismatch"},
		{name: "an incomplete item", in: a().done(strings.Replace(function("a", whole), "completed", "incomplete", 1)), code: "stream_truncated"},
		{name: "no status", in: a().done(strings.Replace(function("a", whole), `"status":"completed",`, "", 1)), code: "allowed"},
		{name: "never finished", in: a(), code: "protocol_violation"},
		{name: "cut arguments", in: begin().call("a", `{"path":"x`), code: "truncated_arguments"},
		{name: "arguments that are no object", in: begin().call("a", `[1]`), code: "non_object_root"},
		{name: "no name", in: begin().item(strings.Replace(function("a", whole), `"name":"a"`, `"name":""`, 1)), code: "protocol_violation"},
		{name: "no id", in: begin().item(strings.Replace(function("a", whole), `"call_a"`, `""`, 1)), code: "protocol_violation"},
		{name: "a name that was declared twice", in: begin().item(strings.Replace(function("a", whole), `"name":"a"`, `"name":"twice"`, 1)), code: "policy_not_configured"},
		{name: "a number for a delta", in: a().event("response.function_call_arguments.delta", `"output_index":0,"delta":1`).done(function("a", whole)), code: "protocol_violation"},
		{name: "free text for a function", in: a().event("response.custom_tool_call_input.delta", `"output_index":0,"delta":"x"`).done(function("a", whole)), code: "protocol_violation"},
		{name: "another command", in: begin().added(shellCall).event("response.shell_call_command.delta", `"output_index":0,"command_index":1,"delta":"rm"`).done(shellCall), code: "envelope_mismatch"},
		{name: "another command at its end", in: begin().added(shellCall).event("response.shell_call_command.done", `"output_index":0,"command_index":1,"command":"rm"`).done(shellCall), code: "envelope_mismatch"},
		{name: "a command that changes", in: begin().added(shellCall).event("response.shell_call_command.delta", `"output_index":0,"command_index":0,"delta":"ls"`).event("response.shell_call_command.done", `"output_index":0,"command_index":0,"command":"rm"`).done(shellCall), code: "envelope_mismatch"},
		{name: "a command without a number", in: begin().added(shellCall).event("response.shell_call_command.delta", `"output_index":0,"command_index":-1,"delta":"ls"`).done(shellCall), code: "protocol_violation"},
		{name: "a command far out", in: begin().added(shellCall).event("response.shell_call_command.delta", `"output_index":0,"command_index":99999,"delta":"ls"`).done(shellCall), code: "limit_exceeded"},
		{name: "another diff", in: begin().added(patchCall).event("response.apply_patch_call_operation_diff.done", `"output_index":0,"diff":"+y"`).done(patchCall), code: "envelope_mismatch"},
		{name: "an action that is a list", in: begin().item(strings.Replace(shellCall, `{"commands":["ls","pwd"],"timeout_ms":null}`, `[]`, 1)), code: "protocol_violation"},
		{name: "a large item", in: begin().item(strings.Replace(function("a", whole), `"id"`, `"x":"`+strings.Repeat("x", 900)+`","id"`, 1)), o: provider.Options{MaxBuffered: 900}, code: "limit_exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if len(c.in.final) == 0 {
				c.in.final = append(c.in.final, function("a", whole))
			}
			r := play(t, codec.NewGate(t), request(t), c.o, c.in.call("b", "{}").completed())
			m := legal(t, r)
			if r.Err != nil || codes(r.Gate) != c.code+" allowed" {
				t.Fatalf("error %v, %s, want %s\n%s", r.Err, codes(r.Gate), c.code, r.Gate.Log.String())
			}
			if want := map[bool]int{true: 0, false: 1}[c.code == "allowed"]; len(m.denied()) != want {
				t.Errorf("the client has\n%s", m.show())
			}
		})
	}
	twins := begin().call("a", "{}")
	twins.added(strings.Replace(function("b", ""), "call_b", "call_a", 1)).done(strings.Replace(function("b", "{}"), "call_b", "call_a", 1))
	r := play(t, codec.NewGate(t), request(t), provider.Options{}, twins.completed())
	if legal(t, r); codes(r.Gate) != "protocol_violation protocol_violation" {
		t.Errorf("one id in two calls: %s", codes(r.Gate))
	}
	r = play(t, codec.NewGate(t), request(t), provider.Options{MaxCalls: 1}, begin().call("a", "{}").call("b", "{}").completed())
	if legal(t, r); codes(r.Gate) != "allowed limit_exceeded" {
		t.Errorf("two calls of one: %s", codes(r.Gate))
	}
}

// Proves W43, L5, F8: the final response is a copy, too. A different one denies the call, a call
// that is only there is judged and written, and an empty one is ignored.
func TestTerminalCopies(t *testing.T) {
	for _, c := range []struct {
		name  string
		final []string
		codes string
		items int // in the client's stream
	}{
		{"equal", []string{function("a", "{}")}, "allowed", 1},
		{"empty", nil, "allowed", 1},
		{"other arguments", []string{function("a", `{"path":"x"}`)}, "envelope_mismatch", 1},
		{"another name", []string{strings.Replace(function("a", "{}"), `"name":"a"`, `"name":"b"`, 1)}, "envelope_mismatch", 1},
		{"no arguments", []string{strings.Replace(function("a", ""), `,"arguments":""`, "", 1)}, "protocol_violation", 1},
		{"a call more", []string{function("a", "{}"), function("b", `{"path":"x"}`)}, "allowed allowed", 2},
		{"a custom call more", []string{function("a", "{}"), customCall}, "allowed allowed", 2},
		{"a shell call more", []string{function("a", "{}"), shellCall}, "allowed allowed", 2},
		{"an incomplete call more", []string{function("a", "{}"), strings.Replace(function("b", "{}"), "completed", "incomplete", 1)}, "allowed stream_truncated", 2},
		{"a message more, and a call", []string{function("a", "{}"), message("x"), function("b", `{"path":"x"}`)}, "allowed allowed", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begin().call("a", "{}")
			s.final = c.final
			r := play(t, codec.NewGate(t), request(t), provider.Options{}, s.completed())
			m, err := read(r.Out, true)
			if err != nil || codes(r.Gate) != c.codes || len(m.items) != c.items || len(m.final) != len(c.final) {
				t.Errorf("%v: %s\n%s", err, codes(r.Gate), m.show())
			}
			denied := play(t, codec.NewGate(t, "a", "b", "c", "openai.shell"), request(t), provider.Options{}, s.b.String())
			if call := anyCall(denied.Out); call != "" {
				t.Errorf("denied, and there is %s", call)
			}
			if _, err := read(denied.Out, true); err != nil {
				t.Error(err)
			}
		})
	}
}

// Proves W44, L6, L10, F10, F11: a response without a regular end releases no call, and ends once.
func TestAbnormalEnds(t *testing.T) {
	for _, c := range []struct {
		name, in, end string
		code          stopgate.Code
	}{
		{"incomplete", begin().call("a", "{}").end("response.incomplete"), "response.incomplete", ""},
		{"failed", begin().call("a", "{}").end("response.failed"), "response.failed", ""},
		{"completed in name only", strings.Replace(begin().call("a", "{}").completed(), `"status":"completed","output"`, `"status":"incomplete","output"`, 1), "response.completed", ""},
		{"an error", begin().call("a", "{}").event("error", `"code":"x","message":"y","param":null`).b.String(), "error", ""},
		{"no end", begin().call("a", "{}").b.String(), "error", stopgate.CodeStreamTruncated},
		{"an end without its blank line", strings.TrimSuffix(begin().call("a", "{}").completed(), "\n"), "error", stopgate.CodeStreamTruncated},
		{"nothing", "", "error", stopgate.CodeStreamTruncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := play(t, codec.NewGate(t), request(t), provider.Options{}, c.in)
			m := legal(t, r)
			if m.end != c.end || len(m.calls()) > 0 || anyCall(r.Out) != "" || c.code != "" && r.Err.(*provider.StreamError).Code != c.code {
				t.Errorf("%v\n%s", r.Err, r.Out)
			}
		})
	}
	late := begin().call("a", "{}").completed()
	r := play(t, codec.NewGate(t), request(t), provider.Options{}, late+begin().call("b", "{}").completed()+"data: [DONE]\n\n")
	if m := legal(t, r); len(m.calls()) != 1 || r.Notes.Dropped != 8 || m.items == nil {
		t.Errorf("%d events were dropped\n%s", r.Notes.Dropped, r.Out)
	}
}

// Proves F12, F14, L6, L13, L14, W23: streams that break the dialect's laws end with one error, and
// none of their calls is released.
func TestMalformedStreams(t *testing.T) {
	data := func(s string) string { return "data: " + s + "\n\n" }
	start := begin().b.String()
	for _, c := range []struct {
		name, in string
		code     stopgate.Code
		o        provider.Options
	}{
		{name: "not JSON", in: start + data("x")},
		{name: "an early end", in: start + data("[DONE]")},
		{name: "twice the same member", in: start + data(`{"type":"x","type":"y"}`)},
		{name: "no type", in: start + data(`{"output_index":0}`)},
		{name: "a type that is no string", in: start + data(`{"type":1}`)},
		{name: "another name than the type", in: start + "event: x\n" + data(`{"type":"response.completed","response":{}}`)},
		{name: "another case", in: start + data(`{"type":"x","Item":{}}`)},
		{name: "another case in an item", in: begin().added(`{"type":"message","Type":"function_call"}`).b.String()},
		{name: "another case in the response", in: start + data(`{"type":"response.completed","response":{"Output":[]}}`)},
		{name: "an output that is no list", in: start + data(`{"type":"response.completed","response":{"output":{}}}`)},
		{name: "an output of strings", in: start + data(`{"type":"response.completed","response":{"output":["x"]}}`)},
		{name: "two beginnings and a call", in: start + start + data(`{"type":"response.output_item.added","output_index":0,"item":`+function("a", "")+`}`)},
		{name: "a beginning without a response", in: data(`{"type":"response.created"}`)},
		{name: "a call in the beginning", in: data(`{"type":"response.created","response":{"output":[` + function("a", "{}") + `]}}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a call in an error", in: start + data(`{"type":"error","response":{"output":[`+function("a", "{}")+`]}}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a call beside an end", in: start + data(`{"type":"response.completed","response":{},"item":`+function("a", "{}")+`}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a call beside an item", in: start + data(`{"type":"response.output_item.added","output_index":0,"item":`+reasoning+`,"response":{"output":[`+function("a", "{}")+`]}}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a call in front of the beginning", in: data(`{"type":"response.output_item.added","output_index":0,"item":` + function("a", "") + `}`)},
		{name: "a call behind an item in front of the beginning", in: data(`{"type":"response.output_item.added","output_index":0,"item":`+reasoning+`}`) + data(`{"type":"response.output_item.added","output_index":1,"item":`+function("a", "")+`}`)},
		{name: "an end with a call in front of the beginning", in: data(`{"type":"response.completed","response":{"output":[` + function("a", "{}") + `]}}`)},
		{name: "an end without a response", in: start + data(`{"type":"response.completed"}`)},
		{name: "no position", in: start + data(`{"type":"response.output_item.added","item":`+reasoning+`}`)},
		{name: "a position that is no number", in: start + data(`{"type":"response.output_item.added","output_index":"0","item":`+reasoning+`}`)},
		{name: "a gap", in: start + data(`{"type":"response.output_item.added","output_index":1,"item":`+reasoning+`}`)},
		{name: "an item that is no object", in: begin().added(`"x"`).b.String()},
		{name: "a delta without an item", in: begin().delta(0, "fc_a", "{}").b.String()},
		{name: "a text without an item", in: start + data(`{"type":"response.output_text.delta","output_index":0,"delta":"x"}`)},
		{name: "a delta of another item", in: begin().added(function("a", "")).delta(0, "fc_b", "{}").b.String()},
		{name: "a delta behind the item", in: begin().call("a", "{}").delta(0, "fc_a", "{}").b.String()},
		{name: "two ends of an item", in: begin().call("a", "{}").done(function("a", "{}")).b.String()},
		{name: "the end of no item", in: begin().doneAt(0, function("a", "{}")).b.String()},
		{name: "arguments in a message", in: begin().added(message("")).delta(0, "msg_1", "{}").b.String(), code: stopgate.CodePolicyNotConfigured},
		{name: "a message that becomes a call", in: begin().added(message("")).done(function("a", "{}")).b.String(), code: stopgate.CodePolicyNotConfigured},
		{name: "a call in an unknown event", in: start + data(`{"type":"response.new","item":`+function("a", "{}")+`}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a call as a part", in: begin().added(message("")).b.String() + data(`{"type":"response.content_part.added","output_index":0,"part":`+function("a", "{}")+`}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a call in an event that is a response", in: start + data(`{"type":"response","output":[`+reasoning+`,`+function("a", "{}")+`]}`), code: stopgate.CodePolicyNotConfigured},
		{name: "an output behind a NUL", in: start + data(`{"type":"response.completed","response":{"output\u0000":[1]}}`)},
		{name: "a call in a report", in: start + data(`{"type":"response.in_progress","response":{"output":[`+function("a", "{}")+`]}}`), code: stopgate.CodePolicyNotConfigured},
		{name: "other items at the end", in: begin().call("a", "{}").event("response.completed", `"response":{"output":[%s]}`, reasoning).b.String()},
		{name: "a call for a message at the end", in: begin().say("x").event("response.completed", `"response":{"output":[%s]}`, function("a", "{}")).b.String()},
		{name: "a large event", in: begin().say(strings.Repeat("x", 900)).b.String(), o: provider.Options{MaxBytes: 400}, code: stopgate.CodeLimitExceeded},
		{name: "a large event like the one before", in: begin().say("x " + strings.Repeat("x", 900)).b.String(), o: provider.Options{MaxBytes: 400}, code: stopgate.CodeLimitExceeded},
		{name: "much text behind a call", in: begin().call("a", "{}").say(strings.Repeat("x ", 90)).b.String(), o: provider.Options{MaxBuffered: 1500}, code: stopgate.CodeLimitExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.code == "" {
				c.code = stopgate.CodeEnvelopeMismatch
			}
			r := play(t, codec.NewGate(t), request(t), c.o, c.in+begin().completed())
			legal(t, r)
			e, ok := r.Err.(*provider.StreamError)
			if !ok || e.Code != c.code {
				t.Fatalf("error %v, want %s", r.Err, c.code)
			}
			if !strings.Contains(r.Out, "event: error\n") || !strings.Contains(r.Out, `"code":"`+string(c.code)+`"`) || anyCall(r.Out) != "" {
				t.Errorf("the client has\n%s", r.Out)
			}
		})
	}
}

// Proves L12, L2, S17: unknown events are forwarded and listed; other events about a held call are
// dropped; keepalives have numbers of the gate.
func TestOtherEvents(t *testing.T) {
	s := begin().event("response.new", `"delta":"x"`).event("response.newer", `"x":1`).added(function("a", ""))
	s.event("response.about", `"output_index":0,"delta":"secret"`).event("response.about", `"item_id":"fc_a","delta":"secret"`).event("response.newest", `"delta":"z"`)
	r := play(t, codec.NewGate(t), request(t), provider.Options{}, s.delta(0, "fc_a", "{}").done(function("a", "{}")).completed())
	m := legal(t, r)
	if strings.Join(r.Notes.NotEvaluated, " ") != "response.new response.newest" || r.Notes.Dropped != 2 || strings.Contains(r.Out, "secret") || len(m.calls()) != 1 {
		t.Errorf("noted %v, dropped %d\n%s", r.Notes.NotEvaluated, r.Notes.Dropped, r.Out)
	}
	st := openairesponses.Dialect{}.Stream(request(t), codec.NewGate(t), provider.Options{})
	var out []byte
	send := func(text string) {
		d := sse.NewDecoder(nil, sse.Limits{})
		d.Feed([]byte(text))
		var ev sse.Event
		for {
			if ok, _ := d.Next(&ev); !ok {
				return
			}
			out, _, _ = st.Event(out, &ev)
		}
	}
	if got := string(st.Keepalive(nil, true)); got != ": stopgate\n" {
		t.Errorf("before the beginning: %q", got)
	}
	send(begin().call("a", "{}").b.String())
	if got := string(st.Keepalive(nil, false)); got != ": stopgate\n" {
		t.Errorf("after a while: %q", got)
	}
	want := "event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"response\":{\"id\":\"resp_1\",\"model\":\"m\",\"status\":\"in_progress\",\"output\":[]},\"sequence_number\":2}\n\n"
	if got := string(st.Keepalive(nil, true)); got != want {
		t.Errorf("after a minute: %q", got)
	}
	if !st.CanCancel() {
		t.Error("it cannot cancel")
	}
	if out = st.Abort(out, stopgate.CodeOverloaded, ""); !strings.HasSuffix(string(out), `"param":null}`+"\n\n") || !strings.Contains(string(out), `"sequence_number":3,`) {
		t.Errorf("the end is %s", out)
	}
	if n := len(out); len(st.Abort(out, stopgate.CodeOverloaded, "")) != n {
		t.Error("a second end")
	}
	if more, err := st.Release(nil, nil, nil); len(more) > 0 || err != nil {
		t.Error("something was released")
	}
}

// Proves L6, S57: a call made by code at the provider cannot be replaced, because that code waits
// for a result, and is never judged: the response ends.
func TestProgrammedCall(t *testing.T) {
	item := strings.Replace(function("a", "{}"), `"id"`, `"caller":{"type":"program","id":"p"},"id"`, 1)
	upstream := begin().call("b", "{}").item(item).completed()
	r := play(t, codec.NewGate(t), request(t), provider.Options{}, upstream)
	if m := legal(t, r); m.end != "error" || codes(r.Gate) != "allowed policy_not_configured" || anyCall(r.Out) != "" {
		t.Errorf("%s\n%s", codes(r.Gate), r.Out)
	}
	direct := strings.Replace(item, `"program"`, `"direct"`, 1)
	r = play(t, codec.NewGate(t), request(t), provider.Options{}, begin().item(direct).completed())
	if m := legal(t, r); len(m.calls()) != 1 {
		t.Errorf("a direct caller\n%s", r.Out)
	}
}

// Proves L2: for an upstream without numbers the gate's events have none, and padding and white
// space are kept.
func TestEventsWithoutNumbers(t *testing.T) {
	upstream := everyKind().completed()
	for i := 200; i >= 0; i-- {
		upstream = strings.ReplaceAll(upstream, fmt.Sprintf(`"sequence_number":%d,`, i), "")
	}
	g := codec.NewGate(t, "a", "openai.shell")
	r := play(t, g, request(t), provider.Options{}, upstream)
	if m := legal(t, r); len(m.calls()) != 4 || strings.Contains(r.Out, "sequence_number") {
		t.Errorf("the client has\n%s", r.Out)
	}
}

// Proves L4, L10: large arguments are written in chunks, with and without flushes, and an error of
// the flush ends the release.
func TestReleaseFlushesLongCalls(t *testing.T) {
	args := `{"path":"` + strings.Repeat("größe ", 20000) + `"}`
	s := begin().call("a", args).say("behind it")
	s.final = append(s.final, function("b", args))
	upstream := s.completed()
	release := func(fail int) (string, int, error) {
		g := codec.NewGate(t)
		st := openairesponses.Dialect{}.Stream(request(t), g, provider.Options{})
		d := sse.NewDecoder(nil, sse.Limits{})
		d.Feed([]byte(upstream))
		var all, out []byte
		var ev sse.Event
		spills := 0
		for {
			ok, err := d.Next(&ev)
			if err != nil || !ok {
				return string(append(all, out...)), spills, err
			}
			var need provider.Need
			if out, need, err = st.Event(out, &ev); err != nil {
				return "", 0, err
			}
			if need != provider.Resolve {
				continue
			}
			if fail == 0 {
				out, err = st.Release(out, g.Outcomes(true), nil)
			} else {
				out, err = st.Release(out, g.Outcomes(true), func(p []byte) error {
					if spills++; spills == fail {
						return errSpill
					}
					all = append(all, p...)
					return nil
				})
			}
			if err != nil {
				return "", spills, err
			}
		}
	}
	want, _, err := release(0)
	if m, bad := read(want, true); err != nil || bad != nil || len(m.calls()) != 2 || m.calls()[1].args != args {
		t.Fatal(err, bad)
	}
	got, spills, err := release(-1)
	if err != nil || got != want || spills < 4 {
		t.Errorf("%v, %d spills, equal %v", err, spills, got == want)
	}
	for fail := 1; fail <= spills; fail++ {
		if _, _, err := release(fail); !errors.Is(err, errSpill) {
			t.Errorf("spill %d failed, and the release says %v", fail, err)
		}
	}
}

var errSpill = errors.New("gone")

// Proves L11: a denied call without an item id has a message, too, and white space in an event
// breaks no frame.
func TestUnusualIDs(t *testing.T) {
	none := strings.NewReplacer(`"id":"fc_a",`, "", `"call_id":"call_a",`, "").Replace(function("a", "{}"))
	upstream := begin().item(none).item(strings.Replace(function("b", "{}"), `"id":"fc_b",`, "", 1)).completed()
	r := play(t, codec.NewGate(t, "a", "b"), request(t), provider.Options{}, upstream)
	if m := legal(t, r); len(m.denied()) != 2 || m.items[0].id != "msg_stopgate_0" || m.items[1].id != "msg_stopgate_call_b" {
		t.Errorf("the client has\n%s", m.show())
	}
	broken := strings.ReplaceAll(begin().call("a", `{"path":"x"}`).completed(), `"item":`, "\ndata: \"item\":")
	r = play(t, codec.NewGate(t), request(t), provider.Options{}, broken)
	if m := legal(t, r); len(m.calls()) != 1 {
		t.Errorf("the client has\n%s", r.Out)
	}
	plain := `"type":"response.new"`
	upstream = strings.Replace(begin().event("response.new", `"delta":"x"`).completed(), plain, `"type":"new"`, 1)
	upstream = strings.Replace(upstream, "event: response.new", "event: new", 1)
	if r := play(t, codec.NewGate(t), request(t), provider.Options{}, upstream); r.Out != upstream || len(r.Notes.NotEvaluated) != 1 {
		t.Errorf("noted %v\n%s", r.Notes.NotEvaluated, r.Out)
	}
}

// data returns a frame without an event line.
func data(payload string) string { return "data: " + payload + "\n\n" }

// A response without calls that begins twice, or not at all, is forwarded byte for byte, and the
// unexpected event is noted.
func TestUnexpectedStart(t *testing.T) {
	whole := begin().say("x").completed()
	created, rest, _ := strings.Cut(whole, "\n\n")
	for name, in := range map[string]string{
		"response.created":           created + "\n\n" + whole,
		"response.output_item.added": rest,
	} {
		r := play(t, codec.NewGate(t), request(t), provider.Options{}, in)
		if r.Err != nil || r.Out != in || len(r.Notes.Unexpected) != 1 || r.Notes.Unexpected[0] != name {
			t.Errorf("%s: error %v, noted %q, client:\n%s", name, r.Err, r.Notes.Unexpected, r.Out)
		}
	}
}

// After an error event only response.failed reaches the client.
func TestFailedEventAfterAnError(t *testing.T) {
	failed := func(output string) string {
		return data(`{"type":"response.failed","sequence_number":3,"response":{"status":"failed","output":[` + output + `]}}`)
	}
	in := begin().event("error", `"code":"x","message":"y","param":null`).b.String()
	for _, c := range []struct{ name, behind, want string }{
		{"failed", failed(""), failed("")},
		{"failed with a call", failed(function("a", "{}")), ""},
		{"another item first", data(`{"type":"response.output_item.added","output_index":0,"item":`+function("a", "")+`}`) + failed(""), failed("")},
		{"nothing", "", ""},
		{"completed", data(`{"type":"response.completed","response":{"status":"completed","output":[]}}`), ""},
	} {
		if r := play(t, codec.NewGate(t), request(t), provider.Options{}, in+c.behind); r.Err != nil || r.Out != in+c.want {
			t.Errorf("%s: error %v, client:\n%s", c.name, r.Err, r.Out)
		}
	}
}
