package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
)

// chatWhole returns a response that is not streamed.
func chatWhole(finish string, calls ...[3]string) string {
	var list []string
	for _, c := range calls {
		list = append(list, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, c[0], c[1], c[2]))
	}
	return `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":[` +
		strings.Join(list, ",") + `],"refusal":null},"logprobs":null,"finish_reason":"` + finish + `"}],"usage":{"total_tokens":1e1}}`
}

func anthropicWhole(stop string, calls ...[3]string) string {
	content := `{"type":"text","text":"hi"}`
	for _, c := range calls {
		content += fmt.Sprintf(`,{"type":"tool_use","id":%q,"name":%q,"input":%s}`, c[0], c[1], c[2])
	}
	return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[` + content + `],"stop_reason":"` + stop + `","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":9}}`
}

// Proves V3-29, W49, I12, F15, P22: the same content has the same verdicts, streamed or not, and a
// response without calls is not changed.
func TestStreamedAndWholeAgree(t *testing.T) {
	for _, test := range []struct {
		name, policy string
		calls        [][3]string
		rows         string
	}{
		{"allowed", allowAll, [][3]string{{"c1", "a", `{"path":"src/a"}`}}, "[a allowed rule_matched]"},
		{"denied", denying("a"), [][3]string{{"c1", "a", `{"path":"src/a"}`}}, "[a denied rule_matched]"},
		{"mixed", denyingEnv, [][3]string{{"c1", "a", `{"path":"src/a"}`}, {"c2", "b", `{"path":".env"}`}, {"c3", "c", `{}`}},
			"[a allowed rule_matched b denied rule_matched c allowed rule_matched]"},
		{"undeclared", allowAll, [][3]string{{"c1", "zzz", `{}`}}, "[zzz denied policy_not_configured]"},
		{"duplicate key", allowAll, [][3]string{{"c1", "a", `{"path":"x","path":"y"}`}}, "[a denied duplicate_key]"},
		{"duplicate key in one of two", allowAll, [][3]string{{"c1", "a", `{"path":"x","more":[{"a":1,"\u0061":2}]}`}, {"c2", "b", `{"path":"y"}`}},
			"[a denied duplicate_key b allowed rule_matched]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			chat, anthropic := "", ""
			for i, c := range test.calls {
				chat += chatCall(i, c[0], c[1], c[2])
				anthropic += anthropicCall(i+1, c[0], c[1], c[2])
			}
			for name, run := range map[string]struct{ path, request, kind, body string }{
				"Chat stream":      {chatPath, chatRequest(true), "text/event-stream", chatStream("tool_calls", chat)},
				"Chat whole":       {chatPath, chatRequest(false), "application/json", chatWhole("tool_calls", test.calls...)},
				"Anthropic stream": {anthropicPath, anthropicRequest(true), "text/event-stream", anthropicStart + anthropicText(0, "hi") + anthropic + anthropicEnd("tool_use")},
				"Anthropic whole":  {anthropicPath, anthropicRequest(false), "application/json", anthropicWhole("tool_use", test.calls...)},
				// The framing is that of the response, not the one requested (F14).
				"Chat stream unasked": {chatPath, chatRequest(false), "text/event-stream; charset=utf-8", chatStream("tool_calls", chat)},
				"Chat whole unasked":  {chatPath, chatRequest(true), "application/json; charset=utf-8", chatWhole("tool_calls", test.calls...)},
			} {
				t.Run(name, func(t *testing.T) {
					r := newRig(t, test.policy, script{body: run.body, kind: run.kind}, nil)
					a := r.post(run.path, run.request)
					if a.status != 200 || a.err != nil {
						t.Fatalf("status %d, %v: %s", a.status, a.err, a.body)
					}
					if rows := r.log.wait(t, len(test.calls)); fmt.Sprint(rows) != test.rows {
						t.Errorf("rows %s, want %s", rows, test.rows)
					}
					for i, c := range test.calls {
						allowed := strings.Contains(strings.Fields(test.rows)[3*i+1], "allowed")
						if strings.Contains(a.body, `"`+c[0]+`"`) != allowed {
							t.Errorf("call %s: allowed is %t in\n%s", c[0], allowed, a.body)
						}
					}
					mustContain(t, a.body, "hi")
				})
			}
		})
	}
	for path, body := range map[string]string{chatPath: chatWhole("stop"), anthropicPath: anthropicWhole("end_turn")} {
		request := map[string]string{chatPath: chatRequest(false), anthropicPath: anthropicRequest(false)}[path]
		r := newRig(t, allowAll, script{body: body, kind: "application/json"}, nil)
		if a := r.post(path, request); a.body != body {
			t.Errorf("%s: received %s, want %s", path, a.body, body)
		}
	}
}

// Proves I23, W36: a denied call made by code at the provider ends an unstreamed body with an error
// status, and its row is written.
func TestProviderCodeCallInBody(t *testing.T) {
	body := `{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"i1","name":"a","input":{},"caller":{"type":"code_execution_20250825"}}],"stop_reason":"tool_use"}`
	r := newRig(t, denying("a"), script{body: body, kind: "application/json"}, nil)
	a := r.post(anthropicPath, anthropicRequest(false))
	if a.status != 403 || a.header.Get("X-Should-Retry") != "false" {
		t.Errorf("status %d, %v", a.status, a.header)
	}
	mustContain(t, a.body, `"type":"error"`, "protocol_violation")
	mustLack(t, a.body, "i1")
	if rows := r.log.wait(t, 1); fmt.Sprint(rows) != "[a denied rule_matched]" {
		t.Errorf("rows %s", rows)
	}
}

// Proves FM5, F14, F18, W52: invalid responses of a provider.
func TestStrangeAnswers(t *testing.T) {
	reply := func(status int, header map[string]string, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			for name, value := range header {
				w.Header().Set(name, value)
			}
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	json := map[string]string{"Content-Type": "application/json"}
	for _, test := range []struct {
		name     string
		provider http.HandlerFunc
		status   int
		want     string
	}{
		{"an error in its own words", reply(429, map[string]string{"Content-Type": "application/json", "Retry-After": "7"}, `{"error":{"message":"slow down","code":"rate"}}`), 429, `{"error":{"message":"slow down","code":"rate"}}`},
		{"an error in a list", reply(400, json, `[{"error":{"message":"bad","status":"INVALID"}}]`), 400, `[{"error":{"message":"bad","status":"INVALID"}}]`},
		{"an error that is a text", reply(500, json, `"oops"`), 500, `"oops"`},
		{"an error with a call", reply(400, json, chatWhole("tool_calls", [3]string{"c1", "a", "{}"})), 400, `"code":"upstream_error"`},
		{"an error with a call in a list", reply(500, json, `[{},`+chatWhole("tool_calls", [3]string{"c1", "a", "{}"})+`]`), 500, `"code":"upstream_error"`},
		{"an error that can be read in two ways", reply(400, json, `{"error":{},"choices":[],"choices":[]}`), 400, `"code":"upstream_error"`},
		{"a status that does not exist", reply(600, json, chatWhole("tool_calls", [3]string{"c1", "a", "{}"})), 502, `"code":"upstream_error"`},
		{"no content", reply(204, map[string]string{"Content-Type": "text/event-stream"}, ""), 502, `"code":"upstream_error"`},
		{"an HTML error", reply(502, map[string]string{"Content-Type": "text/html"}, "<html>tool_calls"), 502, `"code":"upstream_error"`},
		{"an error as a stream", reply(500, map[string]string{"Content-Type": "text/event-stream"}, chatStream("stop")), 500, `"code":"upstream_error"`},
		{"HTML with status 200", reply(200, map[string]string{"Content-Type": "text/html"}, "<html>"), 502, `"code":"upstream_error"`},
		{"no content type", func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = nil
			io.WriteString(w, "{}")
		}, 502, `"code":"upstream_error"`},
		{"two content types", func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = []string{"application/json", "text/event-stream"}
			io.WriteString(w, "{}")
		}, 502, `"code":"upstream_error"`},
		{"a redirect", reply(302, map[string]string{"Location": "http://169.254.169.254/"}, ""), 502, `"code":"upstream_error"`},
		{"an unknown encoding", reply(200, map[string]string{"Content-Type": "application/json", "Content-Encoding": "compress"}, "xx"), 502, `"code":"upstream_error"`},
		{"gzip", reply(200, map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, gzipped(chatWhole("stop"))), 200, chatWhole("stop")},
		{"gzip that breaks off", reply(200, map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, gzipped(chatWhole("stop"))[:60]), 502, `"code":"stream_truncated"`},
		{"gzip bomb", reply(200, map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, gzipped(strings.Repeat(" ", 8<<20))), 502, `"code":"limit_exceeded"`},
		{"too long", reply(200, json, `{"choices":[],"x":"`+strings.Repeat("x", 2<<20)+`"}`), 502, `"code":"limit_exceeded"`},
		{"broken JSON", reply(200, json, `{"choices":[`), 502, `"error"`},
		{"duplicate members", reply(200, json, `{"choices":[],"choices":[]}`), 502, `"error"`},
		{"data behind the body", reply(200, json, `{"choices":[]}{}`), 502, `"error"`},
		{"an empty stream", reply(200, map[string]string{"Content-Type": "text/event-stream"}, ""), 200, `data: {"error":{`}, // P21
		{"a gzip stream", reply(200, map[string]string{"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}, gzipped(chatStream("stop"))), 200, chatStream("stop")},
		{"a connection that breaks off", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, 502, `"code":"upstream_error"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, allowAll, test.provider, func(o *gateway.Options) { o.Settings.Limits.Body = 1 << 20 })
			a := r.post(chatPath, chatRequest(false))
			if a.status != test.status {
				t.Errorf("status %d, want %d", a.status, test.status)
			}
			mustContain(t, a.body, test.want)
			mustLack(t, a.body, "<html>", `"c1"`)
			if a.header.Get("Location") != "" {
				t.Error("the redirect reached the client")
			}
			if test.status == 429 && a.header.Get("Retry-After") != "7" {
				t.Error("Retry-After is lost")
			}
		})
	}
	r := newRig(t, allowAll, unreachable(t), func(o *gateway.Options) { o.Upstreams[0].BaseURL = "http://127.0.0.1:1" })
	if a := r.post(chatPath, chatRequest(true)); a.status != 502 {
		t.Errorf("nobody listens: status %d", a.status)
	}
	r = newRig(t, allowAll, unreachable(t), func(o *gateway.Options) { o.Upstreams[0].BaseURL = "http://metadata.invalid" })
	if a := r.post(chatPath, chatRequest(true)); a.status != 502 {
		t.Errorf("an unknown name: status %d", a.status)
	}
}

// Proves 2.8: requests that are refused before anything is sent.
func TestRefusedRequests(t *testing.T) {
	for _, test := range []struct {
		name, body string
		status     int
		code       string
	}{
		{"not JSON", `{`, 400, ""},
		{"twice the same member", `{"model":"m","model":"n","messages":[]}`, 400, ""},
		{"trailing data", `{"model":"m","messages":[]} {}`, 400, ""},
		{"a tool that runs at the provider", `{"model":"m","messages":[],"tools":[{"type":"web_search_preview"}]}`, 400, "server_tool_not_allowed"},
		{"a member that makes it search", `{"model":"m","messages":[],"web_search_options":{}}`, 400, "server_tool_not_allowed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, allowAll, unreachable(t), nil)
			a := r.post(chatPath, test.body)
			if a.status != test.status || a.header.Get("X-Should-Retry") != "false" {
				t.Errorf("status %d: %s", a.status, a.body)
			}
			mustContain(t, a.body, `{"error":{"message":`, test.code)
		})
	}
	r := newRig(t, allowAll, script{body: chatWhole("stop"), kind: "application/json"}, func(o *gateway.Options) { o.Settings.ServerTools = []string{"web_search*"} })
	if a := r.post(chatPath, `{"model":"m","messages":[],"tools":[{"type":"web_search_preview"}]}`); a.status != 200 {
		t.Errorf("a listed tool: status %d: %s", a.status, a.body)
	}
}
