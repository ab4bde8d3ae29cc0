package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
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
