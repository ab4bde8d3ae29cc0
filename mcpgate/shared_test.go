package mcpgate_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/mcpgate"
)

// sharedSessions keeps sessions in memory, and fails while lost is set.
type sharedSessions struct {
	mu      sync.Mutex
	lost    bool
	entries map[string][]byte
}

func (s *sharedSessions) PutLogEntries(_ context.Context, p stopgate.Principal, entries map[string][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		return errors.New("lost")
	}
	for k, v := range entries {
		s.entries[string(p)+" "+k] = slices.Clone(v)
	}
	return nil
}

func (s *sharedSessions) LogEntry(_ context.Context, p stopgate.Principal, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		return nil, errors.New("lost")
	}
	return s.entries[string(p)+" "+key], nil
}

func (s *sharedSessions) set(lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = lost
}

// Proves H4, G9: a session that one gate began goes on at another: its servers get the client's
// handshake again, calls are judged in the same session, and it belongs to its principal. After the
// client has ended it, no gate goes on with it.
func TestSharedSessions(t *testing.T) {
	shared := &sharedSessions{entries: map[string][]byte{}}
	one, two := newFake(echoTool), newFake(echoTool)
	a := setup(t, `[tools.echo.policy]
run = "unattended"`, mcpgate.Settings{}, map[string]*fake{"": one}).sharing(t, shared)
	b := setup(t, `[tools.echo.policy]
run = "unattended"`, mcpgate.Settings{}, map[string]*fake{"": two}).sharing(t, shared)

	id := a.session(t)
	at := map[string]string{"Mcp-Session-Id": id}
	for range 2 {
		r := b.request(t, http.MethodPost, call("7", "echo", `{"text":"x"}`), at)
		if body := text(t, r); r.StatusCode != http.StatusOK || !strings.Contains(body, "ran") {
			t.Fatalf("at the other gate: %d %s", r.StatusCode, body)
		}
	}
	if n := len(two.calls("initialize")); n != 1 || len(two.calls("tools/call")) != 2 || len(two.calls("notifications/initialized")) != 1 {
		t.Errorf("%d times initialized: %s", n, two.all())
	}
	r := b.request(t, http.MethodPost, call("8", "echo", `{"text":"x"}`), map[string]string{"Mcp-Session-Id": id, "Authorization": "Bearer bert-token"})
	if text(t, r); r.StatusCode != http.StatusNotFound {
		t.Errorf("the session of another principal: %d", r.StatusCode)
	}
	again := b.request(t, http.MethodPost, initialize, at)
	if body := text(t, again); !strings.Contains(body, "already initialized") {
		t.Errorf("initialized again: %s", body)
	}

	lost := a.session(t)
	shared.set(true)
	for _, session := range []string{lost, id} { // whether it was ended is not known
		r = b.request(t, http.MethodPost, call("9", "echo", `{"text":"x"}`), map[string]string{"Mcp-Session-Id": session})
		if text(t, r); r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("while the store is lost: %d", r.StatusCode)
		}
	}
	r = a.request(t, http.MethodPost, initialize, nil)
	if body := text(t, r); !strings.Contains(body, "error") {
		t.Errorf("a session that no other gate learns of: %s", body)
	}
	shared.set(false)

	c := setup(t, `[tools.echo.policy]
run = "unattended"`, mcpgate.Settings{}, map[string]*fake{"": newFake(echoTool)}).sharing(t, shared)
	r = a.request(t, http.MethodDelete, "", at)
	if text(t, r); r.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE: %d", r.StatusCode)
	}
	for _, s := range []*site{a, b, c} { // also where it was in use
		r = s.request(t, http.MethodPost, call("9", "echo", `{"text":"x"}`), at)
		if text(t, r); r.StatusCode != http.StatusNotFound {
			t.Errorf("after its end: %d", r.StatusCode)
		}
	}
}
