package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway"
)

// recordingObserver is an observer that stores everything.
type recordingObserver struct {
	mu   sync.Mutex
	list []gateway.Observed
	sent []string // models of the requests sent upstream
	next []gateway.Observed
}

type noted struct{ *recordingObserver }

func (n *recordingObserver) Begin(ctx context.Context, r *http.Request, o *gateway.Observed) (context.Context, gateway.Observation) {
	if r.Header.Get("Unseen") != "" {
		return ctx, nil
	}
	return context.WithValue(ctx, notebookKey{}, "in the context"), noted{n}
}

type notebookKey struct{}

func (n noted) Send(o *gateway.Observed, h http.Header) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent = append(n.sent, o.Model)
	h.Set("Traceparent", "added")
}

func (n noted) Next(o *gateway.Observed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.next = append(n.next, *o)
}

func (n noted) End(o *gateway.Observed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, *o)
}

func (n *recordingObserver) wait(t *testing.T, count int) gateway.Observed {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		n.mu.Lock()
		if len(n.list) == count {
			defer n.mu.Unlock()
			return n.list[count-1]
		}
		n.mu.Unlock()
		if time.Now().After(deadline) {
			t.Fatalf("%d exchanges, want %d", len(n.list), count)
		}
	}
}

// An observer sees each exchange once, with its times in order, the provider's description of the
// response, and the number of calls, also if it fails.
func TestObserver(t *testing.T) {
	usage := `data: {"id":"x","model":"m-2","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}` + "\n\n"
	bodies := map[string]script{
		"streamed": {body: strings.Replace(chatStream("tool_calls", chatCall(0, "c1", "a", `{"path":"x"}`), chatCall(1, "c2", "b", `{}`)), chatDone, usage+chatDone, 1)},
		"whole": {kind: "application/json", body: `{"id":"y","model":"m-3","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,` +
			`"tool_calls":[{"id":"c1","type":"function","function":{"name":"a","arguments":"{}"}}]}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`},
		"cut": {body: chatCall(0, "c1", "a", `{"path":"x"}`), cut: true},
	}
	book := new(recordingObserver)
	added := make(chan string, 10)
	which := "streamed"
	r := newRig(t, denying("b"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		added <- r.Header.Get("Traceparent")
		bodies[which].ServeHTTP(w, r)
	}), func(o *gateway.Options) { o.Observer = book })

	r.send("POST", chatPath, chatRequest(true), map[string]string{"X-Stopgate-Agent": "intern", "X-Stopgate-Session": "s1"})
	o := book.wait(t, 1)
	if o.Route != chatPath || o.Method != "POST" || o.Dialect != "openai-chat" || o.Principal != "local" || o.Agent != "intern" || o.Session != "s1" || !o.Enforced ||
		o.Model != "m" || !o.Streamed || o.Upstream != "test" || o.Address != strings.TrimPrefix(r.up, "http://") || o.Status != 200 || o.UpstreamStatus != 200 || o.Fault != "" {
		t.Errorf("%+v", o)
	}
	if o.Answer.ID != "x" || o.Answer.Model != "m" || strings.Join(o.Answer.FinishReasons, " ") != "tool_calls" || o.Answer.Tokens.Input != 7 || o.Answer.Tokens.Output != 3 {
		t.Errorf("answer %+v", o.Answer)
	}
	if o.Calls != 2 || o.Denied != 1 || o.Arguments != int64(len(`{"path":"x"}{}`)) || o.Discarded == 0 || o.Cancelled {
		t.Errorf("calls: %+v", o)
	}
	for i, at := range []time.Time{o.Begun, o.Sent, o.Answered, o.First, o.Ended} {
		if at.IsZero() || i > 0 && at.Before(o.Begun) {
			t.Errorf("time %d of %+v", i, o)
		}
	}
	if got := <-added; got != "added" {
		t.Errorf("the provider got the header %q", got)
	}

	which = "whole"
	r.post(chatPath, chatRequest(false))
	if o := book.wait(t, 2); o.Streamed || o.Answer.Model != "m-3" || o.Answer.Tokens.Output != 2 || o.First.IsZero() || o.Calls != 1 {
		t.Errorf("not streamed: %+v", o)
	}
	which = "cut"
	r.post(chatPath, chatRequest(true))
	if o := book.wait(t, 3); o.Fault != stopgate.CodeStreamTruncated || o.Status != 200 {
		t.Errorf("cut: %+v", o)
	}
	r.post(chatPath, "nonsense")
	if o := book.wait(t, 4); o.Status != 400 || !o.Sent.IsZero() {
		t.Errorf("refused: %+v", o)
	}
	which = "whole"
	r.post("/v1/embeddings", "{}")
	if o := book.wait(t, 5); o.Route != "/v1/embeddings" || o.Status != 200 || o.Upstream != "test" {
		t.Errorf("passed: %+v", o)
	}
	r.send("POST", "/v1/embeddings", "{}", map[string]string{"Unseen": "1"})
	r.post("/unknown", "{}")
	r.post("/v1/embeddings", "{}")
	book.wait(t, 6)
}

// Proves S6: every response of a model that the gate answers is a model call of its own for an
// observer, with its times and tokens; the number of calls is the sum.
func TestObserverOfRounds(t *testing.T) {
	for _, stream := range []bool{true, false} {
		n := 0
		provider := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n++
			calls := []pastCall{{"x", "a", `{}`}}
			if n > 1 {
				calls = nil
			}
			body := chatAnswer(stream, "", calls)
			usage := fmt.Sprintf(`"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, n)
			if stream {
				body = strings.Replace(body, chatDone, `data: {"id":"x","choices":[],`+usage+"\n\n"+chatDone, 1)
			} else {
				body = strings.TrimSuffix(body, "}") + "," + usage
			}
			w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[stream])
			_, _ = io.WriteString(w, body)
		})
		book := new(recordingObserver)
		r := newRig(t, denying("a"), provider, func(o *gateway.Options) {
			answering(2)(o)
			o.Observer = book
		})
		r.post(chatPath, chatRequest(stream))
		last := book.wait(t, 1)
		if len(book.sent) != 2 || len(book.next) != 1 {
			t.Fatalf("%d requests, %d between", len(book.sent), len(book.next))
		}
		first := book.next[0]
		if first.Answer.Tokens.Input != 1 || last.Answer.Tokens.Input != 2 || last.Sent.Before(first.Ended) || last.First.Before(last.Sent) {
			t.Errorf("streamed %v: %+v\n%+v", stream, first, last)
		}
		if last.Calls != 1 || last.Denied != 1 || last.Arguments != 2 {
			t.Errorf("calls %+v", last)
		}
	}
}
