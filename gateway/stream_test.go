package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gateway"
)

// framings are the chunks in which one body reaches the gateway.
var framings = map[string]func(string) []string{"one piece": whole, "per event": perEvent, "per byte": perByte, "CRLF": crlf}

// drained reads every response to its end: otherwise the part read of a denied response depends on
// time.
func drained(o *gateway.Options) { o.Settings.AfterDeny = gateway.DrainUpstream }

// Proves W1, W2, W3, W5, I4, I24, P16, P17.
func TestChatVerdicts(t *testing.T) {
	body := chatStream("tool_calls", chatCall(0, "call_1", "a", `{"path":"src/a"}`), chatCall(1, "call_2", "b", `{"path":"src/b"}`))
	for _, test := range []struct {
		name, policy  string
		contain, lack []string
		rows          []string
	}{
		{"W1 allow all", allowAll, []string{`"name":"a"`, `"name":"b"`, `src/a`, `src/b`, `"finish_reason":"tool_calls"`}, []string{"stopgate"},
			[]string{"a allowed rule_matched", "b allowed rule_matched"}},
		{"W2 deny the first", denying("a"), []string{"The tool call `a` was not run", `"index":0,"id":"call_2"`, `"finish_reason":"tool_calls"`}, []string{`"name":"a"`, "src/a", "call_1"},
			[]string{"a denied rule_matched", "b allowed rule_matched"}},
		{"W3 deny the second", denying("b"), []string{"The tool call `b` was not run", `"index":0,"id":"call_1"`}, []string{`"name":"b"`, "src/b", "call_2"},
			[]string{"a allowed rule_matched", "b denied rule_matched"}},
		{"W5 deny all", denying("a", "b"), []string{"`a` was not run", "`b` was not run", `"finish_reason":"stop"`}, []string{"tool_calls", "src/"},
			[]string{"a denied rule_matched", "b denied rule_matched"}},
	} {
		for framing, split := range framings {
			t.Run(test.name+"/"+framing, func(t *testing.T) {
				r := newRig(t, test.policy, script{body: body, split: split}, drained)
				a := r.post(chatPath, chatRequest(true))
				if a.status != 200 || a.err != nil {
					t.Fatalf("status %d, %v", a.status, a.err)
				}
				mustContain(t, a.body, append(test.contain, "data: [DONE]")...)
				mustLack(t, a.body, test.lack...)
				rows := r.log.wait(t, 2)
				if fmt.Sprint(rows) != fmt.Sprint(test.rows) {
					t.Errorf("rows %q, want %q", rows, test.rows)
				}
				for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no", "X-Stopgate-Upstream": "test", "Content-Length": ""} {
					if got := a.header.Get(name); got != want {
						t.Errorf("%s: %q, want %q", name, got, want)
					}
				}
			})
		}
	}
}

// Proves W22, L2, P20: a stream without calls is forwarded unchanged.
func TestTextPassesUntouched(t *testing.T) {
	chat := ": ping\n\n" + `data: {"id":"x","choices":[{"index":0,"delta":{"content":"a\u00e9","reasoning_details":[{"x":1.0}]}}],"obfuscation":"zz"}` + "\n\n" +
		chatEvent(`{}`, `"stop"`) + `data: {"id":"x","choices":[],"usage":{"total_tokens":3}}` + "\n\n" + chatDone
	anthropic := anthropicStart + `event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}   }

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc=="}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: some_new_event
data: {"type":"some_new_event","x":[1, 2]}

` + anthropicEnd("end_turn")
	for name, test := range map[string]struct{ path, request, body string }{
		"Chat":      {chatPath, chatRequest(true), chat},
		"Anthropic": {anthropicPath, anthropicRequest(true), anthropic},
	} {
		for framing, split := range framings {
			if framing == "CRLF" {
				continue
			}
			t.Run(name+"/"+framing, func(t *testing.T) {
				r := newRig(t, allowAll, script{body: test.body, split: split}, nil)
				if a := r.post(test.path, test.request); a.body != test.body || a.err != nil {
					t.Errorf("%v, received\n%s\nwant\n%s", a.err, a.body, test.body)
				}
			})
		}
	}
}

const anthropicStart = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}

`

func anthropicEnd(reason string) string {
	return `event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

`
}

func anthropicText(index int, text string) string {
	return fmt.Sprintf(`event: content_block_start
data: {"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%q}}

event: content_block_stop
data: {"type":"content_block_stop","index":%d}

`, index, index, text, index)
}

func anthropicCall(index int, id, name, args string) string {
	half := len(args) / 2
	return fmt.Sprintf(`event: content_block_start
data: {"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%q}}

event: content_block_delta
data: {"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%q}}

event: content_block_stop
data: {"type":"content_block_stop","index":%d}

`, index, id, name, index, args[:half], index, args[half:], index)
}

// Proves W24, W25, W26, I24, P16, P17.
func TestAnthropicVerdicts(t *testing.T) {
	body := anthropicStart + anthropicText(0, "hi") + anthropicCall(1, "toolu_1", "a", `{"path":"src/a"}`) +
		anthropicCall(2, "toolu_2", "b", `{"path":"src/b"}`) + anthropicEnd("tool_use")
	for _, test := range []struct {
		name, policy  string
		contain, lack []string
	}{
		{"W24 allow all", allowAll, []string{"toolu_1", "toolu_2", "src/a", "src/b", `"stop_reason":"tool_use"`}, []string{"stopgate"}},
		{"W25 deny the first", denying("a"), []string{"`a` was not run", "toolu_2", "src/b", `"stop_reason":"tool_use"`}, []string{"toolu_1", "src/a"}},
		{"W26 deny all", denying("a", "b"), []string{"`a` was not run", "`b` was not run", `"stop_reason":"end_turn"`}, []string{"tool_use", "src/"}},
	} {
		for framing, split := range framings {
			t.Run(test.name+"/"+framing, func(t *testing.T) {
				r := newRig(t, test.policy, script{body: body, split: split}, drained)
				a := r.post(anthropicPath, anthropicRequest(true))
				if a.status != 200 || a.err != nil {
					t.Fatalf("status %d, %v", a.status, a.err)
				}
				mustContain(t, a.body, append(test.contain, `"message_stop"`)...)
				mustLack(t, a.body, test.lack...)
				r.log.wait(t, 2)
			})
		}
	}
}

// endless is a provider that sends a call to a with a path and then endless content, until its
// client goes away.
type endless struct {
	begin, more string
	gone        chan int64 // bytes of content when the client went away
}

func (e endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	rc := http.NewResponseController(w)
	_, _ = io.WriteString(w, e.begin)
	_ = rc.Flush()
	for n := int64(0); ; n += int64(len(e.more)) {
		select {
		case <-r.Context().Done():
			e.gone <- n
			return
		case <-time.After(time.Millisecond):
		}
		_, _ = io.WriteString(w, e.more)
		_ = rc.Flush()
	}
}

// Proves W6, D26-22: an early denial cancels the provider at once.
func TestDenialCancelsTheUpstream(t *testing.T) {
	for name, test := range map[string]struct{ path, request, begin, more, end string }{
		"Chat": {chatPath, chatRequest(true),
			chatEvent(`{"role":"assistant","content":"hi"}`, "null") + chatEvent(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"a","arguments":"{\"path\":\".env\",\"c\":\""}}]}`, "null"),
			chatEvent(`{"tool_calls":[{"index":0,"function":{"arguments":"xxxxxxxx"}}]}`, "null"), `"finish_reason":"stop"`},
		"Anthropic": {anthropicPath, anthropicRequest(true),
			anthropicStart + anthropicText(0, "hi") + "event: content_block_start\n" + `data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"a","input":{}}}` + "\n\n" +
				"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\".env\",\"c\":\""}}` + "\n\n",
			"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"xxxxxxxx"}}` + "\n\n", `"stop_reason":"end_turn"`},
	} {
		t.Run(name, func(t *testing.T) {
			provider := endless{begin: test.begin, more: test.more, gone: make(chan int64, 1)}
			r := newRig(t, denyingEnv, provider, nil)
			begin := time.Now()
			a := r.post(test.path, test.request)
			if a.err != nil || time.Since(begin) > time.Minute {
				t.Fatalf("after %v: %v", time.Since(begin), a.err)
			}
			mustContain(t, a.body, "hi", "`a` was not run", test.end)
			mustLack(t, a.body, ".env", "xxxx")
			select {
			case <-provider.gone:
			case <-time.After(time.Minute):
				t.Error("the provider was not cancelled")
			}
			r.log.wait(t, 1)
		})
	}
}

// denyingEnv denies paths named .env for every tool, as soon as the path is known.
const denyingEnv = "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = [{ arg = \"/path\", const = \".env\", mode = \"deny\" }, { mode = \"unattended\" }]\n"

// Proves W6 with after_deny = "drain": the gateway waits for the provider's end, for a bounded
// time.
func TestDrainIsBounded(t *testing.T) {
	provider := endless{begin: chatCall(0, "call_1", "a", `{"path":".env"}`), more: ": waiting\n", gone: make(chan int64, 1)}
	r := newRig(t, denying("a"), provider, func(o *gateway.Options) {
		o.Settings.AfterDeny = gateway.DrainUpstream
		o.Settings.Timeouts.DrainUpstream = 100 * time.Millisecond
	})
	a := r.post(chatPath, chatRequest(true))
	mustContain(t, a.body, "`a` was not run", `"finish_reason":"stop"`)
	if a.err != nil {
		t.Error(a.err)
	}
	<-provider.gone
}

// Proves S42: with on_deny = "error" the response ends with the error event, and unreleased calls
// are cancelled, not allowed.
func TestDenyError(t *testing.T) {
	body := chatStream("tool_calls", chatCall(0, "call_1", "a", `{"path":"src/a"}`), chatCall(1, "call_2", "b", `{"path":".env"}`), chatCall(2, "call_3", "c", `{"path":"src/c"}`))
	r := newRig(t, denyingEnv, script{body: body}, func(o *gateway.Options) { o.Settings.OnDeny = gateway.DenyError })
	a := r.post(chatPath, chatRequest(true))
	mustContain(t, a.body, `data: {"error":{`, `"code":"rule_matched"`, "`b` was not run")
	mustLack(t, a.body, "tool_calls", "[DONE]", "src/")
	if a.err == nil {
		t.Error("the body ended cleanly")
	}
	rows := r.log.wait(t, 3)
	slices.Sort(rows)
	if fmt.Sprint(rows) != "[a cancelled cancelled b denied rule_matched c cancelled cancelled]" {
		t.Errorf("rows: %s", rows)
	}

	whole := `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"a","arguments":"{\"path\":\"src/a\"}"}},{"id":"call_2","type":"function","function":{"name":"b","arguments":"{\"path\":\".env\"}"}}]},"finish_reason":"tool_calls"}]}`
	r = newRig(t, denyingEnv, script{body: whole, kind: "application/json"}, func(o *gateway.Options) { o.Settings.OnDeny = gateway.DenyError })
	a = r.post(chatPath, chatRequest(false))
	if a.status != http.StatusForbidden || a.header.Get("X-Should-Retry") != "false" {
		t.Errorf("status %d", a.status)
	}
	mustContain(t, a.body, `"code":"rule_matched"`, "`b` was not run")
	mustLack(t, a.body, "src/a", "tool_calls")
	r.log.wait(t, 2)
}

// Proves W17, W33, F10, FM5, L6: a stream that is cut at any event ends with the error event and a
// broken body, and no held call leaks.
func TestUpstreamCutAnywhere(t *testing.T) {
	for name, test := range map[string]struct{ path, request, body, failure string }{
		"Chat": {chatPath, chatRequest(true), chatStream("tool_calls", chatCall(0, "call_1", "a", `{"path":"src/a"}`), chatCall(1, "call_2", "b", `{"path":"src/b"}`)), `data: {"error":{`},
		"Anthropic": {anthropicPath, anthropicRequest(true), anthropicStart + anthropicText(0, "hi") + anthropicCall(1, "t1", "a", `{"path":"src/a"}`) +
			anthropicCall(2, "t2", "b", `{"path":"src/b"}`) + anthropicEnd("tool_use"), "event: error\ndata: "},
	} {
		events := perEvent(test.body)
		events = events[:len(events)-1] // nothing follows the last blank line
		for cut := range len(events) {
			for _, clean := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%d/clean=%t", name, cut, clean), func(t *testing.T) {
					r := newRig(t, allowAll, script{body: strings.Join(events[:cut], ""), split: perEvent, cut: !clean}, nil)
					a := r.post(test.path, test.request)
					calls := 0
					for _, e := range events[:cut] {
						if strings.Contains(e, `"name":"`) {
							calls++
						}
					}
					released := strings.Contains(strings.Join(events[:cut], ""), `"finish_reason":"tool_calls"`) || strings.Contains(strings.Join(events[:cut], ""), `"stop_reason":"tool_use"`)
					if name == "Chat" && cut == len(events)-1 && clean {
						// Only [DONE] is missing: some providers send none.
						mustContain(t, a.body, `"finish_reason":"tool_calls"`)
						mustLack(t, a.body, "[DONE]", `"error"`)
					} else {
						mustContain(t, a.body, test.failure)
						if !errors.Is(a.err, io.ErrUnexpectedEOF) {
							t.Errorf("the body ended with %v", a.err)
						}
						mustLack(t, a.body, "[DONE]", "message_stop")
					}
					if !released {
						mustLack(t, a.body, "src/", `"name":`)
					}
					r.log.wait(t, calls)
				})
			}
		}
	}
}

// Proves W53, FM7, I23: the client goes away while a call is held; the provider is cancelled and
// the call has its one row.
func TestClientGoesAway(t *testing.T) {
	provider := endless{
		begin: chatEvent(`{"role":"assistant","content":"hi"}`, "null") + chatEvent(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"a","arguments":"{\"path\":\"src"}}]}`, "null"),
		more:  chatEvent(`{"tool_calls":[{"index":0,"function":{"arguments":"xxxxxxxx"}}]}`, "null"), gone: make(chan int64, 1),
	}
	r := newRig(t, allowAll, provider, nil)
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "POST", r.url+chatPath, strings.NewReader(chatRequest(true)))
	res, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(res.Body, make([]byte, 20)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond)
	cancel()
	res.Body.Close()
	select {
	case <-provider.gone:
	case <-time.After(time.Minute):
		t.Fatal("the provider was not cancelled")
	}
	if rows := r.log.wait(t, 1); rows[0] != "a denied client_gone" {
		t.Errorf("row %q", rows[0])
	}
	if held := r.gw.Stats().Held; held != 0 {
		t.Errorf("%d bytes are still on the books", held)
	}
}

// Proves W35, L12: tools that run at the provider are allowed if they are listed, and the log
// states that they were not evaluated.
func TestServerToolsAreNotEvaluated(t *testing.T) {
	body := anthropicStart + `event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

` + anthropicCall(1, "t1", "a", `{"path":"x"}`) + anthropicEnd("tool_use")
	request := strings.Replace(anthropicRequest(true), `"tools":[`, `"tools":[{"type":"web_search_20250305","name":"web_search"},`, 1)
	r := newRig(t, denying("a"), script{body: body}, func(o *gateway.Options) { o.Settings.ServerTools = []string{"web_search_*"} })
	a := r.post(anthropicPath, request)
	mustContain(t, a.body, "srv_1", "`a` was not run", `"stop_reason":"end_turn"`)
	r.log.wait(t, 1)
	if n := r.log.events("not_evaluated"); n != 1 {
		t.Errorf("%d rows say not_evaluated", n)
	}
	r = newRig(t, denying("a"), unreachable(t), nil)
	if a := r.post(anthropicPath, request); a.status != 400 {
		t.Errorf("a tool that is not listed: status %d: %s", a.status, a.body)
	}
}

// Proves W46 for HTTP/2 upstream: the framing below does not matter.
func TestHTTP2Upstream(t *testing.T) {
	body := chatStream("tool_calls", chatCall(0, "call_1", "a", `{"path":"`+strings.Repeat("x", 200_000)+`"}`))
	protocol := ""
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocol = r.Proto
		script{body: body, split: perEvent}.ServeHTTP(w, r)
	}))
	up.EnableHTTP2 = true
	up.StartTLS()
	defer up.Close()
	r := newRig(t, allowAll, unreachable(t), func(o *gateway.Options) {
		o.Upstreams[0].BaseURL, o.Upstreams[0].Transport = up.URL, up.Client().Transport
	})
	for range 10 {
		if a := r.post(chatPath, chatRequest(true)); a.err != nil || protocol != "HTTP/2.0" || strings.Count(a.body, "x") < 200_000 {
			t.Errorf("%s, %v, %d bytes", protocol, a.err, len(a.body))
		}
	}
}
