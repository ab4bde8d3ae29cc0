package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
)

const (
	geminiPath      = "/v1beta/models/m:streamGenerateContent"
	geminiWholePath = "/v1beta/models/m:generateContent"
)

func geminiHistory(_ bool, tools []string, history []historyEntry) map[string]any {
	var contents, declared []any
	names := map[string]string{}
	for _, s := range history {
		switch {
		case s.user != "":
			contents = append(contents, map[string]any{"role": "user", "parts": []any{map[string]any{"text": s.user}}})
		case s.result != nil:
			response := map[string]any{"output": s.result.text}
			if s.result.failed {
				response = map[string]any{"error": s.result.text}
			}
			contents = append(contents, map[string]any{"role": "user", "parts": []any{
				map[string]any{"functionResponse": map[string]any{"id": s.result.id, "name": names[s.result.id], "response": response}}}})
		default:
			var parts []any
			for _, c := range s.calls {
				names[c.id] = c.tool
				parts = append(parts, map[string]any{"functionCall": map[string]any{"id": c.id, "name": c.tool, "args": json.RawMessage(c.args)}})
			}
			contents = append(contents, map[string]any{"role": "model", "parts": parts})
		}
	}
	for _, name := range tools {
		declared = append(declared, map[string]any{"name": name, "parameters": map[string]any{"type": "OBJECT"}})
	}
	return map[string]any{"contents": contents, "tools": []any{map[string]any{"functionDeclarations": declared}}}
}

func geminiCall(id, name, args string) string {
	return fmt.Sprintf(`{"functionCall":{"id":%q,"name":%q,"args":%s}}`, id, name, args)
}

func geminiEvent(parts, finish string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + finish + `,"index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":3,"totalTokenCount":4},"modelVersion":"m"}`
}

func geminiAnswer(stream bool, _ string, calls []pastCall) string {
	parts := []string{`{"text":"hi"}`}
	for _, c := range calls {
		parts = append(parts, geminiCall(c.id, c.tool, c.args))
	}
	const stop = `,"finishReason":"STOP"`
	if !stream {
		return geminiEvent(strings.Join(parts, ","), stop)
	}
	out := ""
	for _, p := range parts {
		out += "data: " + geminiEvent(p, "") + "\n\n"
	}
	return out + "data: " + geminiEvent(`{"text":""}`, stop) + "\n\n"
}

// geminiRequest declares the tools a, b and c.
func geminiRequest(more string) string {
	return `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b"},{"name":"c"}]}` + more + `]}`
}

// A key of the client is forwarded as it was sent, in the header or in the URL, and is never
// logged; a gate token in its place is not forwarded; a key of the gate replaces both.
func TestGeminiKeys(t *testing.T) {
	for _, test := range []struct{ name, query, header, key, want string }{
		{"header", "alt=sse", "AIza-client", "", "AIza-client|alt=sse"},
		{"parameter", "key=AIza-client&alt=sse", "", "", "|key=AIza-client&alt=sse"},
		{"token in the header", "alt=sse", "sg_t", "", "|alt=sse"},
		{"token in the parameter", "key=sg_t&alt=sse", "", "", "|alt=sse"},
		{"key of the gate", "alt=sse&key=AIza-client", "sg_t", "AIza-gate", "AIza-gate|alt=sse"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var logged strings.Builder
			r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"candidates":[{"content":{"parts":[{"text":"`+r.Header.Get("X-Goog-Api-Key")+"|"+r.URL.RawQuery+`"}]},"finishReason":"STOP"}]}`)
			}), func(o *gateway.Options) {
				o.Token = "sg_t"
				o.Upstreams[0].API, o.Upstreams[0].Key = "gemini", test.key
				o.Log = slog.New(slog.NewTextHandler(&logged, nil))
			})
			header := map[string]string{"X-Stopgate-Token": "sg_t"}
			if test.header != "" {
				header["X-Goog-Api-Key"] = test.header
			}
			a := r.send("POST", geminiWholePath+"?"+test.query, geminiRequest(""), header)
			mustContain(t, a.body, `"text":"`+test.want+`"`)
			r.gw.Close()
			mustLack(t, logged.String(), "AIza", "sg_t")
		})
	}
}

// A tool that runs at the provider is refused unless it is listed, in the form of Google's errors.
func TestGeminiServerTools(t *testing.T) {
	body := geminiAnswer(false, "", nil)
	r := newRig(t, allowAll, script{body: body, kind: "application/json"}, func(o *gateway.Options) { o.Settings.ServerTools = []string{"googleSearch"} })
	if a := r.post(geminiWholePath, geminiRequest(`,{"googleSearch":{}}`)); a.status != 200 || a.body != body {
		t.Errorf("%d %s", a.status, a.body)
	}
	a := r.post(geminiWholePath, geminiRequest(`,{"codeExecution":{}}`))
	if a.status != 400 {
		t.Errorf("status %d", a.status)
	}
	mustContain(t, a.body, `{"error":{"code":400,"message":`, `"status":"INVALID_ARGUMENT"`, `"reason":"server_tool_not_allowed"`, "(codeExecution)")
	if a := r.post("/v1beta/models/m:batchGenerateContent", "{}"); a.status != 404 {
		t.Errorf("a route that is not served has the status %d", a.status)
	}
	a = r.send("POST", "/v1beta/models/x:predict", "{}", map[string]string{"X-Goog-Api-Client": "google-genai-sdk/1"})
	mustContain(t, a.body, `"code":404`, `"status":"NOT_FOUND"`)
}

// Without alt=sse the stream is a JSON array, which is judged as a whole.
func TestGeminiArray(t *testing.T) {
	body := "[" + geminiEvent(`{"text":"hi"}`, "") + ",\r\n" + geminiEvent(geminiCall("c1", "a", `{"path":"x"}`), "") + ",\r\n" +
		geminiEvent(geminiCall("c2", "b", `{"path":"y"}`), `,"finishReason":"STOP"`) + "]"
	r := newRig(t, denying("b"), script{body: body, kind: "application/json"}, nil)
	a := r.post(geminiPath, geminiRequest(""))
	mustContain(t, a.body, `[{"candidates"`, `"c1"`, "`b` was not run", `"finishReason":"STOP"`)
	mustLack(t, a.body, `"c2"`)
	if got := r.log.wait(t, 2); got[0] != "a allowed rule_matched" || got[1] != "b denied rule_matched" {
		t.Errorf("%q", got)
	}
}

// A response whose denied call is longer than cancel_after is cut with an end that clients accept,
// and with the last counters of the provider.
func TestGeminiCut(t *testing.T) {
	long := `{"path":"` + strings.Repeat("x", 6<<10) + `"}`
	first := "data: " + geminiEvent(geminiCall("c1", "a", long), "") + "\n\n"
	gone := make(chan int64, 1)
	r := newRig(t, denying("a"), endless{begin: first, more: "data: " + geminiEvent(`{"text":"x"}`, "") + "\n\n", gone: gone}, nil)
	a := r.post(geminiPath, geminiRequest(""))
	<-gone
	if a.err != nil {
		t.Error(a.err)
	}
	mustContain(t, a.body, "`a` was not run", "was stopped", `"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":3,"totalTokenCount":4}`)
	mustLack(t, a.body, `"c1"`)
}
