package webhook_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/approve/webhook"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
)

// Proves S60, H17: the receiver gets the question, signed; it gets values, including the words of a
// command that asks, only with Arguments.
func TestNotify(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	for _, arguments := range []bool{false, true} {
		var body, signature string
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			body, signature = string(text), r.Header.Get("X-Stopgate-Signature")
		}))
		hook := &webhook.Hook{URL: server.URL, Secret: "s3", Arguments: arguments, Pages: "https://gate.example/", Now: func() time.Time { return at }}
		e := approvals.Entry("a")
		e.Segment = &stopgate.Segment{Index: 1, Of: 2, Text: "curl -H ä"}
		if err := hook.Notify(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		server.Close()
		if !strings.Contains(body, `"id":"a"`) || !strings.Contains(body, `"url":"https://gate.example/approvals/a"`) || strings.Contains(body, "ä") != arguments || strings.Contains(body, "curl") != arguments || !strings.Contains(body, `"index":1,"of":2`) {
			t.Errorf("arguments %t: %s", arguments, body)
		}
		for _, c := range []struct {
			name, secret, signature, body string
			now                           time.Time
			ok                            bool
		}{
			{"right", "s3", signature, body, at.Add(time.Minute), true},
			{"another key", "s4", signature, body, at, false},
			{"another body", "s3", signature, body + " ", at, false},
			{"another time", "s3", strings.Replace(signature, "t=18", "t=19", 1), body, at, false},
			{"too old", "s3", signature, body, at.Add(time.Hour), false},
			{"from the future", "s3", signature, body, at.Add(-time.Hour), false},
			{"none", "s3", "", body, at, false},
			{"no hex", "s3", "t=1800000000,v1=zz", body, at, false},
		} {
			err := webhook.Verify(c.secret, c.signature, []byte(c.body), c.now, 5*time.Minute)
			if (err == nil) != c.ok || err != nil && !errors.Is(err, webhook.ErrSignature) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// Proves H22: an operator is notified of a stopped session, with the same signature.
func TestAlert(t *testing.T) {
	var body, signature string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		body, signature = string(text), r.Header.Get("X-Stopgate-Signature")
	}))
	defer server.Close()
	at := time.Unix(1_800_000_000, 0)
	hook := &webhook.Hook{URL: server.URL, Secret: "s3", Now: func() time.Time { return at }}
	if err := hook.Alert(t.Context(), stopgate.Record{Event: stopgate.AuditStopped, Session: "s1", Count: 25}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(body, `"event":"stopped"`) || !strings.Contains(body, `"session":"s1"`) || !strings.Contains(body, `"count":25`) {
		t.Error(body)
	}
	if err := webhook.Verify("s3", signature, []byte(body), at, time.Minute); err != nil {
		t.Error(err)
	}
}

// Proves S60: transient errors are retried, others are not, and no redirect is followed.
func TestAttempts(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []int
		tries   int64
		ok      bool
	}{
		{"at once", []int{204}, 1, true},
		{"the third time", []int{500, 503, 200}, 3, true},
		{"never", []int{500, 500, 500, 200}, 3, false},
		{"refused", []int{403, 200}, 1, false},
		{"redirected", []int{302, 200}, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tries atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := tries.Add(1)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.answers[n-1])
			}))
			defer server.Close()
			hook := &webhook.Hook{URL: server.URL, Retry: []time.Duration{time.Millisecond, time.Millisecond}}
			if err := hook.Notify(t.Context(), approvals.Entry("a")); (err == nil) != c.ok || tries.Load() != c.tries {
				t.Errorf("%d attempts: %v", tries.Load(), err)
			}
		})
	}
	hook := &webhook.Hook{URL: "http://127.0.0.1:1/", Retry: []time.Duration{time.Millisecond}}
	if hook.Notify(t.Context(), approvals.Entry("a")) == nil {
		t.Error("a receiver that is not there")
	}
	// Errors contain only the host of the address: chats have their secret in its path.
	for _, address := range []string{"http://127.0.0.1:1/services/S3CR3T?key=S3CR3T", "http://u:S3CR3T@127.0.0.1:1/", "\x00http://h/S3CR3T"} {
		err := (&webhook.Hook{URL: address, Retry: []time.Duration{}}).Notify(t.Context(), approvals.Entry("a"))
		if err == nil || strings.Contains(err.Error(), "S3CR3T") {
			t.Errorf("%q: %v", address, err)
		}
	}
}
