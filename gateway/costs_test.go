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

// stepping is a provider whose answer begins with some events and goes on with one more
// without end, each of them when the test says so.
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

// usageChunk is what a Chat stream ends with where usage was asked for.
const usageChunk = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}` + "\n\n"

// A short denied call is read to its end: the allowed call behind it and the provider's
// usage arrive, however slowly the events come.
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
	} {
		for _, pace := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 5 * time.Second} {
			t.Run(fmt.Sprint(name, " ", pace), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					rows := &log{}
					provider := func(w http.ResponseWriter, r *http.Request) {
						_, _ = io.Copy(io.Discard, r.Body)
						w.Header().Set("Content-Type", "text/event-stream")
						for _, ev := range strings.Split(strings.TrimSuffix(test.body, "\n\n"), "\n\n") {
							time.Sleep(pace) // in a bubble: no real time passes
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

// A denied call is cut off when cancel_after bytes of it came behind its decision, not
// before; the text says that the answer was stopped there.
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
				if estimated := name == "Chat"; (a.trailer.Get("X-Stopgate-Usage-Estimated") == "true") != estimated {
					t.Errorf("trailer %v", a.trailer)
				}
				r.log.wait(t, 1)
				row := r.log.event(t, stopgate.AuditAnswerStopped)
				if row.Usage == nil || row.Usage.Output == 0 || row.Usage.Estimated != (name == "Chat") {
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

// event waits for an event row, which may be written after the client has its answer.
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
