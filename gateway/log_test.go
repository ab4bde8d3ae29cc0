package gateway_test

import (
	"crypto/sha256"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gateway"
)

// Proves that the log has the principal, the upstream and the reasons of denials of every exchange,
// and the origin of a refused request.
func TestExchangeLine(t *testing.T) {
	logs := &buffer{}
	body := chatStream("tool_calls", chatCall(0, "call_1", "a", `{"path":".env"}`), chatCall(1, "call_2", "b", `{"path":"src/a"}`))
	r := newRig(t, denyingEnv, script{body: body}, func(o *gateway.Options) { o.Log = slog.New(slog.NewTextHandler(logs, nil)) })
	mustLine := func(words ...string) {
		t.Helper()
		lines := strings.Split(strings.TrimSpace(logs.String()), "\n")
		mustContain(t, lines[len(lines)-1], words...)
	}
	r.send("POST", chatPath, chatRequest(true), map[string]string{"X-Stopgate-Session": "s1", "X-Stopgate-Agent": "triage"})
	waitForLine(t, logs, "msg=exchange")
	mustLine("principal=local", "agent=triage", "session=s1", "model=", "upstream=test", "upstream_status=200", "calls=2", "denied=1", "codes=rule_matched", `fault=""`)
	r.send("POST", "/v1/wrong/"+strings.Repeat("x", 500), "{}", nil)
	mustLine("request refused", "client=127.0.0.1", "path=/v1/wrong/xxx", "xx...", "code=route_unknown")
	r.send("POST", "/k/sg_0123456789abcdef/v1/wrong", "{}", nil)
	mustLine("request refused", `path=""`)
}

// Proves that the client of a refused request is told the remedy, and the log has the cause.
func TestRefusedLine(t *testing.T) {
	for _, test := range []struct {
		name   string
		header map[string]string
		client string // what the client reads
		line   string
	}{
		{"a host name", map[string]string{"Host": "gw.corp.example"}, "[gateway] hosts", `why="host gw.corp.example"`},
		{"an origin", map[string]string{"Origin": "https://evil.example"}, "[gateway] origins", `why="origin https://evil.example"`},
		{"no token", nil, "wants a token of its own", `why="no token"`},
		{"a key of the provider", map[string]string{"Authorization": "Bearer sk-0123456789abcdef"}, "wants a token of its own", `why="no token"`},
		{"a token of somebody else", map[string]string{"Authorization": "Bearer sg_0123456789abcdef"}, "does not know this token", `why="unknown token"`},
		{"two tokens", map[string]string{"Authorization": "Bearer sg_0123456789abcdef", "X-Stopgate-Token": "sg_other"}, "different tokens", `why="tokens that differ"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			logs := &buffer{}
			r := newRig(t, allowAll, unreachable(t), func(o *gateway.Options) {
				o.Log = slog.New(slog.NewTextHandler(logs, nil))
				o.Tokens = []gateway.Token{{Name: "ci", SHA256: sha256.Sum256([]byte("sg_the_right_one"))}}
			})
			a := r.send("POST", chatPath, chatRequest(false), test.header)
			mustContain(t, a.body, test.client)
			mustContain(t, logs.String(), test.line)
			for _, secret := range []string{"corp.example", "evil.example", "0123456789abcdef"} {
				if strings.Contains(a.body, secret) {
					t.Errorf("the answer repeats the request: %s", a.body)
				}
			}
			if strings.Contains(logs.String(), "0123456789abcdef") {
				t.Errorf("the log has a token: %s", logs)
			}
		})
	}
}

// Proves that the log has the status of a provider's error.
func TestExchangeLineOfAnError(t *testing.T) {
	logs := &buffer{}
	busy := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"error":{"message":"slow down"}}`))
	})
	r := newRig(t, denyingEnv, busy, func(o *gateway.Options) { o.Log = slog.New(slog.NewTextHandler(logs, nil)) })
	r.post(chatPath, chatRequest(false))
	waitForLine(t, logs, "msg=exchange")
	mustContain(t, logs.String(), "upstream_status=429", "fault=upstream_error", "calls=0", `codes=""`)
}

// waitForLine waits for a line that is written after the response.
func waitForLine(t *testing.T, logs *buffer, word string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !strings.Contains(logs.String(), word); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %q in %s", word, logs)
		}
	}
}
