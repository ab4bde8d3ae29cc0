package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// Proves FM5, L3, L6, I23, W17, W33, W44: the provider's connection breaks at any byte. A call
// reaches the client only after the end of its turn, the client gets an error, and every call that
// began has one row.
func TestCutInEveryDialect(t *testing.T) {
	ends := map[string]string{"chat": `"finish_reason":"tool_calls"`, "responses": "event: response.completed", "anthropic": "event: message_stop", "gemini": `"finishReason":"STOP"`}
	for _, in := range tongues() {
		t.Run(in.name, func(t *testing.T) {
			full := in.response(true, "answer_1", []pastCall{{"x1", "a", `{"path":"src/é"}`}, {"x2", "b", `{}`}})
			at := strings.Index(full, ends[in.name])
			end := at + strings.Index(full[at:], "\n\n") + 2
			var length atomic.Int64
			provider := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				script{body: full[:length.Load()], cut: true}.ServeHTTP(w, r)
			})
			r := newRig(t, denying("b"), provider, nil)
			request := mustJSON(in.request(true, []string{"a", "b"}, []historyEntry{user("go")}))
			step := 1
			if testing.Short() {
				step = 13
			}
			rows := 0
			for n := 1; n < len(full); n += step {
				length.Store(int64(n))
				a := r.send("POST", in.path, request, nil)
				if has := strings.Contains(a.body, `"x1"`); has != (n >= end) {
					t.Fatalf("cut at %d of %d: call %v\n%s", n, len(full), has, a.body)
				}
				if strings.Contains(a.body, `"x2"`) {
					t.Fatalf("cut at %d: a denied call", n)
				}
				if over := in.name != "chat" && n >= end || n >= len(full)-2; !over && a.err == nil {
					t.Fatalf("cut at %d of %d: %v\n%s", n, len(full), a.err, a.body)
				}
				for _, id := range []string{"x1", "x2"} {
					if strings.Contains(wholeEvents(full[:n]), `"`+id+`"`) {
						rows++
					}
				}
			}
			if got := len(r.log.wait(t, rows)); got != rows {
				t.Errorf("%d rows for %d calls", got, rows)
			}
			if got := r.gw.Stats(); got.Held != 0 {
				t.Errorf("held bytes stay: %s", fmt.Sprint(got))
			}
		})
	}
}

// wholeEvents returns a stream up to the end of its last event.
func wholeEvents(body string) string {
	return body[:strings.LastIndex("\n\n"+body, "\n\n")]
}
