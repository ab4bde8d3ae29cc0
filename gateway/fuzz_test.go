package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
)

// FuzzDeniedStream sends arbitrary streams through a gateway that denies every call. Whatever the
// upstream sends, the client receives no call, and the response has one end: that of the dialect,
// or an error event and a broken body.
//
// Proves L3, L6, L10, I24, I4.
func FuzzDeniedStream(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "data: [DONE]\n\n",
		chatStream("tool_calls", chatCall(0, "call_1", "a", `{"path":"x"}`), chatCall(1, "call_2", "b", `{}`)),
		chatStream("stop", chatCall(0, "call_1", "a", `{"path":"x"}`)),
		chatStream("length", chatCall(0, "call_1", "a", `{"path":"x"}`)),
		chatEvent(`{"function_call":{"name":"a","arguments":"{}"}}`, `"function_call"`) + chatDone,
		chatEvent(`{"content":"x","tool_calls":[{"index":-1,"id":"i","function":{"name":"a","arguments":"{}"}}]}`, `"tool_calls"`) + chatDone + chatDone,
		"data: {\"error\":{\"message\":\"x\"}}\r\n\r\n" + chatDone,
		": comment\r\rdata:" + `{"choices":[{"index":1,"delta":{"tool_calls":[{"function":{"arguments":"{}"}}]}}]}` + "\n\n",
	} {
		f.Add([]byte(seed), uint8(7), false, uint8(0))
		f.Add([]byte(seed), uint8(200), true, uint8(0))
	}
	for _, seed := range []string{
		"", anthropicStart, anthropicStart + anthropicEnd("end_turn"),
		anthropicStart + anthropicText(0, "hi") + anthropicCall(1, "t1", "a", `{"path":"x"}`) + anthropicCall(2, "t2", "b", `{}`) + anthropicEnd("tool_use"),
		anthropicStart + anthropicCall(0, "t1", "a", `{"path":"x"}`) + anthropicEnd("max_tokens"),
		anthropicStart + anthropicCall(0, "t1", "a", `{}`) + anthropicText(1, "x") + anthropicEnd("end_turn") + anthropicEnd("end_turn"),
		anthropicStart + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n",
	} {
		f.Add([]byte(seed), uint8(7), false, uint8(1))
		f.Add([]byte(seed), uint8(200), true, uint8(1))
	}
	good := responsesStream([2]string{"a", `{"path":"x"}`}, [2]string{"b", `{}`})
	for _, seed := range []string{
		good, responsesStream(), strings.Replace(good, "response.completed", "response.incomplete", 2), good + good,
		strings.ReplaceAll(good, "function_call\"", "custom_tool_call\""), strings.ReplaceAll(good, "function_call\"", "foo_call\""),
		responsesEvent("response.created", `"response":{"id":"r"}`) + responsesEvent("response.completed", `"response":{"output":[`+responsesCall("a", "{}")+`]}`),
		responsesEvent("response.created", `"response":{"id":"r"}`) + responsesEvent("error", `"message":"x"`),
	} {
		f.Add([]byte(seed), uint8(7), false, uint8(2))
		f.Add([]byte(seed), uint8(200), true, uint8(2))
	}
	gate := newGate(f, "version = 1\n[tools.\"*\".policy]\nrun = \"deny\"\n", nil)
	f.Fuzz(func(t *testing.T, body []byte, piece uint8, drain bool, dialect uint8) {
		o := gateway.Options{Gate: gate, Settings: gateway.DefaultSettings()}
		if drain {
			o.Settings.AfterDeny = gateway.DrainUpstream
		}
		o.Upstreams = []gateway.Upstream{{ID: "test", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(&pieces{string(body), int(piece) + 1})}, nil
		})}}
		gw, err := gateway.New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer gw.Close()
		w := &everything{header: http.Header{}}
		path, request, read := chatPath, chatRequest(true), readChat
		switch dialect % 3 {
		case 1:
			path, request, read = anthropicPath, anthropicRequest(true), readMessages
		case 2:
			path, request, read = responsesPath, responsesRequest(true, ""), readResponses
		}
		aborted := w.serve(gw, path, request)
		out := w.text.String()
		h := read(t, out)
		if len(h.calls) > 0 {
			t.Errorf("a call came through: %+v\n%s", h.calls, out)
		}
		// An error of the provider is an end, too.
		if aborted && h.done || !aborted && !h.done && !h.failed {
			t.Errorf("aborted %t, done %t, failed %t:\n%s", aborted, h.done, h.failed, out)
		}
		if h.late > 0 {
			t.Errorf("%d events behind the end:\n%s", h.late, out)
		}
	})
}

// pieces is a reader that returns a few bytes at a time.
type pieces struct {
	rest string
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.rest == "" {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// everything is a ResponseWriter that stores the response.
type everything struct {
	header http.Header
	text   strings.Builder
}

func (w *everything) Header() http.Header         { return w.header }
func (w *everything) WriteHeader(int)             {}
func (w *everything) Flush()                      {}
func (w *everything) Write(p []byte) (int, error) { return w.text.Write(p) }

// serve reports whether the response was broken off.
func (w *everything) serve(h http.Handler, path, body string) (aborted bool) {
	defer func() {
		if v := recover(); v == http.ErrAbortHandler {
			aborted = true
		} else if v != nil {
			panic(v)
		}
	}()
	req, _ := http.NewRequest("POST", "http://localhost"+path, strings.NewReader(body))
	h.ServeHTTP(w, req)
	return false
}
