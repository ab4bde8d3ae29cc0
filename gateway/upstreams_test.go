package gateway_test

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gateway"
)

// An upstream whose certificate is signed by a private authority is reachable with that authority,
// and not without it.
func TestPrivateAuthority(t *testing.T) {
	up := httptest.NewTLSServer(script{body: `{"served":true}`, kind: "application/json"})
	defer up.Close()
	up.Config.ErrorLog = nil
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: up.Certificate().Raw}))
	for authorities, want := range map[string]int{"": http.StatusBadGateway, ca: http.StatusOK} {
		r := newRig(t, allowAll, http.NotFoundHandler(), func(o *gateway.Options) {
			o.Upstreams = []gateway.Upstream{{ID: "private", BaseURL: up.URL, Authorities: authorities}}
		})
		if a := r.post("/v1/embeddings", "{}"); a.status != want {
			t.Errorf("%d bytes of authorities: %d %s", len(authorities), a.status, a.body)
		}
	}
}

// Proves FM5: timeouts of an upstream replace the general ones.
func TestOwnWaitingTimes(t *testing.T) {
	over := make(chan struct{})
	r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Header.Get("Begin") != "" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, chatEvent(`{"role":"assistant","content":"hi"}`, "null"))
			_ = http.NewResponseController(w).Flush()
		}
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}), func(o *gateway.Options) {
		o.Settings.Timeouts.KeepaliveFirst = 20 * time.Millisecond // interval of the watch
		o.Upstreams[0].Timeouts = gateway.Timeouts{Answer: 50 * time.Millisecond, AnswerWhole: 50 * time.Millisecond, IdleFirst: 50 * time.Millisecond}
	})
	t.Cleanup(func() { close(over) })
	for _, streamed := range []bool{true, false} {
		if a := r.post(chatPath, chatRequest(streamed)); a.status != http.StatusGatewayTimeout {
			t.Errorf("streamed %t: %d %s", streamed, a.status, a.body)
		} else {
			mustContain(t, a.body, "upstream test", map[bool]string{true: "answer =", false: "answer_whole ="}[streamed], "50ms")
		}
	}
	if a := r.send("POST", chatPath, chatRequest(true), map[string]string{"Begin": "1"}); a.err == nil {
		t.Errorf("silence: %s", a.body)
	} else {
		mustContain(t, a.body, "upstream_timeout")
	}
}

// The connections of an upstream are bounded: further requests wait for one.
func TestConnections(t *testing.T) {
	arrived, goOn := make(chan struct{}, 10), make(chan struct{})
	r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-goOn
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}), func(o *gateway.Options) { o.Upstreams[0].Connections = 2 })
	answers := make(chan int, 4)
	for range 4 {
		go func() { answers <- r.post("/v1/embeddings", "{}").status }()
	}
	<-arrived
	<-arrived
	select {
	case <-arrived:
		t.Error("a third connection")
	case <-time.After(50 * time.Millisecond): // time to observe that nothing happens
	}
	close(goOn)
	for range 4 {
		if status := <-answers; status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
}
