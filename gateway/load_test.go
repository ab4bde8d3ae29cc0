package gateway_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/gateway"
)

// echoArgs is a provider whose response depends on the request: calls to a with the user's text as
// their path, and the same text around them.
func echoArgs(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, rest, _ := strings.Cut(string(body), `"content":"`)
	canary, _, _ := strings.Cut(rest, `"`)
	w.Header().Set("Content-Type", "text/event-stream")
	rc := http.NewResponseController(w)
	stream := chatEvent(`{"role":"assistant","content":"`+canary+`"}`, "null")
	for i := range 3 {
		stream += chatCall(i, "call_"+canary+fmt.Sprint(i), "a", `{"path":"`+strings.Repeat(canary, 40)+`"}`)
	}
	stream += chatEvent(`{}`, `"tool_calls"`) + chatDone
	for len(stream) > 0 {
		n := min(len(stream), 1+rand.IntN(400))
		io.WriteString(w, stream[:n])
		rc.Flush()
		stream = stream[n:]
	}
}

// Proves I13: concurrent streams, some of which are cancelled, never show each other's bytes.
func TestStreamsAreIsolated(t *testing.T) {
	r := newRig(t, denyingEnv, http.HandlerFunc(echoArgs), nil)
	const workers, each = 16, 12
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			for n := range each {
				canary := fmt.Sprintf("K%02dx%02dK", worker, n)
				body := strings.Replace(chatRequest(true), `"content":"x"`, `"content":"`+canary+`"`, 1)
				ctx, cancel := context.WithCancel(t.Context())
				req, _ := http.NewRequestWithContext(ctx, "POST", r.url+chatPath, strings.NewReader(body))
				res, err := r.client.Do(req)
				if err != nil {
					t.Error(err)
					cancel()
					return
				}
				var text []byte
				if n%4 == 3 {
					text = make([]byte, rand.IntN(600))
					k, _ := io.ReadFull(res.Body, text)
					text = text[:k]
				} else {
					text, err = io.ReadAll(res.Body)
					if err != nil || !strings.HasSuffix(string(text), chatDone) || strings.Count(string(text), canary) != 1+3+3*40 {
						t.Errorf("%s: %v, %d times in\n%s", canary, err, strings.Count(string(text), canary), text)
					}
				}
				cancel()
				res.Body.Close()
				if others := strings.ReplaceAll(string(text), canary, ""); n%4 != 3 && strings.Contains(others, "K") {
					t.Errorf("%s sees another stream:\n%s", canary, others)
				}
			}
		})
	}
	wg.Wait()
	deadline := time.Now().Add(5 * time.Second)
	for r.gw.Stats().Exchanges > 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if s := r.gw.Stats(); s.Exchanges != 0 || s.Held != 0 {
		t.Errorf("still on the books: %+v", s)
	}
	proposals := map[string]int{}
	for _, row := range r.log.rows {
		if row.Kind == "decision" {
			proposals[string(row.ID)]++
		}
	}
	for id, n := range proposals {
		if n != 1 {
			t.Errorf("proposal %s has %d rows", id, n)
		}
	}
}

// Proves W46: fast streams are never truncated. The full number runs in the long tier.
func TestFastStreamsAreComplete(t *testing.T) {
	streams := 60
	switch {
	case testing.Short():
		streams = 16
	case os.Getenv("STOPGATE_LONG") != "":
		streams = 10_000
	}
	args := `{"path":"` + strings.Repeat("0123456789abcdef", 1<<20/16) + `"}`
	var body strings.Builder
	body.WriteString(chatEvent(`{"role":"assistant","content":"hi"}`, "null"))
	for n := 0; n < len(args); n += 4096 {
		body.WriteString(chatEvent(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"a","arguments":%q}}]}`, args[n:min(n+4096, len(args))]), "null"))
	}
	body.WriteString(chatEvent(`{}`, `"tool_calls"`) + chatDone)
	r := newRig(t, allowAll, script{body: body.String()}, nil)
	for _, workers := range []int{1, 8} {
		var wg sync.WaitGroup
		todo := make(chan struct{}, streams)
		for range streams / 2 {
			todo <- struct{}{}
		}
		close(todo)
		for range workers {
			wg.Go(func() {
				for range todo {
					a := r.post(chatPath, chatRequest(true))
					if a.err != nil || !strings.HasSuffix(a.body, chatDone) || strings.Count(a.body, "0123456789abcdef") < 1<<20/16-50 {
						t.Errorf("%d bytes, %v", len(a.body), a.err)
					}
				}
			})
		}
		wg.Wait()
	}
}

// Proves FM14, F13, W52: a request or response that exceeds a limit is denied or refused.
func TestLimits(t *testing.T) {
	call := func(i int, args string) string { return chatCall(i, fmt.Sprint("call_", i), "a", args) }
	long := `{"path":"` + strings.Repeat("x", 4000) + `"}`
	for _, test := range []struct {
		name    string
		change  func(*gateway.Limits)
		body    string
		contain string
		lack    string
		rows    string
	}{
		{"an event", func(l *gateway.Limits) { l.Event = 2000 }, chatEvent(`{"content":"`+strings.Repeat("x", 2000)+`"}`, "null") + chatDone, `"code":"limit_exceeded"`, "xxx", "[]"},
		{"a line without end", func(l *gateway.Limits) { l.Event = 2000 }, "data: " + strings.Repeat("x", 3000), `"code":"limit_exceeded"`, "xxx", "[]"},
		{"a flood of comments", func(l *gateway.Limits) {}, strings.Repeat(": comment\n", 10_000), `"code":"limit_exceeded"`, "[DONE]", "[]"},
		{"held bytes", func(l *gateway.Limits) { l.HeldResponse = 3000 }, chatStream("tool_calls", call(0, long)), "(limit_exceeded)", "xxx", "[a denied limit_exceeded]"},
		{"held bytes of several calls", func(l *gateway.Limits) { l.HeldResponse = 6000 }, chatStream("tool_calls", call(0, long), call(1, long), call(2, `{"path":"y"}`)), "(limit_exceeded)", "call_1",
			"[a allowed rule_matched a denied limit_exceeded a allowed rule_matched]"},
		{"number of calls", func(l *gateway.Limits) { l.Calls = 2 }, chatStream("tool_calls", call(0, `{}`), call(1, `{}`), call(2, `{}`)), "(limit_exceeded)", "call_2",
			"[a allowed rule_matched a allowed rule_matched a denied limit_exceeded]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, allowAll, script{body: test.body}, func(o *gateway.Options) {
				o.Settings.AfterDeny = gateway.DrainUpstream
				test.change(&o.Settings.Limits)
			})
			a := r.post(chatPath, chatRequest(true))
			mustContain(t, a.body, test.contain)
			mustLack(t, a.body, test.lack)
			want := 0
			if test.rows != "[]" {
				want = strings.Count(test.rows, "rule_matched") + strings.Count(test.rows, "limit_exceeded")
			}
			if rows := r.log.wait(t, want); fmt.Sprint(rows) != test.rows {
				t.Errorf("rows %s, want %s", rows, test.rows)
			}
		})
	}
}

// Proves FM14: beyond the limits of exchanges and of held bytes, new requests get 503 with
// Retry-After; running ones continue.
func TestOverload(t *testing.T) {
	for name, change := range map[string]func(*gateway.Limits){
		"exchanges":  func(l *gateway.Limits) { l.Exchanges = 1 },
		"held bytes": func(l *gateway.Limits) { l.HeldProcess = 10 },
	} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				call := chatCall(0, "call_1", "a", `{"path":"src/a"}`)
				io.WriteString(w, chatEvent(`{"role":"assistant","content":"hi"}`, "null")+call)
				http.NewResponseController(w).Flush()
				<-release
				io.WriteString(w, chatEvent(`{}`, `"tool_calls"`)+chatDone)
			}), func(o *gateway.Options) { change(&o.Settings.Limits) })
			first := make(chan answer)
			go func() { first <- r.post(chatPath, chatRequest(true)) }()
			for r.gw.Stats().Held < 10 {
				time.Sleep(time.Millisecond)
			}
			a := r.post(chatPath, chatRequest(true))
			if a.status != 503 || a.header.Get("Retry-After") == "" {
				t.Errorf("status %d", a.status)
			}
			mustContain(t, a.body, `"code":"overloaded"`)
			close(release)
			if a := <-first; a.err != nil || !strings.Contains(a.body, "src/a") {
				t.Errorf("the first exchange: %v\n%s", a.err, a.body)
			}
			if n := r.gw.Stats().Faults["overloaded"]; n != 1 {
				t.Errorf("the counter says %d", n)
			}
		})
	}
}

// At shutdown new requests get 503 with Retry-After and the gateway is not ready; exchanges may
// finish; those that do not finish end with an error event, and no goroutine remains.
func TestDrainAtShutdown(t *testing.T) {
	for _, finishes := range []bool{true, false} {
		t.Run(fmt.Sprintf("finishes=%t", finishes), func(t *testing.T) {
			begun, release := make(chan struct{}), make(chan struct{})
			r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, chatEvent(`{"role":"assistant","content":"hi"}`, "null")+chatCall(0, "call_1", "a", `{"path":"src/a"}`))
				http.NewResponseController(w).Flush()
				close(begun)
				select {
				case <-release:
				case <-r.Context().Done():
				}
				io.WriteString(w, chatEvent(`{}`, `"tool_calls"`)+chatDone)
			}), func(o *gateway.Options) {
				if o.Settings.Timeouts.Drain = time.Second; finishes {
					o.Settings.Timeouts.Drain = time.Minute
				}
			})
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- r.gw.Serve(ctx, ln) }()
			r.url = "http://" + ln.Addr().String()
			got := make(chan answer, 1)
			go func() { got <- r.post(chatPath, chatRequest(true)) }()
			<-begun
			stop()
			time.Sleep(20 * time.Millisecond)
			if a := r.gw; a.Stats().Exchanges != 1 {
				t.Error("the exchange was dropped")
			}
			if a := r.send("GET", "/readyz", "", nil); a.status != 503 || !strings.Contains(a.body, `"draining"`) {
				t.Errorf("not ready: %d %s", a.status, a.body)
			}
			if a := r.post(chatPath, chatRequest(true)); a.status != 503 || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "shutting down") {
				t.Errorf("a new request: %d %s", a.status, a.body)
			}
			if finishes {
				close(release)
			}
			a := <-got
			if finishes {
				mustContain(t, a.body, "src/a", "[DONE]")
			} else {
				mustContain(t, a.body, `"code":"overloaded"`)
				mustLack(t, a.body, "src/a", "[DONE]")
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
			r.log.wait(t, 1)
			if _, err := net.Dial("tcp", ln.Addr().String()); err == nil {
				t.Error("the listener is open")
			}
		})
	}
}

// Proves S45: the response names its upstream.
func TestWhoAnswers(t *testing.T) {
	canned := func(o *gateway.Options) {
		o.Replay = http.RoundTripper(roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Authorization") != "" {
				t.Error("a credential went to the canned answers")
			}
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(chatWhole("stop")))}, nil
		}))
	}
	model := func(name string) string { return strings.Replace(chatRequest(false), `"m"`, `"`+name+`"`, 1) }
	reached := 0
	provider := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached++
		script{body: chatWhole("stop"), kind: "application/json"}.ServeHTTP(w, r)
	})
	key := map[string]string{"Authorization": "Bearer sk-1"}
	for _, test := range []struct {
		name       string
		configured bool
		model      string
		header     map[string]string
		want       string
	}{
		{"configured, no credential", true, "m", nil, "test"},
		{"configured, credential", true, "m", key, "test"},
		{"configured, canned model", true, "stopgate-demo", key, "replay"},
		{"nothing configured, no credential", false, "m", nil, "replay"},
		{"nothing configured, canned model", false, "stopgate-demo", key, "replay"},
	} {
		t.Run(test.name, func(t *testing.T) {
			reached = 0
			r := newRig(t, allowAll, provider, func(o *gateway.Options) {
				canned(o)
				if !test.configured {
					o.Upstreams = nil
				}
			})
			a := r.send("POST", chatPath, model(test.model), test.header)
			if got := a.header.Get("X-Stopgate-Upstream"); got != test.want || a.status != 200 {
				t.Errorf("%q answered with status %d, want %q", got, a.status, test.want)
			}
			if (reached == 1) != (test.want == "test") {
				t.Errorf("the provider was reached %d times", reached)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
