package gateway_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gateway"
)

// observing returns a policy that enforces nothing.
func observing(policy string) string {
	return strings.Replace(policy, "version = 1\n", "version = 1\n[gate]\nenforcement = \"observe\"\n", 1)
}

// Proves K38, S31: in observe mode all bytes are forwarded unchanged, even malformed ones, and the
// records have the decisions that would have been enforced.
func TestObserve(t *testing.T) {
	denied := chatStream("tool_calls", chatCall(0, "call_1", "a", `{"path":".env"}`), chatCall(1, "call_2", "b", `{"path": "src" }`))
	broken := chatEvent(`{"role":"assistant"}`, "null") + chatCall(0, "call_1", "a", `{"path":".env"}`) + "data: {\"choices\":[}\n\n" + chatCall(1, "call_2", "b", `{}`) + chatDone + "data: behind the end\n\n"
	for _, test := range []struct {
		name, body string
		split      func(string) []string
		rows       int
	}{
		{"denied call", denied, whole, 2},
		{"denied call, byte by byte", denied, perByte, 2},
		{"denied call, CRLF", denied, crlf, 2},
		{"malformed", broken, perEvent, 1},
		{"cut", denied[:len(denied)/2], whole, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, observing(denyingEnv), script{body: test.body, split: test.split}, func(o *gateway.Options) { o.Settings.OnDeny = gateway.DenyError })
			a := r.post(chatPath, chatRequest(true))
			if want := strings.Join(test.split(test.body), ""); a.body != want || a.err != nil {
				t.Errorf("%v, received\n%s\nwant\n%s", a.err, a.body, want)
			}
			r.log.wait(t, test.rows)
			for _, row := range r.log.rows {
				if row.Kind == "decision" && (row.Enforced == nil || *row.Enforced || row.Status == "allowed" || row.Status == "denied") {
					t.Errorf("row %+v", row)
				}
			}
		})
	}
	t.Run("whole", func(t *testing.T) {
		body := chatWhole("tool_calls", [3]string{"c1", "a", `{"path":".env"}`})
		r := newRig(t, observing(denyingEnv), script{body: body, kind: "application/json"}, nil)
		if a := r.post(chatPath, chatRequest(false)); a.body != body || a.status != 200 {
			t.Errorf("status %d: %s", a.status, a.body)
		}
		r.log.wait(t, 1)
	})
	t.Run("neither JSON nor a stream", func(t *testing.T) {
		r := newRig(t, observing(allowAll), script{body: "<html>", kind: "text/html"}, nil)
		if a := r.post(chatPath, chatRequest(false)); a.body != "<html>" || a.status != 200 || a.header.Get("Content-Type") != "text/html" {
			t.Errorf("status %d: %s", a.status, a.body)
		}
		if n := r.log.events("not_evaluated"); n != 1 {
			t.Errorf("%d rows say not_evaluated", n)
		}
	})
	t.Run("server tools", func(t *testing.T) {
		r := newRig(t, observing(allowAll), script{body: chatWhole("stop"), kind: "application/json"}, nil)
		if a := r.post(chatPath, `{"model":"m","messages":[],"tools":[{"type":"web_search_preview"}]}`); a.status != 200 {
			t.Errorf("status %d: %s", a.status, a.body)
		}
		if n := r.log.events("not_evaluated"); n != 1 {
			t.Errorf("%d rows say not_evaluated", n)
		}
	})
	t.Run("unknown routes stay closed", func(t *testing.T) {
		r := newRig(t, observing(allowAll), unreachable(t), nil)
		if a := r.post("/v1/responses/resp_1", "{}"); a.status != 404 {
			t.Errorf("status %d", a.status)
		}
	})
	t.Run("a broken body stays broken", func(t *testing.T) {
		r := newRig(t, observing(allowAll), script{body: denied[:100], cut: true}, nil)
		if a := r.post(chatPath, chatRequest(true)); a.body != denied[:100] || a.err == nil {
			t.Errorf("%v: %s", a.err, a.body)
		}
	})
	t.Run("the client goes away", func(t *testing.T) {
		provider := endless{begin: chatEvent(`{"content":"x"}`, "null"), more: chatEvent(`{"content":"x"}`, "null"), gone: make(chan int64, 1)}
		r := newRig(t, observing(allowAll), provider, nil)
		res, err := r.client.Post(r.url+chatPath, "application/json", strings.NewReader(chatRequest(true)))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		select {
		case <-provider.gone:
		case <-time.After(time.Minute):
			t.Error("the provider was not cancelled")
		}
	})
}
