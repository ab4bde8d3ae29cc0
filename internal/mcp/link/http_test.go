package link_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
)

// endpoint is a scripted server that stores the requests.
type endpoint struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func serve(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request, body string)) *endpoint {
	e := new(endpoint)
	n := 0
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		at := n
		n++
		e.seen = append(e.seen, fmt.Sprintf("%s %s auth=%q session=%q version=%q last=%q name=%q", r.Method, body, r.Header.Get("Authorization"),
			r.Header.Get("Mcp-Session-Id"), r.Header.Get("Mcp-Protocol-Version"), r.Header.Get("Last-Event-ID"), r.Header.Get("Mcp-Name")))
		e.mu.Unlock()
		answer(at, w, r, string(body))
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) all() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.seen, "\n")
}

func dial(t *testing.T, e *endpoint, h *received) *link.HTTP {
	t.Helper()
	l, err := link.Dial(link.Endpoint{URL: e.URL, Token: "ours", RetryDelay: time.Millisecond}, h.events())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func asJSON(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, text)
}

func asStream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, text)
}

// The gate's credential is sent to the server, mirrored headers only in the revision that has them.
func TestHTTPCall(t *testing.T) {
	e := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request, _ string) {
		asJSON(w, 200, `{"jsonrpc":"2.0","id":1,"result":{"a":1.0}}`)
	})
	l := dial(t, e, new(received))
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		c := request("1", "x")
		c.Version, c.Headers = version, map[string]string{"Mcp-Name": "n"}
		r, err := l.Call(t.Context(), c)
		if err != nil || r.Stream || string(r.Message.Text) != `{"jsonrpc":"2.0","id":1,"result":{"a":1.0}}` {
			t.Fatalf("%v, %v", r, err)
		}
	}
	if got, want := e.all(), `POST {"jsonrpc":"2.0","id":1,"method":"x"} auth="Bearer ours" session="" version="2025-11-25" last="" name=""
POST {"jsonrpc":"2.0","id":1,"method":"x"} auth="Bearer ours" session="" version="2026-07-28" last="" name="n"`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Proves I14: an invalid response fails the request.
func TestHTTPFaults(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   func(error) bool
	}{
		"500": {func(w http.ResponseWriter) { http.Error(w, "no", 500) }, isStatus},
		"a redirection": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://evil.example.com/")
			w.WriteHeader(307)
		}, isStatus},
		"a page":     {func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/html"); io.WriteString(w, "<p>") }, isStatus},
		"no JSON":    {func(w http.ResponseWriter) { asJSON(w, 200, `{`) }, isGarbage},
		"another id": {func(w http.ResponseWriter) { asJSON(w, 200, `{"jsonrpc":"2.0","id":2,"result":{}}`) }, isGarbage},
		"a request":  {func(w http.ResponseWriter) { asJSON(w, 200, `{"jsonrpc":"2.0","id":1,"method":"x"}`) }, isGarbage},
		"a member twice": {func(w http.ResponseWriter) {
			asStream(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1,\"a\":2}}\n\n")
		}, isGarbage},
		"an empty stream": {func(w http.ResponseWriter) { asStream(w, ": nothing\n\n") }, isDead},
		"half an event":   {func(w http.ResponseWriter) { asStream(w, `data: {"jsonrpc":"2.0","id":1,"result":{}}`) }, isDead},
		"too long": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: ")
			for range 40 {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
					return
				}
			}
		}, isGarbage},
		"cut": {func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }, isDead},
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request, _ string) { c.answer(w) })
			r, err := dial(t, e, new(received)).Call(t.Context(), request("1", "x"))
			if err == nil || !c.want(err) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func isStatus(err error) bool  { return errors.As(err, new(*link.StatusError)) }
func isGarbage(err error) bool { return errors.As(err, new(*link.InvalidResponseError)) }
func isDead(err error) bool    { return errors.Is(err, link.ErrDead) }

// Messages on the request's stream are delivered in order; an error response with its HTTP status
// is a response.
func TestHTTPStream(t *testing.T) {
	e := serve(t, func(n int, w http.ResponseWriter, _ *http.Request, _ string) {
		if n == 1 {
			asJSON(w, 404, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`)
			return
		}
		asStream(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n\ndata:\n\nevent: other\ndata: {\n\ndata: nonsense\n\n"+
			"data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":9,\"result\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"b\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
	})
	h := new(received)
	l := dial(t, e, h)
	c := request("1", "x")
	var said []string
	c.OnMessage = func(m *jsonrpc.Message) { said = append(said, m.Method) }
	r, err := l.Call(t.Context(), c)
	if err != nil || !r.Stream || r.Message.Kind != jsonrpc.Response || strings.Join(said, "") != "ab" {
		t.Fatalf("%+v, %v, %v", r, err, said)
	}
	if _, noise := h.text(); strings.Count(noise, "\n") != 1 {
		t.Errorf("noise %q", noise)
	}
	r, err = l.Call(t.Context(), c)
	if err != nil || r.Status != 404 || r.Message.Kind != jsonrpc.ErrorResponse {
		t.Errorf("%+v, %v", r, err)
	}
}

// A stream that ends before the response is resumed after its last event.
func TestHTTPResumes(t *testing.T) {
	e := serve(t, func(n int, w http.ResponseWriter, r *http.Request, _ string) {
		switch {
		case n == 0:
			asStream(w, "id: s_1\nretry: 1\ndata: \n\n")
		case n < 3:
			asStream(w, fmt.Sprintf("id: s_%d\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n", n+1))
		default:
			asStream(w, "id: s_9\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
		}
	})
	l := dial(t, e, new(received))
	c := request("1", "x")
	n := 0
	c.OnMessage = func(*jsonrpc.Message) { n++ }
	if r, err := l.Call(t.Context(), c); err != nil || r.Message.Kind != jsonrpc.Response || n != 2 {
		t.Fatalf("%+v, %v, %d", r, err, n)
	}
	for _, last := range []string{`last="s_1"`, `last="s_2"`, `last="s_3"`} {
		if !strings.Contains(e.all(), last) {
			t.Errorf("no %s in\n%s", last, e.all())
		}
	}
}

// The session of the server is kept, its own stream is read, and it is deleted at the end; a
// session that the server forgot ends the link.
func TestHTTPSession(t *testing.T) {
	e := serve(t, func(_ int, w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case r.Method == http.MethodGet:
			asStream(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"stray\"}\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case r.Method == http.MethodDelete:
			w.WriteHeader(204)
		case strings.Contains(body, "initialize\""):
			w.Header().Set("Mcp-Session-Id", "theirs")
			asJSON(w, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		case strings.Contains(body, "lost"):
			http.Error(w, "gone", 404)
		default:
			w.WriteHeader(202)
		}
	})
	h := new(received)
	l := dial(t, e, h)
	if _, err := l.Call(t.Context(), request("1", "initialize")); err != nil {
		t.Fatal(err)
	}
	if err := l.Send(t.Context(), &link.Call{Text: []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), Method: "notifications/initialized", Version: "2025-11-25"}); err != nil {
		t.Fatal(err)
	}
	until(t, "the stray message", func() bool { s, _ := h.text(); return strings.Contains(s, "stray") })
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if all := e.all(); !strings.Contains(all, `DELETE  auth="Bearer ours" session="theirs"`) || !strings.Contains(all, `GET  auth="Bearer ours" session="theirs" version="2025-11-25"`) {
		t.Errorf("the server saw\n%s", all)
	}
	l = dial(t, e, h)
	if _, err := l.Call(t.Context(), request("1", "initialize")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Call(t.Context(), request("2", "lost")); !isStatus(err) {
		t.Error(err)
	}
	<-l.Done()
}

// Cancelling a call closes its stream.
func TestHTTPGivesUp(t *testing.T) {
	closed := make(chan struct{})
	e := serve(t, func(_ int, w http.ResponseWriter, r *http.Request, _ string) {
		asStream(w, ": wait\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(closed)
	})
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	if _, err := dial(t, e, new(received)).Call(ctx, request("1", "x")); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	<-closed
}

// Proves F18: an endpoint is a web address.
func TestDial(t *testing.T) {
	for _, url := range []string{"", "/x", "file:///etc/passwd", "http://", "ftp://x", "::"} {
		if _, err := link.Dial(link.Endpoint{URL: url}, link.Events{}); err == nil {
			t.Errorf("%q is dialled", url)
		}
	}
}
