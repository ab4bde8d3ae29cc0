package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// Proves W44, S1, D26-07: a person who says no while the provider is silent in the
// middle of the arguments ends the response: with the denial, or with the error
// where denials are errors. The provider is stopped.
func TestS1NoWhileTheProviderIsSilent(t *testing.T) {
	for _, test := range []struct {
		name  string
		form  gateway.OnDeny
		after gateway.AfterDeny
		want  []string
	}{
		{"text", gateway.DenyText, gateway.CancelUpstream, []string{"`a` was not run", `"finish_reason":"stop"`, "[DONE]"}},
		{"text, drained", gateway.DenyText, gateway.DrainUpstream, []string{"`a` was not run", `"finish_reason":"stop"`, "[DONE]"}},
		{"error", gateway.DenyError, gateway.CancelUpstream, []string{`"error"`, "approval_declined"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			silent, stopped := make(chan struct{}), make(chan struct{})
			provider := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, chatEvent(`{"role":"assistant","content":"hi"}`, "null")+
					chatEvent(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"a","arguments":"{\"path\":\"x"}}]}`, "null"))
				http.NewResponseController(w).Flush()
				close(silent)
				<-r.Context().Done()
				close(stopped)
			})
			approver := ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
				<-silent
				return ports.No(ctx, q)
			})
			const asking = "version = 1\n[tools.a.policy]\nrun = \"ask\"\n"
			rows := &log{}
			r := newRig(t, asking, provider, func(o *gateway.Options) {
				o.Gate = newGate(t, asking, rows, gate.WithApprover(approver))
				o.Settings.OnDeny, o.Settings.AfterDeny = test.form, test.after
				o.Settings.Timeouts.DrainUpstream = 50 * time.Millisecond
			})
			a := r.post(chatPath, chatRequest(true))
			mustContain(t, a.body, append(test.want, "hi")...)
			mustLack(t, a.body, "call_1")
			if rows := rows.wait(t, 1); fmt.Sprint(rows) != "[a denied approval_declined]" {
				t.Errorf("rows %s", rows)
			}
			select {
			case <-stopped:
			case <-time.After(5 * time.Second):
				t.Error("the provider goes on")
			}
		})
	}
}

// Proves D26-23, D26-32: a denial does not stop the provider while another call is on its
// way, whether a rule or a person denied; that call arrives whole.
func TestDenialKeepsOtherCalls(t *testing.T) {
	for name, mode := range map[string]string{"by a rule": "deny", "by a person": "ask"} {
		t.Run(name, func(t *testing.T) {
			const long = 5000
			policy := "version = 1\n[tools.\"*\".policy]\nrun = \"unattended\"\n[tools.a.policy]\nrun = [ { arg = \"/x\", present = true, mode = \"" + mode + "\" }, { mode = \"unattended\" } ]\n"
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
					runtime.Gosched() // until the denial has been taken note of
				}
				say(1, `"function":{"arguments":"\"z\":\"`+strings.Repeat("z", 1000)+`\","}`) // for nothing
				select {                                                                      // silence, for longer than a response gets in which nothing can run
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
