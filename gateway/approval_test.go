package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// Proves W44, S1, D26-07: a no while the provider is silent in the middle of the arguments ends the
// response with the denial, or with the error if denials are errors. The provider is cancelled.
func TestDeclineWhileProviderIsSilent(t *testing.T) {
	for _, test := range []struct {
		name  string
		form  gateway.OnDeny
		after gateway.AfterDeny
		more  string // another call that is arriving
		rows  []string
		want  []string
	}{
		{"text", gateway.DenyText, gateway.CancelUpstream, "", []string{"a denied approval_declined"}, []string{"`a` was not run", `"finish_reason":"stop"`, "[DONE]"}},
		{"text, drained", gateway.DenyText, gateway.DrainUpstream, "", []string{"a denied approval_declined"}, []string{"`a` was not run", `"finish_reason":"stop"`, "[DONE]"}},
		{"error", gateway.DenyError, gateway.CancelUpstream, "", []string{"a denied approval_declined"}, []string{`"error"`, "approval_declined"}},
		{"error, beside another call", gateway.DenyError, gateway.CancelUpstream,
			chatEvent(`{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"c","arguments":"{"}}]}`, "null"),
			[]string{"c cancelled cancelled", "a denied approval_declined"}, []string{`"error"`, "approval_declined"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stopped := make(chan struct{})
				provider := func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					w.Header().Set("Content-Type", "text/event-stream")
					io.WriteString(w, chatEvent(`{"role":"assistant","content":"hi"}`, "null")+
						chatEvent(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"a","arguments":"{\"path\":\"x"}}]}`, "null")+test.more)
					http.NewResponseController(w).Flush()
					<-r.Context().Done()
					close(stopped)
				}
				approver := ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
					time.Sleep(time.Second) // in a synctest bubble: all other goroutines wait for the provider by then
					return ports.No(ctx, q)
				})
				rows := &log{}
				policy := asking + "[tools.c.policy]\nrun = \"unattended\"\n"
				c, _ := inProcess(t, policy, provider, func(o *gateway.Options) {
					o.Gate = newGate(t, policy, rows, gate.WithApprover(approver))
					o.Settings.OnDeny, o.Settings.AfterDeny = test.form, test.after
					o.Settings.Timeouts.DrainUpstream = 50 * time.Millisecond
				})
				begin := time.Now()
				res, err := c.Post("http://localhost"+chatPath, "application/json", strings.NewReader(chatRequest(true)))
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				text, _ := io.ReadAll(res.Body)
				mustContain(t, string(text), append(test.want, "hi")...)
				mustLack(t, string(text), "call_1", "call_2")
				if rows := rows.wait(t, len(test.rows)); !slices.Equal(rows, test.rows) {
					t.Errorf("rows %s", rows)
				}
				<-stopped
				if took := time.Since(begin); took > 2*time.Second {
					t.Errorf("it ends after %v", took)
				}
			})
		})
	}
}

// Proves D26-23, D26-32: a denial by a rule or a person does not cancel the provider while another
// call is arriving; that call arrives completely.
func TestDenialKeepsOtherCalls(t *testing.T) {
	for name, mode := range map[string]string{"by a rule": "deny", "by a person": "ask"} {
		t.Run(name, func(t *testing.T) {
			const long = 5000
			policy := "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n[tools.a.policy]\nrun = [ { arg = \"/x\", present = true, mode = \"" + mode + "\" }, { mode = \"unattended\" } ]\n"
			var r *rig
			begun := make(chan struct{})
			provider := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				io.Copy(io.Discard, req.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				say := func(index int, text string) {
					io.WriteString(w, chatEvent(fmt.Sprintf(`{"tool_calls":[{"index":%d,%s}]}`, index, text), "null"))
					http.NewResponseController(w).Flush()
				}
				say(0, `"id":"call_1","type":"function","function":{"name":"c","arguments":"{\"path\":"}`)
				say(1, `"id":"call_2","type":"function","function":{"name":"a","arguments":"{\"path\":\"`+strings.Repeat("p", long)+`\",\"x\":1,"}`)
				close(begun)
				for end := time.Now().Add(10 * time.Second); r.gw.Stats().Held >= long && time.Now().Before(end) && req.Context().Err() == nil; {
					runtime.Gosched() // until the denial was handled
				}
				say(1, `"function":{"arguments":"\"z\":\"`+strings.Repeat("z", 1000)+`\","}`) // discarded
				select {                                                                      // longer than the limit for a response in which nothing can run
				case <-req.Context().Done():
				case <-time.After(150 * time.Millisecond):
				}
				say(0, `"function":{"arguments":"\"src/a\"}"}`)
				say(1, `"function":{"arguments":"\"y\":2}"}`)
				io.WriteString(w, chatEvent(`{}`, `"tool_calls"`)+"data: [DONE]\n\n")
			})
			approver := ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
				<-begun
				return ports.No(ctx, q)
			})
			rows := &log{}
			r = newRig(t, policy, provider, func(o *gateway.Options) { o.Gate = newGate(t, policy, rows, gate.WithApprover(approver)) })
			a := r.post(chatPath, chatRequest(true))
			mustContain(t, a.body, "`a` was not run", `"name":"c"`, `src/a`, `"finish_reason":"tool_calls"`, "[DONE]")
			mustLack(t, a.body, "call_2")
			if got := rows.wait(t, 2); a.err != nil || len(got) != 2 {
				t.Errorf("%v, rows %q", a.err, got)
			}
		})
	}
}
