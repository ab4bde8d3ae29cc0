package serve_test

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/serve"
)

// entries are the sessions that gates share.
type entries struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (e *entries) PutLogEntries(_ context.Context, p stopgate.Principal, more map[string][]byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, text := range more {
		e.kept[string(p)+" "+key] = text
	}
	return nil
}

func (e *entries) LogEntry(_ context.Context, p stopgate.Principal, key string) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.kept[string(p)+" "+key], nil
}

// Handshake is what another gate repeats.
func (*busy) Handshake() []byte { return []byte("hello") }

// Proves G9: a session in use, such as one with an open stream, that its client has ended at another gate ends here
// within a minute, without a request.
func TestSessionIsEndedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, shared := new(counting), &entries{kept: map[string][]byte{}}
		h := serve.NewHandler(g, serve.Options{Path: "/mcp", Hosts: []string{"example.com"}, Shared: shared})
		defer h.Close()
		h.SetTokens([]serve.Token{{Name: "ann", SHA256: sha256.Sum256([]byte("secret"))}})
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`))
		r.Header.Set("Authorization", "Bearer secret")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || len(shared.kept) != 1 {
			t.Fatalf("%d %s, %d sessions are shared", w.Code, w.Body, len(shared.kept))
		}
		time.Sleep(2 * time.Minute)
		if n := g.closed.Load(); n != 0 {
			t.Fatal("a session that is in use has ended")
		}
		for key := range shared.kept {
			shared.kept[key] = []byte("ended")
		}
		time.Sleep(time.Minute + time.Second)
		if n := g.closed.Load(); n != 1 {
			t.Errorf("%d sessions have ended", n)
		}
	})
}
