package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway"
)

const hiItem = `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"hi"}]}`

// responsesBegin returns the start of a response with a text and a call of a tool.
func responsesBegin(tool, args string) string {
	return responsesEvent("response.created", `"sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"model":"m","status":"in_progress","parallel_tool_calls":true,"tool_choice":"auto","tools":[{"x":"`+strings.Repeat("y", 2000)+`"}],"output":[],"usage":null}`) +
		responsesEvent("response.output_item.added", `"sequence_number":1,"output_index":0,"item":`+hiItem) +
		responsesEvent("response.output_item.done", `"sequence_number":2,"output_index":0,"item":`+hiItem) +
		responsesEvent("response.output_item.added", fmt.Sprintf(`"sequence_number":3,"output_index":1,"item":%s`, responsesCall(tool, ""))) +
		responsesMore(args)
}

// responsesMore returns more arguments of the call.
func responsesMore(args string) string {
	return responsesEvent("response.function_call_arguments.delta", `"sequence_number":4,"output_index":1,"item_id":"fc_a","delta":"`+args+`"`)
}

// keeper is a provider that stores a response: a long call of a and a call of b, then its end, at a
// pace. It accepts the next request only with the results of both.
type keeper struct {
	pace    time.Duration
	pieces  int
	mu      sync.Mutex
	ended   bool // the first response was written to its end
	gone    bool // the connection was closed before its end
	ending  string
	next    string // the second request
	request int
}

func (p *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.request++
	first := p.request == 1
	if !first {
		p.next, p.ending = string(body), fmt.Sprint(p.ended)
	}
	p.mu.Unlock()
	if !first {
		script{body: `{"id":"resp_2","status":"completed","output":[]}`, kind: "application/json"}.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events := perEvent(responsesBegin("a", `{\"path\":\".env\",\"c\":\"`))
	events = events[:len(events)-1]
	args := `{"path":".env","c":"`
	for range p.pieces {
		events = append(events, responsesMore(strings.Repeat("x", 64)))
		args += strings.Repeat("x", 64)
	}
	args += `"}`
	call, other := responsesCall("a", args), responsesCall("b", `{"path":"y"}`)
	events = append(events, responsesMore(`\"}`), responsesEvent("response.output_item.done", `"output_index":1,"item":`+call),
		responsesEvent("response.output_item.added", `"output_index":2,"item":`+responsesCall("b", "")), responsesEvent("response.output_item.done", `"output_index":2,"item":`+other),
		responsesEvent("response.completed", `"response":{"id":"resp_1","status":"completed","output":[`+hiItem+`,`+call+`,`+other+`],"usage":{"input_tokens":70,"input_tokens_details":{"cached_tokens":0},"output_tokens":900,"total_tokens":970}}`))
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended = true
	}()
	for _, ev := range events {
		time.Sleep(p.pace)
		if r.Context().Err() != nil {
			p.mu.Lock()
			p.gone = true
			p.mu.Unlock()
			return
		}
		_, _ = io.WriteString(w, ev)
		_ = http.NewResponseController(w).Flush()
	}
}

// A stored response ends for its client where an unstored one is cancelled. The gateway reads the
// provider's to its end, so that it can be continued, and a request that continues it meanwhile
// waits.
func TestStoredResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &keeper{pace: 20 * time.Millisecond, pieces: 1000}
		rows := &log{}
		c, _ := inProcess(t, denyingEnv, p.ServeHTTP, func(o *gateway.Options) { o.Gate = newGate(t, denyingEnv, rows) })
		post := func(body string) string {
			res, err := c.Post("http://localhost"+responsesPath, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		start := time.Now()
		body := post(responsesRequest(true, ""))
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("the client's reply took %v of the provider's 20 s", took)
		}
		mustContain(t, body, "`a` was not run", "The answer was stopped at this call", "event: response.completed", `"id":"msg_1"`, `"tools":[]`, `"total_tokens":`)
		mustLack(t, body, ".env", "xxxx", `"name":"a"`)
		var last struct {
			Sequence int `json:"sequence_number"`
			Response struct {
				ID, Status, Model string
				Output            []struct{ ID, Type string }
			}
		}
		events := perEvent(strings.TrimSuffix(body, "\n\n"))
		_, data, _ := strings.Cut(events[len(events)-1], "data: ")
		if err := json.Unmarshal([]byte(data), &last); err != nil || fmt.Sprint(last.Response) != "{resp_1 completed m [{msg_1 message} {msg_stopgate_fc_a message}]}" || last.Sequence != 9 {
			t.Errorf("%v: %+v", err, last)
		}
		post(`{"model":"m","previous_response_id":"resp_1","input":"go on"}`)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.ending != "true" || p.gone {
			t.Errorf("the next request came before the response was whole (whole: %s, broken off: %v)", p.ending, p.gone)
		}
		for _, id := range []string{"call_a", "call_b"} {
			if n := strings.Count(p.next, `{"type":"function_call_output","call_id":"`+id+`"`); n != 1 {
				t.Errorf("%d results of %s in %s", n, id, p.next)
			}
		}
		mustContain(t, p.next, "rule_matched", "cancelled")
		if got := fmt.Sprint(rows.wait(t, 2)); got != "[a denied rule_matched b cancelled cancelled]" {
			t.Error(got)
		}
		if row := rows.event(t, stopgate.AuditAnswerStopped); row.Usage == nil || row.Usage.Estimated || row.Usage.Output != 900 || row.Usage.Input != 70 || row.Cause != "" {
			t.Errorf("row %+v, usage %+v", row, row.Usage)
		}
		if n := rows.events(stopgate.AuditAnswerStopped); n != 1 {
			t.Errorf("%d rows", n)
		}
	})
}

// Reading in the background is bounded in time and in bytes, ends with the gateway, and is logged.
func TestStoredResponseBounds(t *testing.T) {
	for name, change := range map[string]func(*gateway.Options){
		"time":  func(o *gateway.Options) { o.Settings.Timeouts.ReadOn = 5 * time.Second },
		"bytes": func(o *gateway.Options) { o.Settings.Limits.ReadOn = 10 << 10 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &keeper{pace: 20 * time.Millisecond, pieces: 10_000}
				rows := &log{}
				c, _ := inProcess(t, denyingEnv, p.ServeHTTP, func(o *gateway.Options) { o.Gate = newGate(t, denyingEnv, rows); change(o) })
				for _, body := range []string{responsesRequest(true, ""), `{"model":"m","previous_response_id":"resp_1","input":"go on"}`} {
					res, err := c.Post("http://localhost"+responsesPath, "application/json", strings.NewReader(body))
					if err != nil {
						t.Fatal(err)
					}
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
				synctest.Wait()
				p.mu.Lock()
				defer p.mu.Unlock()
				if !p.gone || !strings.Contains(p.next, `"call_id":"call_a"`) {
					t.Errorf("stopped %v, then %s", p.gone, p.next)
				}
				if row := rows.event(t, stopgate.AuditAnswerStopped); !row.Usage.Estimated || row.Cause == "" {
					t.Errorf("row %+v", row)
				}
			})
		})
	}
}
