package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway"
)

// stepping is a provider whose response begins with some events and continues with endless others,
// each sent by the test.
type stepping struct {
	begin []string
	more  string
	next  chan struct{}
	gone  chan struct{}
}

func (s stepping) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	defer close(s.gone)
	for i := 0; ; i++ {
		select {
		case <-r.Context().Done():
			return
		case <-s.next:
		}
		ev := s.more
		if i < len(s.begin) {
			ev = s.begin[i]
		}
		_, _ = io.WriteString(w, ev)
		_ = http.NewResponseController(w).Flush()
	}
}

// usageChunk ends a Chat stream if usage was requested.
const usageChunk = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}` + "\n\n"

// A short denied call is read to its end: the allowed call after it and the provider's usage
// arrive, however slowly the events arrive.
func TestDenialKeepsWhatFollows(t *testing.T) {
	for name, test := range map[string]struct {
		path, request, body string
		want                []string
	}{
		"Chat": {chatPath, chatRequest(true),
			strings.Replace(chatStream("tool_calls", chatCall(0, "call_1", "a", `{"path":"x"}`), chatCall(1, "call_2", "b", `{"path":"src/b"}`)), chatDone, usageChunk+chatDone, 1),
			[]string{"`a` was not run", `"name":"b"`, "src/b", `"finish_reason":"tool_calls"`, `"completion_tokens":3`, "[DONE]"}},
		"Messages": {anthropicPath, anthropicRequest(true),
			anthropicStart + anthropicCall(0, "toolu_1", "a", `{"path":"x"}`) + anthropicCall(1, "toolu_2", "b", `{"path":"src/b"}`) + anthropicEnd("tool_use"),
			[]string{"`a` was not run", `"name":"b"`, "src/b", `"stop_reason":"tool_use"`, `"output_tokens":9`, "message_stop"}},
		"Responses": {responsesPath, responsesRequest(true, ""), responsesStream([2]string{"a", `{"path":"x"}`}, [2]string{"b", `{"path":"src/b"}`}),
			[]string{"`a` was not run", `"name":"b"`, "src/b", `"usage":{"output_tokens":3}`, "response.completed"}},
	} {
		for _, pace := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 5 * time.Second} {
			t.Run(fmt.Sprint(name, " ", pace), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					rows := &log{}
					provider := func(w http.ResponseWriter, r *http.Request) {
						_, _ = io.Copy(io.Discard, r.Body)
						w.Header().Set("Content-Type", "text/event-stream")
						for _, ev := range strings.Split(strings.TrimSuffix(test.body, "\n\n"), "\n\n") {
							time.Sleep(pace) // in a synctest bubble: no real time passes
							if r.Context().Err() != nil {
								t.Error("the provider was stopped")
								return
							}
							_, _ = io.WriteString(w, ev+"\n\n")
							_ = http.NewResponseController(w).Flush()
						}
					}
					c, _ := inProcess(t, denying("a"), provider, func(o *gateway.Options) { o.Gate = newGate(t, denying("a"), rows) })
					res, err := c.Post("http://localhost"+test.path, "application/json", strings.NewReader(test.request))
					if err != nil {
						t.Fatal(err)
					}
					defer res.Body.Close()
					body, err := io.ReadAll(res.Body)
					mustContain(t, string(body), test.want...)
					mustLack(t, string(body), "was stopped")
					if got := fmt.Sprint(rows.wait(t, 2)); err != nil || got != "[a denied rule_matched b allowed rule_matched]" {
						t.Error(err, got)
					}
				})
			})
		}
	}
}

// A denied call is cancelled when cancel_after bytes arrived after its decision, not before; the
// text states that the response was stopped there.
func TestCancelAfter(t *testing.T) {
	piece := strings.Repeat("x", 64)
	for name, test := range map[string]struct{ path, request, begin, more, end string }{
		"Chat": {chatPath, chatRequest(true),
			chatEvent(`{"role":"assistant","content":"hi"}`, "null") + chatEvent(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"a","arguments":"{\"path\":\".env\",\"c\":\""}}]}`, "null"),
			chatEvent(`{"tool_calls":[{"index":0,"function":{"arguments":"`+piece+`"}}]}`, "null"), `"finish_reason":"stop"`},
		"Messages": {anthropicPath, anthropicRequest(true),
			anthropicStart + anthropicText(0, "hi") + "event: content_block_start\n" + `data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"a","input":{}}}` + "\n\n" +
				"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\".env\",\"c\":\""}}` + "\n\n",
			"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"` + piece + `"}}` + "\n\n", `"stop_reason":"end_turn"`},
		"Responses": {responsesPath, responsesRequest(true, `,"store":false`), responsesBegin("a", `{\"path\":\".env\",\"c\":\"`), responsesMore(piece), `"status":"completed"`},
	} {
		for _, after := range []int64{0, 256, 4 << 10} {
			t.Run(fmt.Sprint(name, " after ", after), func(t *testing.T) {
				begin := perEvent(test.begin)
				begin = begin[:len(begin)-1]
				p := stepping{begin: begin, more: test.more, next: make(chan struct{}), gone: make(chan struct{})}
				r := newRig(t, denyingEnv, p, func(o *gateway.Options) { o.Settings.CancelAfter = after })
				answered := make(chan answer, 1)
				go func() {
					answered <- r.post(test.path, strings.Replace(test.request, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1))
				}()
				sent := 0
				var a answer
				for over := false; !over; {
					select {
					case p.next <- struct{}{}:
						sent++
					case a = <-answered:
						over = true
					}
				}
				<-p.gone
				mustContain(t, a.body, "hi", "`a` was not run", "The answer was stopped at this call", test.end, `"usage":{`)
				if estimated := name != "Messages"; (a.trailer.Get("X-Stopgate-Usage-Estimated") == "true") != estimated {
					t.Errorf("trailer %v", a.trailer)
				}
				r.log.wait(t, 1)
				row := r.log.event(t, stopgate.AuditAnswerStopped)
				if row.Usage == nil || row.Usage.Output == 0 || row.Usage.Estimated != (name != "Messages") {
					t.Errorf("row %+v, usage %+v", row, row.Usage)
				}
				mustLack(t, a.body, ".env", "xxxx")
				if least := len(begin) + int(after)/len(piece) - 1; sent < least {
					t.Errorf("stopped behind %d events, want at least %d", sent, least)
				}
			})
		}
	}
}

// The calls of a response do not depend on its chunks: a denied call longer than cancel_after ends
// it, in one read or in many.
func TestCancelIndependentOfChunks(t *testing.T) {
	long, short := `{"path":".env","content":"`+strings.Repeat("x", 6<<10)+`"}`, `{"path":".env","content":"`+strings.Repeat("x", 3<<10)+`"}`
	for _, in := range tongues() {
		for _, test := range []struct {
			args  string
			lives bool
		}{{long, false}, {short, true}} {
			body := in.response(true, "answer_1", []pastCall{{"x1", "a", test.args}, {"x2", "b", `{"path":"src/b"}`}})
			for name, split := range map[string]func(string) []string{"at once": whole, "by events": perEvent} {
				t.Run(fmt.Sprint(in.name, " ", len(test.args), " ", name), func(t *testing.T) {
					r := newRig(t, denyingEnv, script{body: body, split: split}, nil)
					a := r.send("POST", in.path, mustJSON(in.request(true, []string{"a", "b"}, []historyEntry{user("go")})), nil)
					mustContain(t, a.body, "`a` was not run")
					if lives := strings.Contains(a.body, `"x2"`); lives != test.lives || strings.Contains(a.body, "was stopped") == test.lives {
						t.Errorf("the call behind it lives: %v\n%s", lives, a.body)
					}
				})
			}
		}
	}
}

// A call that the codec refuses is cancelled like one that a rule denies.
func TestCancelAfterRefusal(t *testing.T) {
	piece := strings.Repeat("x", 64)
	for name, test := range map[string]struct{ path, request, begin, more string }{
		"Chat": {chatPath, chatRequest(true),
			chatEvent(`{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"a","arguments":"{"}}]}`, "null") +
				chatEvent(`{"tool_calls":[{"index":0,"function":{"name":"b","arguments":""}}]}`, "null"),
			chatEvent(`{"tool_calls":[{"index":0,"function":{"arguments":"`+piece+`"}}]}`, "null")},
		"Messages": {anthropicPath, anthropicRequest(true),
			anthropicStart + "event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"","name":"a","input":{}}}` + "\n\n",
			"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + piece + `"}}` + "\n\n"},
		"Responses": {responsesPath, responsesRequest(true, `,"store":false`),
			strings.Replace(responsesBegin("a", "{"), `"call_id":"call_a"`, `"call_id":""`, 1), responsesMore(piece)},
	} {
		t.Run(name, func(t *testing.T) {
			begin := perEvent(test.begin)
			begin = begin[:len(begin)-1]
			p := stepping{begin: begin, more: test.more, next: make(chan struct{}), gone: make(chan struct{})}
			r := newRig(t, allowAll, p, nil)
			answered := make(chan answer, 1)
			go func() { answered <- r.post(test.path, test.request) }()
			sent := 0
			for over := false; !over; {
				select {
				case p.next <- struct{}{}:
					sent++
				case a := <-answered:
					over = true
					mustContain(t, a.body, "`a` was not run", "The answer was stopped at this call", "protocol_violation")
				}
			}
			<-p.gone
			if least := 4<<10/len(piece) - 1; sent < least {
				t.Errorf("stopped behind %d events, want at least %d", sent, least)
			}
		})
	}
}

// A round whose model was cancelled in the middle of a denied call continues with the complete
// part, and has its row; the usage includes it.
func TestAnswerAfterCut(t *testing.T) {
	piece := strings.Repeat("x", 64)
	for name, test := range map[string]struct {
		path, request, begin, more, then string
		again                            []string
	}{
		"Chat": {chatPath, strings.Replace(chatRequest(true), `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1),
			chatEvent(`{"role":"assistant","content":"hi"}`, "null") + chatEvent(`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":"{\"path\":\".env\",\"c\":\""}}]}`, "null"),
			chatEvent(`{"tool_calls":[{"index":0,"function":{"arguments":"`+piece+`"}}]}`, "null"),
			chatEvent(`{"role":"assistant","content":"then"}`, "null") + chatEvent("{}", `"stop"`) + usageChunk + chatDone,
			[]string{`"arguments":"{\"path\":\".env\"}"`, `"tool_call_id":"call_a"`}},
		"Responses": {responsesPath, responsesRequest(true, ""), responsesBegin("a", `{\"path\":\".env\",\"c\":\"`), responsesMore(piece),
			responsesEvent("response.created", `"response":{"id":"resp_2","status":"in_progress","output":[]}`) +
				responsesEvent("response.completed", `"response":{"id":"resp_2","status":"completed","output":[],"usage":{"input_tokens":7,"output_tokens":3,"total_tokens":10}}`),
			[]string{`"type":"function_call","status":"completed","call_id":"call_a","name":"a","arguments":"{\"path\":\".env\"}"`, `"type":"function_call_output","call_id":"call_a"`}},
	} {
		t.Run(name, func(t *testing.T) {
			begin := perEvent(test.begin)
			begin = begin[:len(begin)-1]
			first := stepping{begin: begin, more: test.more, next: make(chan struct{}), gone: make(chan struct{})}
			requests := make(chan string, 2)
			r := newRig(t, denyingEnv, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				body, _ := io.ReadAll(q.Body)
				requests <- string(body)
				if strings.Contains(string(body), `"status\":\"denied`) {
					script{body: test.then}.ServeHTTP(w, q)
					return
				}
				first.ServeHTTP(w, q)
			}), func(o *gateway.Options) { o.Settings.OnDeny = gateway.DenyAnswer })
			answered := make(chan answer, 1)
			go func() { answered <- r.post(test.path, test.request) }()
			var a answer
			for over := false; !over; {
				select {
				case first.next <- struct{}{}:
				case a = <-answered:
					over = true
				}
			}
			<-first.gone
			<-requests
			mustContain(t, <-requests, test.again...)
			if a.err != nil || a.trailer.Get("X-Stopgate-Usage-Estimated") != "true" {
				t.Errorf("%v, trailer %v", a.err, a.trailer)
			}
			mustLack(t, a.body, `"total_tokens":10`, ".env", "xxxx")
			if row := r.log.event(t, stopgate.AuditAnswerStopped); row.Usage == nil || !row.Usage.Estimated || row.Usage.Output == 0 {
				t.Errorf("row %+v", row)
			}
		})
	}
}

// event waits for an event row, which may be written after the client has its response.
func (l *log) event(t *testing.T, kind stopgate.AuditEvent) stopgate.Record {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		l.mu.Lock()
		i := slices.IndexFunc(l.rows, func(r stopgate.Record) bool { return r.Event == kind })
		if i >= 0 {
			defer l.mu.Unlock()
			return l.rows[i]
		}
		l.mu.Unlock()
	}
	t.Fatalf("no row %s", kind)
	return stopgate.Record{}
}
