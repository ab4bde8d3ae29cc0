package serve_test

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/serve"
	"github.com/stopgate/stopgate/session"
)

// counting is a gateway that counts its clients. Each of them always has an open request.
type counting struct {
	made   int
	closed atomic.Int32
}

func (g *counting) NewClient(session.Owner, serve.Connection) serve.Client {
	g.made++
	return &busy{g: g}
}

func (*counting) RefuseText(context.Context, session.Owner, error) []byte { return nil }

func (*counting) RefuseCall(context.Context, session.Owner, *jsonrpc.Message, stopgate.Code) {}

func (*counting) Wait() {}

// busy is a client of counting.
type busy struct {
	serve.Client
	g *counting
}

func (c *busy) Begin(context.Context, *jsonrpc.Message, func([]byte) bool, func(string) (string, bool)) (func() serve.Reply, bool) {
	return func() serve.Reply { return serve.Reply{Text: []byte(`{}`)} }, true
}

func (*busy) Initialized() bool { return true }

func (*busy) Busy() bool { return true }

func (c *busy) Close() { c.g.closed.Add(1) }

// Proves FM14: a principal with as many busy sessions as possible gets no other one, and no client is
// made for a session that is refused.
func TestRefusedSessionHasNoClient(t *testing.T) {
	const most = 256
	g := new(counting)
	h := serve.NewHandler(g, serve.Options{Path: "/mcp", Hosts: []string{"example.com"}})
	h.SetTokens([]serve.Token{{Name: "ann", SHA256: sha256.Sum256([]byte("secret"))}})
	for n := range most + 3 {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`))
		r.Header.Set("Authorization", "Bearer secret")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		want := http.StatusOK
		if n >= most {
			want = http.StatusServiceUnavailable
		}
		if w.Code != want {
			t.Fatalf("session %d: status %d, want %d: %s", n+1, w.Code, want, w.Body)
		}
	}
	if g.made != most {
		t.Errorf("%d clients were made, want %d", g.made, most)
	}
	if h.Close(); int(g.closed.Load()) != g.made {
		t.Errorf("%d of %d clients are closed", g.closed.Load(), g.made)
	}
}
