package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

const responsesPath = "/v1/responses"

func responsesRequest(stream bool, more string) string {
	var tools []string
	for _, name := range []string{"a", "b", "c"} {
		tools = append(tools, `{"type":"function","name":"`+name+`","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}`)
	}
	return fmt.Sprintf(`{"model":"m","stream":%t,"input":"x","tools":[%s]%s}`, stream, strings.Join(tools, ","), more)
}

// responsesCall returns the item of a call, and its events at a position.
func responsesCall(name, args string) string {
	return fmt.Sprintf(`{"id":"fc_%s","type":"function_call","status":"completed","call_id":"call_%s","name":%q,"arguments":%q}`, name, name, name, args)
}

func responsesEvent(typ, members string) string {
	return "event: " + typ + "\ndata: {\"type\":\"" + typ + "\"," + members + "}\n\n"
}

// responsesStream returns the stream of a response with these calls.
func responsesStream(calls ...[2]string) string {
	out := responsesEvent("response.created", `"response":{"id":"resp_1","status":"in_progress","output":[]}`)
	var items []string
	for i, c := range calls {
		item := responsesCall(c[0], c[1])
		items = append(items, item)
		out += responsesEvent("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, i, responsesCall(c[0], ""))) +
			responsesEvent("response.function_call_arguments.delta", fmt.Sprintf(`"output_index":%d,"item_id":"fc_%s","delta":%q`, i, c[0], c[1])) +
			responsesEvent("response.function_call_arguments.done", fmt.Sprintf(`"output_index":%d,"item_id":"fc_%s","arguments":%q`, i, c[0], c[1])) +
			responsesEvent("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, i, item))
	}
	return out + responsesEvent("response.completed", `"response":{"id":"resp_1","status":"completed","output":[`+strings.Join(items, ",")+`],"usage":{"output_tokens":3}}`)
}

// readResponses parses a Responses stream like a client, independently of the codec. A call counts
// once for its item and once for the final response.
func readResponses(t *testing.T, body string) received {
	h := received{finish: map[int]string{}}
	at := map[int]int{}
	type item struct {
		Type, Name, Namespace string
		Arguments             any
		Content               []struct{ Text string }
	}
	for _, frame := range strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
		var data []string
		for _, line := range strings.Split(frame, "\n") {
			if value, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, value)
			}
		}
		if len(data) == 0 {
			continue
		}
		var ev struct {
			Type     string
			Index    int `json:"output_index"`
			Item     item
			Delta    any
			Response struct{ Output []item }
		}
		if err := json.Unmarshal([]byte(strings.Join(data, "\n")), &ev); err != nil {
			t.Logf("unreadable event: %v", err)
			continue
		}
		if h.done {
			h.late++
		}
		delta, _ := ev.Delta.(string)
		switch ev.Type {
		case "response.output_item.added":
			if ev.Item.Type == "function_call" {
				at[ev.Index] = len(h.calls)
				h.calls = append(h.calls, receivedCall{index: ev.Index, name: ev.Item.Namespace + "/" + ev.Item.Name})
			}
		case "response.function_call_arguments.delta":
			if n, ok := at[ev.Index]; ok {
				h.calls[n].args += delta
			}
		case "response.output_text.delta":
			h.text += delta
		case "response.completed", "response.incomplete", "response.failed":
			h.done = true
			h.finish[0] = ev.Type
			for i, it := range ev.Response.Output {
				if it.Type == "function_call" {
					args, _ := it.Arguments.(string)
					h.calls = append(h.calls, receivedCall{choice: 1, index: i, name: it.Namespace + "/" + it.Name, args: args})
				}
			}
		case "error":
			h.failed = true
		}
	}
	return h
}

// Proves W41, W42, W49, L9, F15, I12: a denied call is a message in the stream, in the final
// response and in the body, and the other call is complete, with any framing and any chunks.
func TestResponses(t *testing.T) {
	stream := responsesStream([2]string{"a", `{"path":"secret"}`}, [2]string{"b", `{"path":"y"}`})
	_, rest, _ := strings.Cut(stream, `"response.completed","response":`)
	body, _, _ := strings.Cut(rest, "}\n\n")
	for name, split := range map[string]func(string) []string{"whole": whole, "per event": perEvent, "per byte": perByte, "CRLF": crlf} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, denying("a"), script{body: stream, split: split}, nil)
			a := r.post(responsesPath, responsesRequest(true, ""))
			h := readResponses(t, a.body)
			if got := fmt.Sprint(h.calls); a.err != nil || got != `[{0 1 /b {"path":"y"}} {1 1 /b {"path":"y"}}]` || !h.done || h.late > 0 {
				t.Errorf("%v %s\n%s", a.err, got, a.body)
			}
			mustContain(t, a.body, `"id":"msg_stopgate_fc_a"`, "[stopgate] The tool call `a` was not run", `"usage":{"output_tokens":3}`)
			mustLack(t, a.body, "secret", `"call_a"`)
			if got := strings.Join(r.log.wait(t, 2), ", "); got != "a denied rule_matched, b allowed rule_matched" {
				t.Errorf("rows: %s", got)
			}
		})
	}
	t.Run("not streamed", func(t *testing.T) {
		r := newRig(t, denying("a"), script{body: body, kind: "application/json"}, nil)
		a := r.post(responsesPath, responsesRequest(false, ""))
		mustContain(t, a.body, `"id":"msg_stopgate_fc_a"`, "[stopgate] The tool call `a` was not run", responsesCall("b", `{"path":"y"}`), `"status":"completed"`)
		mustLack(t, a.body, "secret", `"call_a"`)
		if !json.Valid([]byte(a.body)) {
			t.Error(a.body)
		}
	})
	t.Run("on_deny error", func(t *testing.T) {
		r := newRig(t, denying("a"), script{body: stream, split: perEvent}, func(o *gateway.Options) { o.Settings.OnDeny = gateway.DenyError })
		a := r.post(responsesPath, responsesRequest(true, ""))
		mustContain(t, a.body, "event: error\n", `"code":"rule_matched"`)
		if h := readResponses(t, a.body); len(h.calls) > 0 || !h.failed || a.err == nil {
			t.Errorf("%v %+v", a.err, h)
		}
	})
}

// Proves W48, L12 (S57): features that would bypass the gate are refused before anything is sent,
// in the dialect's form and by name.
func TestResponsesRefused(t *testing.T) {
	for _, c := range []struct{ name, more, code, says string }{
		{"background", `,"background":true`, "background_not_supported", "background"},
		{"web search", `,"tools":[{"type":"web_search"}]`, "server_tool_not_allowed", "server_tools"},
		{"a computer", `,"tools":[{"type":"computer_use_preview"}]`, "policy_not_configured", "computer_use_preview"},
		{"a connector", `,"tools":[{"type":"mcp","server_label":"s"}]`, "policy_not_configured", "require_approval"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, allowAll, unreachable(t), nil)
			request := responsesRequest(true, "")
			if strings.Contains(c.more, "tools") {
				request = `{"model":"m","input":"x"}`
			}
			a := r.post(responsesPath, strings.TrimSuffix(request, "}")+c.more+"}")
			if a.status != 400 {
				t.Errorf("status %d", a.status)
			}
			mustContain(t, a.body, `{"error":{"message":"`, `"code":"`+c.code+`"`, c.says)
		})
		t.Run(c.name+", observed", func(t *testing.T) {
			r := newRig(t, observing(allowAll), script{body: responsesStream()}, nil)
			request := strings.TrimSuffix(`{"model":"m","input":"x"}`, "}") + c.more + "}"
			if a := r.post(responsesPath, request); a.status != 200 || a.body != responsesStream() {
				t.Errorf("status %d: %s", a.status, a.body)
			}
			if n := r.log.events("not_evaluated"); n == 0 {
				t.Error("no row says so")
			}
		})
	}
}

// Proves W48, F16: fetching a stored response and opening a WebSocket are refused.
func TestResponsesSideRoutes(t *testing.T) {
	r := newRig(t, allowAll, unreachable(t), nil)
	for _, header := range []map[string]string{nil, {"Connection": "Upgrade", "Upgrade": "websocket"}} {
		for _, path := range []string{responsesPath + "/resp_1", responsesPath + "/resp_1?stream=true", responsesPath} {
			a := r.send("GET", path, "", header)
			if a.status != 404 {
				t.Errorf("%s: status %d", path, a.status)
			}
			mustContain(t, a.body, `"code":"route_unknown"`)
		}
	}
}

// Proves W40: the replay model supports the dialect, streamed and not, and its turns follow a
// history, by items and by the id of the previous response.
func TestResponsesReplay(t *testing.T) {
	model, err := replay.New(replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, allowAll, model, nil)
	const tools = `,"tools":[{"type":"function","name":"fs_read_file","parameters":{"type":"object"}}]`
	first := r.post(responsesPath, `{"model":"stopgate-demo","input":"hi"`+tools+`}`)
	var answer struct {
		ID     string
		Output []json.RawMessage
	}
	if err := json.Unmarshal([]byte(first.body), &answer); err != nil || len(answer.Output) < 2 {
		t.Fatal(err, first.body)
	}
	h := readResponses(t, r.post(responsesPath, `{"model":"stopgate-demo","input":"hi","stream":true`+tools+`}`).body)
	if len(h.calls) != 2*(len(answer.Output)-1) || !h.done {
		t.Errorf("%+v", h)
	}
	items, _ := json.Marshal(answer.Output)
	byItems := r.post(responsesPath, `{"model":"stopgate-demo","input":`+string(items)+`}`)
	byID := r.post(responsesPath, `{"model":"stopgate-demo","previous_response_id":"`+answer.ID+`","input":[{"type":"function_call_output","call_id":"x","output":"y"}]}`)
	if byItems.status != 200 || byItems.body[:40] != byID.body[:40] || strings.Contains(byID.body, answer.ID) {
		t.Errorf("the second turns are\n%s\n%s", byItems.body, byID.body)
	}
}

// Proves I24, L2, L4 on recorded streams; see TestRecordedChatStreams.
func TestRecordedResponsesStreams(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "streams", "openai-responses"), "*.sse"))
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	provider := script{}
	r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { provider.ServeHTTP(w, r) }), nil)
	withCalls := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before := readResponses(t, string(text))
		provider = script{body: string(text), split: func(s string) []string {
			var pieces []string
			for len(s) > 0 {
				n := min(len(s), 1+rng.IntN(2000))
				pieces = append(pieces, s[:n])
				s = s[n:]
			}
			return pieces
		}}
		seen := map[string]bool{}
		var tools []string
		for _, c := range before.calls {
			if !seen[c.name] {
				seen[c.name] = true
				space, name, _ := strings.Cut(c.name, "/")
				tool := fmt.Sprintf(`{"type":"function","name":%q,"parameters":{"type":"object"}}`, name)
				if space != "" {
					tool = fmt.Sprintf(`{"type":"namespace","name":%q,"tools":[%s]}`, space, tool)
				}
				tools = append(tools, tool)
			}
		}
		a := r.post(responsesPath, `{"model":"m","stream":true,"input":"x","tools":[`+strings.Join(tools, ",")+`]}`)
		after := readResponses(t, a.body)
		name := filepath.Base(file)
		if len(before.calls) == 0 {
			if a.body != string(text) {
				t.Errorf("%s: no call in it, and it changed", name)
			}
			continue
		}
		withCalls++
		if before.finish[0] != "response.completed" {
			if len(after.calls) > 0 {
				t.Errorf("%s: a call of an incomplete response came through", name)
			}
			continue
		}
		if got, want := content(after), content(before); a.err != nil || got != want {
			t.Errorf("%s: %v: the client received\n%s\nthe provider sent\n%s", name, a.err, got, want)
		}
	}
	t.Logf("%d recordings, %d with calls", len(files), withCalls)
}

// rememberer is a strict mock of the provider: it stores the response, and accepts a request that
// continues it only if every call in it has one result, and every id is its own.
type rememberer struct {
	first script
	seen  []string // bodies of requests
	says  []string // mistakes it found
}

func (p *rememberer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.seen = append(p.seen, string(body))
	if len(p.seen) == 1 {
		p.first.ServeHTTP(w, r)
		return
	}
	var request struct {
		Previous string `json:"previous_response_id"`
		Input    []struct {
			Type, ID string
			CallID   string `json:"call_id"`
		}
	}
	_ = json.Unmarshal(body, &request)
	open := map[string]int{}
	if request.Previous != "" {
		open["call_a"], open["call_b"] = 1, 1
	}
	for _, item := range request.Input {
		switch {
		case item.Type == "function_call":
			open[item.CallID]++
		case item.Type == "function_call_output":
			open[item.CallID]--
		case strings.HasPrefix(item.ID, "msg_stopgate_"):
			p.says = append(p.says, "unknown id "+item.ID)
		}
	}
	for id, n := range open {
		if n != 0 {
			p.says = append(p.says, fmt.Sprintf("call %s has %d results too few", id, n))
		}
	}
	script{body: `{"id":"resp_2","status":"completed","output":[]}`, kind: "application/json"}.ServeHTTP(w, r)
}

// Proves W47, L12: the turn after a denial, continued in every way that clients use. The response
// log of another principal, or an empty one, restores nothing.
func TestResponsesContinued(t *testing.T) {
	const own = `{"type":"function_call_output","call_id":"call_b","output":"fine"}`
	const forged = `{"type":"function_call_output","call_id":"call_a","output":"done"}`
	stream := responsesStream([2]string{"a", `{"path":"secret"}`}, [2]string{"b", `{"path":"y"}`})
	ours := `{"id":"msg_stopgate_fc_a","type":"message","role":"assistant","content":[{"type":"output_text","text":"no"}]}`
	for _, c := range []struct {
		name, next, wrong string
		empty             bool
	}{
		{name: "by id", next: `"previous_response_id":"resp_1","input":[` + own + `]`},
		{name: "by id with a forged result", next: `"previous_response_id":"resp_1","input":[` + forged + `,` + own + `]`},
		{name: "by items", next: `"input":[` + ours + `,` + responsesCall("b", `{"path":"y"}`) + `,` + own + `]`},
		{name: "by reference", next: `"input":[{"type":"item_reference","id":"msg_stopgate_fc_a"},` + responsesCall("b", `{"path":"y"}`) + `,` + own + `]`},
		{name: "by items, and an empty response log", empty: true, next: `"input":[` + ours + `,` + responsesCall("b", `{"path":"y"}`) + `,` + own + `]`},
		{name: "by id, and an empty response log", empty: true, next: `"previous_response_id":"resp_1","input":[` + own + `]`, wrong: "call call_a has 1 results too few"},
	} {
		for _, streamed := range []bool{true, false} {
			t.Run(fmt.Sprint(c.name, streamed), func(t *testing.T) {
				p := &rememberer{first: script{body: stream}}
				if !streamed {
					_, rest, _ := strings.Cut(stream, `"response.completed","response":`)
					body, _, _ := strings.Cut(rest, "}\n\n")
					p.first = script{body: body, kind: "application/json"}
				}
				r := newRig(t, denying("a"), p, nil)
				if c.empty {
					p.seen = []string{""}
				} else {
					mustContain(t, r.post(responsesPath, responsesRequest(streamed, "")).body, `"id":"msg_stopgate_fc_a"`)
				}
				if a := r.post(responsesPath, `{"model":"m",`+c.next+`}`); a.status != 200 {
					t.Errorf("status %d: %s", a.status, a.body)
				}
				if got := strings.Join(p.says, ", "); got != c.wrong {
					t.Errorf("the provider says %q of %s", got, p.seen[len(p.seen)-1])
				}
			})
		}
	}
}
