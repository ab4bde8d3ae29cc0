package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/replay"
)

// inProcess returns a client of a gateway and a provider without sockets, for synctest bubbles.
func inProcess(t *testing.T, policy string, provider http.HandlerFunc, change func(*gateway.Options)) (*http.Client, *log) {
	t.Helper()
	l := &log{}
	o := gateway.Options{
		Gate: newGate(t, policy, l), Settings: gateway.DefaultSettings(),
		Upstreams: []gateway.Upstream{{ID: "test", Transport: replay.Transport(provider)}},
	}
	if change != nil {
		change(&o)
	}
	gw, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gw.Close)
	return &http.Client{Transport: replay.Transport(gw)}, l
}

// line is a line of a stream and its time of arrival.
type line struct {
	at   time.Duration
	text string
}

// lines reads a stream to its end.
func lines(t *testing.T, c *http.Client, path, body string) (list []line, end error) {
	t.Helper()
	start := time.Now()
	res, err := c.Post("http://localhost"+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	in := bufio.NewReader(res.Body)
	for {
		text, err := in.ReadString('\n')
		if text = strings.TrimRight(text, "\n"); text != "" {
			list = append(list, line{time.Since(start), text})
		}
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
	}
}

// paused sends chunks with pauses before them; it ends early if its client does.
func paused(pieces ...any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range pieces {
			switch p := p.(type) {
			case string:
				if _, err := io.WriteString(w, p); err != nil {
					return
				}
				http.NewResponseController(w).Flush()
			case time.Duration:
				if replay.Sleep(r.Context(), p) != nil {
					return
				}
			}
		}
	}
}

// Proves W20, Q22, S17, F13: while a call is held the client receives something at least every ten
// seconds, in lines that no decoder takes for an event; after a minute in events.
func TestKeepalive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := chatCall(0, "call_1", "a", `{"path":"src/a"}`)
		half := strings.Index(call, "\n\n") + 2
		var pieces []any
		pieces = append(pieces, chatEvent(`{"role":"assistant","content":"hi"}`, "null"), call[:half])
		for range 5 { // 100 s in all; each pause is below the idle limit
			pieces = append(pieces, 20*time.Second, call[half:half], ": upstream\n")
		}
		pieces = append(pieces, call[half:], chatEvent(`{}`, `"tool_calls"`), chatDone)
		c, l := inProcess(t, allowAll, paused(pieces...), nil)
		got, err := lines(t, c, chatPath, chatRequest(true))
		if err != nil {
			t.Fatal(err)
		}
		last, comments, chunks := time.Duration(0), 0, 0
		for _, line := range got {
			if gap := line.at - last; gap > 10*time.Second+time.Millisecond {
				t.Errorf("nothing for %v before %q", gap, line.text)
			}
			last = line.at
			switch {
			case line.text == ": stopgate":
				comments++
			case strings.Contains(line.text, `"choices":[]`):
				if chunks++; line.at < time.Minute {
					t.Errorf("an event as a sign of life after only %v", line.at)
				}
			}
		}
		if comments < 5 || chunks < 2 {
			t.Errorf("%d comments and %d events", comments, chunks)
		}
		text := ""
		for _, line := range got {
			text += line.text + "\n"
		}
		mustContain(t, text, `src/a`, "[DONE]")
		l.wait(t, 1)
	})
}

// A stream that holds no call gets no keepalive, so that silence of the upstream is visible.
func TestNoKeepaliveWithoutACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := chatEvent(`{"role":"assistant","content":"hi"}`, "null")
		c, _ := inProcess(t, allowAll, paused(body, 50*time.Second, chatEvent(`{}`, `"stop"`)+chatDone), nil)
		got, err := lines(t, c, chatPath, chatRequest(true))
		if err != nil || len(got) != 3 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// Proves FM5, F13, FM13: every wait for the upstream ends.
func TestUpstreamDeadlines(t *testing.T) {
	head := chatEvent(`{"role":"assistant","content":""}`, "null")
	text := chatEvent(`{"content":"a"}`, "null")
	half := chatEvent(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"a","arguments":"{\"path\":\"src"}}]}`, "null")
	hour := time.Hour
	var drip []any
	for range 200 {
		drip = append(drip, ": x\n", 10*time.Second)
	}
	for _, test := range []struct {
		name   string
		pieces []any
		stream bool
		after  time.Duration
		status int
		calls  int
	}{
		{"no answer, streamed", []any{hour}, true, 2 * time.Minute, 504, 0},
		{"no answer, whole", []any{hour}, false, 10 * time.Minute, 504, 0},
		{"silent from the start", []any{head, hour}, true, 5 * time.Minute, 200, 0},
		{"silent later", []any{head, text, text, text, hour}, true, time.Minute, 200, 0},
		{"silent inside a call", []any{head, text, half, hour}, true, time.Minute, 200, 1},
		{"a byte now and then for ever", append([]any{head}, drip...), true, 30 * time.Minute, 200, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				provider := paused(test.pieces...)
				if test.pieces[0] == any(hour) {
					provider = func(w http.ResponseWriter, r *http.Request) { replay.Sleep(r.Context(), hour) }
				}
				c, l := inProcess(t, allowAll, provider, nil)
				start := time.Now()
				res, err := c.Post("http://localhost"+chatPath, "application/json", strings.NewReader(chatRequest(test.stream)))
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				body, err := io.ReadAll(res.Body)
				if res.StatusCode != test.status || test.status == 200 && err == nil {
					t.Errorf("status %d, body ended with %v", res.StatusCode, err)
				}
				mustContain(t, string(body), `"code":"upstream_timeout"`)
				mustLack(t, string(body), "src", "[DONE]")
				if took := time.Since(start); took < test.after || took > test.after+time.Second {
					t.Errorf("took %v, want %v", took, test.after)
				}
				l.wait(t, test.calls)
			})
		})
	}
}

// Proves FM5, FM13: timeouts shorter than the interval of the watch are accurate to the
// millisecond, whenever they begin.
func TestShortDeadlines(t *testing.T) {
	head := chatEvent(`{"role":"assistant","content":""}`, "null")
	text := chatEvent(`{"content":"a"}`, "null")
	half := chatEvent(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"a","arguments":"{\"path\":\"src"}}]}`, "null")
	const ms = time.Millisecond
	for _, test := range []struct {
		name   string
		change func(*gateway.Timeouts)
		pieces []any
		stream bool
		after  time.Duration
	}{
		{"silent from the start", func(to *gateway.Timeouts) { to.IdleFirst = 1300 * ms }, []any{head, time.Hour}, true, 1300 * ms},
		{"silent later", func(to *gateway.Timeouts) { to.Idle = 700 * ms }, []any{head, text, text, text, 600 * ms, text, time.Hour}, true, 1300 * ms},
		{"silent inside a call", func(to *gateway.Timeouts) { to.Idle = 700 * ms }, []any{head, text, 4 * time.Second, half, time.Hour}, true, 4700 * ms},
		{"silent in a whole answer", func(to *gateway.Timeouts) { to.IdleFirst = 900 * ms }, []any{`{"choices":`, 800 * ms, ` `, time.Hour}, false, 1700 * ms},
		{"the whole exchange", func(to *gateway.Timeouts) { to.Exchange = 3200 * ms }, []any{head, time.Second, text, time.Second, text, time.Second, text, time.Hour}, true, 3200 * ms},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := inProcess(t, allowAll, func(w http.ResponseWriter, r *http.Request) {
					if !test.stream {
						w = asJSON{w}
					}
					paused(test.pieces...)(w, r)
				}, func(o *gateway.Options) { test.change(&o.Settings.Timeouts) })
				start := time.Now()
				res, err := c.Post("http://localhost"+chatPath, "application/json", strings.NewReader(chatRequest(test.stream)))
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				body, _ := io.ReadAll(res.Body)
				mustContain(t, string(body), `"code":"upstream_timeout"`)
				if took := time.Since(start); took < test.after || took > test.after+2*ms {
					t.Errorf("took %v, want %v", took, test.after)
				}
			})
		})
	}
}

// asJSON writes a response that is not streamed.
type asJSON struct{ http.ResponseWriter }

func (w asJSON) Write(p []byte) (int, error) {
	w.Header().Set("Content-Type", "application/json")
	return w.ResponseWriter.Write(p)
}

func (w asJSON) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Proves W20, S17: the first keepalive comes five seconds after the last byte, also if a call began
// to be held just before.
func TestFirstKeepalive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		head := chatEvent(`{"role":"assistant","content":"hi"}`, "null")
		call := chatCall(0, "call_1", "a", `{"path":"src/a"}`)
		pieces := []any{head, 5100 * time.Millisecond, head, 4900 * time.Millisecond, call, 30 * time.Second, chatEvent(`{}`, `"tool_calls"`) + chatDone}
		c, _ := inProcess(t, allowAll, paused(pieces...), nil)
		got, err := lines(t, c, chatPath, chatRequest(true))
		if err != nil {
			t.Fatal(err)
		}
		var at []time.Duration
		for _, line := range got {
			if line.text == ": stopgate" {
				at = append(at, line.at)
			}
		}
		if want := []time.Duration{10100 * time.Millisecond, 20100 * time.Millisecond, 30100 * time.Millisecond}; !slices.Equal(at, want) {
			t.Errorf("signs of life at %v, want %v", at, want)
		}
	})
}

// Proves FM5: an unstreamed response has the same idle limit.
func TestWholeAnswerIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := inProcess(t, allowAll, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"choices":`)
			replay.Sleep(r.Context(), time.Hour)
		}, nil)
		res, err := c.Post("http://localhost"+chatPath, "application/json", strings.NewReader(chatRequest(false)))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != 504 {
			t.Errorf("status %d", res.StatusCode)
		}
		mustContain(t, string(body), "upstream_timeout")
	})
}

// Proves L10, F11: data after the end is dropped, and an upstream that stays open after its end
// does not delay the client.
func TestDataAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l := inProcess(t, allowAll, paused(chatStream("stop")+chatCall(0, "late", "a", `{}`)+chatDone, chatCall(0, "later", "a", `{}`), time.Hour), nil)
		start := time.Now()
		got, err := lines(t, c, chatPath, chatRequest(true))
		if err != nil || got[len(got)-1].text != "data: [DONE]" || len(got) != 3 {
			t.Errorf("%v, %v", got, err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("the client waited %v", took)
		}
		l.wait(t, 0)
	})
}

// Proves FM7: a client that goes away before the response starts cancels it.
func TestClientGoesAwayBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan time.Duration, 1)
		start := time.Now()
		c, _ := inProcess(t, allowAll, func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			gone <- time.Since(start)
		}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, "POST", "http://localhost"+chatPath, strings.NewReader(chatRequest(true)))
		if _, err := c.Do(req); err == nil {
			t.Error("an answer came")
		}
		if after := <-gone; after != time.Second {
			t.Errorf("the provider heard of it after %v", after)
		}
	})
}
