package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/provider"
)

// quiet waits until a gateway serves no request and buffers nothing.
func quiet(t *testing.T, gw *gateway.Gateway) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		s := gw.Stats()
		if s.Exchanges == 0 && s.Held == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still on the books: %+v", s)
		}
		time.Sleep(time.Millisecond)
	}
}

// Proves I13, W46: a thousand concurrent streams, held and released at the same moment, each
// receive their own calls completely, and leave nothing buffered. The full number runs in the long
// tier.
func TestStreamsAtOnce(t *testing.T) {
	n := tier(60, 200, 1000)
	in := tongues()
	var open sync.WaitGroup // until every stream has its first half
	open.Add(n)
	provider := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		canary := r.Header.Get("X-Request-Id")
		var which int
		fmt.Sscanf(canary, "K%dK", &which)
		text := in[which%len(in)].response(true, "answer_"+canary, []pastCall{
			{"one" + canary, "a", `{"path":"` + strings.Repeat(canary, 30) + `"}`}, {"two" + canary, "b", `{"path":"` + canary + `"}`}})
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, text[:len(text)/2])
		http.NewResponseController(w).Flush()
		open.Done()
		open.Wait()
		io.WriteString(w, text[len(text)/2:])
	})
	l := &log{}
	r := newRig(t, allowAll, provider, func(o *gateway.Options) { // a busy machine may need more than the second that a row has
		o.Gate = newGate(t, denying("b"), l, gate.WithLimits(gate.Limits{Record: time.Minute}))
	})
	r.client.Timeout = 2 * time.Minute
	var clients sync.WaitGroup
	for i := range n {
		clients.Go(func() {
			dialect, canary := in[i%len(in)], fmt.Sprintf("K%dK", i)
			body := mustJSON(dialect.request(true, []string{"a", "b"}, []historyEntry{user("go")}))
			req, _ := http.NewRequest("POST", r.url+dialect.path, strings.NewReader(body))
			req.Header.Set("X-Request-Id", canary)
			res, err := r.client.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			answer := string(text)
			if err != nil || !strings.Contains(answer, "one"+canary) || strings.Contains(answer, `"two`) || strings.Count(answer, strings.Repeat(canary, 30)) == 0 {
				t.Errorf("%s: %v\n%s", canary, err, answer)
			}
			if others := strings.ReplaceAll(answer, canary, ""); strings.Contains(others, "K") {
				t.Errorf("%s hears another stream:\n%s", canary, others)
			}
		})
	}
	clients.Wait()
	quiet(t, r.gw)
	l.wait(t, 2*n)
}

// slot is a client that goes away after n bytes.
type slot struct {
	header http.Header
	n      int
	got    strings.Builder
}

func (w *slot) Header() http.Header { return w.header }
func (w *slot) WriteHeader(int)     {}
func (w *slot) FlushError() error   { return nil }
func (w *slot) Write(p []byte) (int, error) {
	room := w.n - w.got.Len()
	if room >= len(p) {
		w.got.Write(p)
		return len(p), nil
	}
	w.got.Write(p[:room])
	return room, errors.New("connection reset by peer")
}

// watched is a response body that records its closing.
type watched struct {
	io.Reader
	closed atomic.Bool
}

func (b *watched) Close() error { b.closed.Store(true); return nil }

// Proves W53, FM7, I23: the client goes away at any byte. The provider is cancelled, every call
// that began has one row, and nothing remains buffered.
func TestClientGoneAtEveryByte(t *testing.T) {
	for _, in := range tongues() {
		for name, policy := range map[string]string{"allowed": allowAll, "one denied": denying("b")} {
			t.Run(in.name+"/"+name, func(t *testing.T) {
				full := in.response(true, "answer_1", []pastCall{{"x1", "a", `{"path":"src/é"}`}, {"x2", "b", `{}`}})
				l := &log{}
				var body *watched
				o := gateway.Options{Gate: newGate(t, policy, l), Settings: gateway.DefaultSettings()}
				o.Upstreams = []gateway.Upstream{{ID: "test", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
					body = &watched{Reader: &inPieces{pieces: perEvent(full)}}
					return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
				})}}
				gw, err := gateway.New(o)
				if err != nil {
					t.Fatal(err)
				}
				defer gw.Close()
				request := mustJSON(in.request(true, []string{"a", "b"}, []historyEntry{user("go")}))
				want := ""
				serve := func(n int) *slot {
					w := &slot{header: http.Header{}, n: n}
					func() {
						defer func() {
							if v := recover(); v != nil && v != http.ErrAbortHandler {
								panic(v)
							}
						}()
						gw.ServeHTTP(w, httptest.NewRequest("POST", "http://localhost"+in.path, strings.NewReader(request)))
					}()
					return w
				}
				want = serve(1 << 20).got.String()
				mustContain(t, want, `"x1"`)
				for n := 0; n < len(want); n += tier(7, 1, 1) {
					l.mu.Lock()
					l.rows = l.rows[:0]
					l.mu.Unlock()
					w := serve(n)
					if got := w.got.String(); got != want[:n] {
						t.Fatalf("of %d bytes the client has\n%s\nwant\n%s", n, got, want[:n])
					}
					if !body.closed.Load() {
						t.Fatalf("gone behind %d bytes, and the provider goes on", n)
					}
					if s := gw.Stats(); s.Exchanges != 0 || s.Held != 0 {
						t.Fatalf("gone behind %d bytes, still on the books: %+v", n, s)
					}
					if rows := l.decisions(); len(rows) > 2 || n > strings.Index(want, `"x1"`) && len(rows) != 2 {
						t.Fatalf("gone behind %d bytes, rows %q", n, rows)
					}
					delivered := strings.Contains(want[:n], `"x1"`)
					for _, row := range l.rows {
						if row.Kind == stopgate.RecordDecision && row.Status == stopgate.StatusAllowed && !delivered && l.events(stopgate.AuditReleaseFailed) == 0 {
							t.Fatalf("gone behind %d bytes: %s is allowed, and no row says that it was not delivered", n, row.Tool)
						}
					}
				}
			})
		}
	}
}

// reset breaks a connection after a part of a stream, so that the other side reads an error and not
// an end.
func reset(w http.ResponseWriter, part string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(part), part)
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// Proves FM5, L3, L6, I23: a provider whose connection is reset anywhere: no call is released
// before the end of its turn, and no client takes the end for a good one.
func TestResetInEveryDialect(t *testing.T) {
	for _, in := range tongues() {
		t.Run(in.name, func(t *testing.T) {
			full := in.response(true, "answer_1", []pastCall{{"x1", "a", `{"path":"src/é"}`}, {"x2", "b", `{}`}})
			var length atomic.Int64
			r := newRig(t, denying("b"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				reset(w, full[:length.Load()])
			}), nil)
			request := mustJSON(in.request(true, []string{"a", "b"}, []historyEntry{user("go")}))
			for n := 1; n < len(full)*3/4; n += tier(97, 29, 1) {
				length.Store(int64(n))
				a := r.send("POST", in.path, request, nil)
				mustLack(t, a.body, `"x1"`, `"x2"`)
				if a.err == nil && a.status == 200 {
					t.Fatalf("reset behind %d of %d bytes: a good end\n%s", n, len(full), a.body)
				}
			}
			quiet(t, r.gw)
		})
	}
}

// Proves FM5, F12, F13, W52, I24: invalid bytes in every dialect: the client gets an error in its
// form, and none of the bytes.
func TestGarbage(t *testing.T) {
	forms := map[string]string{"chat": `"type":"stopgate_error"`, "responses": "event: error", "anthropic": "event: error"}
	for _, in := range tongues() {
		good := in.response(true, "answer_1", []pastCall{{"x1", "a", `{"path":"GARBAGE"}`}})
		half := good[:strings.Index(good, "GARBAGE")]
		for name, body := range map[string]string{
			"a web page":           "<html><body>GARBAGE</body></html>",
			"no JSON":              "data: GARBAGE\n\n",
			"JSON, no object":      "data: [\"GARBAGE\"]\n\n",
			"a body for a stream":  `{"GARBAGE":1}`,
			"zeros":                strings.Repeat("\x00", 5000) + "GARBAGE\n\n",
			"compressed":           "\x1f\x8b\x08\x00GARBAGE\xff\xfe\n\ndata: \xff\xff\n\n",
			"not UTF-8":            "data: {\"GARBAGE\":\"\xff\"}\n\n",
			"half a call, then it": half + "\x00\xff GARBAGE\n\ndata: }\n\n",
			"an endless event":     "data: {\"x\":\"" + strings.Repeat("GARBAGE", 40_000),
			"an oversized event":   half[:strings.LastIndex("\n\n"+half, "\n\n")] + "data: {\"x\":\"" + strings.Repeat("GARBAGE", 40_000) + "\"}\n\n",
			"an endless line":      strings.Repeat("GARBAGE", 40_000),
		} {
			t.Run(in.name+"/"+name, func(t *testing.T) {
				r := newRig(t, allowAll, script{body: body, split: func(s string) []string { return []string{s[:len(s)/3], s[len(s)/3:]} }},
					func(o *gateway.Options) { o.Settings.Limits.Event = 200_000 })
				a := r.post(in.path, mustJSON(in.request(true, []string{"a"}, []historyEntry{user("go")})))
				if a.err == nil {
					t.Error("a good end")
				}
				mustContain(t, a.body, forms[in.name])
				mustLack(t, a.body, "GARBAGE", `"x1"`)
				quiet(t, r.gw)
			})
		}
	}
}

// Proves W46: fast streams over HTTP/2 on both sides, in every dialect, have their end and their
// calls.
func TestFastStreamsOverHTTP2(t *testing.T) {
	for _, in := range tongues() {
		t.Run(in.name, func(t *testing.T) {
			args := `{"path":"` + strings.Repeat("0123456789abcdef", tier(1<<10, 1<<12, 1<<16)) + `"}`
			body := in.response(true, "answer_1", []pastCall{{"x1", "a", args}})
			up := httptest.NewUnstartedServer(script{body: body, split: perEvent})
			up.EnableHTTP2 = true
			up.StartTLS()
			t.Cleanup(up.Close)
			r := newRig(t, allowAll, unreachable(t), func(o *gateway.Options) {
				o.Upstreams[0].BaseURL, o.Upstreams[0].Transport = up.URL, up.Client().Transport
			})
			front := httptest.NewUnstartedServer(r.gw)
			front.EnableHTTP2 = true
			front.StartTLS()
			t.Cleanup(front.Close)
			ends := map[string]string{"chat": chatDone, "responses": `"usage"`, "anthropic": "event: message_stop"}
			request := mustJSON(in.request(true, []string{"a"}, []historyEntry{user("go")}))
			var clients sync.WaitGroup
			for range 8 {
				clients.Go(func() {
					for range tier(2, 20, 60) {
						ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
						req, _ := http.NewRequestWithContext(ctx, "POST", front.URL+in.path, strings.NewReader(request))
						res, err := front.Client().Do(req)
						if err != nil {
							t.Error(err)
							cancel()
							return
						}
						text, err := io.ReadAll(res.Body)
						res.Body.Close()
						cancel()
						if res.ProtoMajor != 2 || err != nil || !strings.Contains(string(text[max(0, len(text)-500):]), ends[in.name]) || strings.Count(string(text), "0123456789abcdef") < strings.Count(args, "0123456789abcdef")-len(args)/provider.ChunkSize-4 { // borders of chunks
							t.Errorf("%s, %v, %d bytes", res.Proto, err, len(text))
						}
					}
				})
			}
			clients.Wait()
			quiet(t, r.gw)
		})
	}
}
