package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
)

// logoutsOf begins the owner of the entries about callers that were logged out.
const logoutsOf = "logout:"

// maxLogoutBody is the maximum length of a request of the issuer in bytes.
const maxLogoutBody = 2 * MaxToken

// Logout handles the issuer's requests of OpenID Connect Back-Channel Logout: from then on the tokens
// of the session that it names are refused, or those of the subject that were issued until then.
func (p *Provider) Logout(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	r.Body = http.MaxBytesReader(w, r.Body, maxLogoutBody)
	err := r.ParseForm()
	if err == nil {
		err = p.logout(r.Context(), r.PostForm["logout_token"])
	}
	if err != nil {
		p.options.Log.Warn("a logout is refused", "reason", err.Error(), "remote", r.RemoteAddr)
		http.Error(w, "the logout token is not accepted", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (p *Provider) logout(ctx context.Context, tokens []string) error {
	if len(tokens) != 1 {
		return fmt.Errorf("%d logout tokens, want one", len(tokens))
	}
	open, err := unverified(tokens[0])
	if err != nil {
		return fmt.Errorf("the logout token: %w", err)
	}
	if issuer, _ := open.Get("iss"); issuer.Text() != p.settings.Issuer {
		return fmt.Errorf("the logout token is of the issuer %.200q, want %q", issuer.Text(), p.settings.Issuer)
	}
	order, err := p.verifier().VerifyLogout(ctx, tokens[0])
	if err != nil {
		return fmt.Errorf("the logout token: %w", err)
	}
	now := p.options.Now()
	if order.IssuedAt.After(now.Add(Skew)) || order.Expiry.Unix() > 0 && order.Expiry.Add(Skew).Before(now) || order.IssuedAt.Before(now.Add(-maxLogoutAge)) {
		return fmt.Errorf("the logout token is not in force")
	}
	key := subjectKey(order.Subject)
	if order.SessionID != "" {
		key = sessionKey(order.SessionID)
	}
	if p.options.Logouts == nil {
		return fmt.Errorf("no store keeps logouts")
	}
	known, err := p.options.Logouts.LogEntry(ctx, p.owner(), key)
	if err != nil {
		return fmt.Errorf("read the last logout: %w", err)
	}
	if at, err := strconv.ParseInt(string(known), 10, 64); err == nil && at >= order.IssuedAt.Unix() {
		return nil // it arrives late, or again
	}
	err = p.options.Logouts.PutLogEntries(ctx, p.owner(), map[string][]byte{key: strconv.AppendInt(nil, order.IssuedAt.Unix(), 10)})
	if err != nil {
		return fmt.Errorf("keep the logout: %w", err)
	}
	p.options.Log.Info("a caller is logged out", "subject", order.Subject, "session", order.SessionID)
	return nil
}

// maxLogoutAge is the age of the oldest logout token that is accepted, if it does not say when it ends.
const maxLogoutAge = 10 * time.Minute

// loggedOut returns an error if the session of a token was ended, if the subject was logged out after
// the token was issued, or if that cannot be read.
func (p *Provider) loggedOut(ctx context.Context, t *token) error {
	if p.options.Logouts == nil {
		return nil
	}
	for _, key := range []string{sessionKey(t.session), subjectKey(t.subject)} {
		if key == "" {
			continue
		}
		text, err := p.options.Logouts.LogEntry(ctx, p.owner(), key)
		if err != nil {
			return fmt.Errorf("whether the caller was logged out is not known: %w", err)
		}
		if text == nil {
			continue
		}
		at, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return fmt.Errorf("whether the caller was logged out is not known: %w", err)
		}
		if key == sessionKey(t.session) || !t.issued.After(time.Unix(at, 0)) {
			return fmt.Errorf("the caller was logged out at %s", time.Unix(at, 0).UTC().Format(time.RFC3339))
		}
	}
	return nil
}

func (p *Provider) owner() stopgate.Principal {
	return stopgate.Principal(logoutsOf + p.settings.Issuer)
}

func sessionKey(id string) string { return keyOf("sid", id) }

func subjectKey(id string) string { return keyOf("sub", id) }

// keyOf returns the key of an entry, "" without an id.
func keyOf(kind, id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return kind + ":" + hex.EncodeToString(sum[:])
}

// MemoryLogouts are [Logouts] of one process without a store.
type MemoryLogouts struct {
	mu      sync.Mutex
	entries map[stopgate.Principal]map[string][]byte
}

// PutLogEntries implements [Logouts].
func (m *MemoryLogouts) PutLogEntries(_ context.Context, p stopgate.Principal, entries map[string][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil {
		m.entries = make(map[stopgate.Principal]map[string][]byte)
	}
	if m.entries[p] == nil {
		m.entries[p] = make(map[string][]byte)
	}
	for key, entry := range entries {
		m.entries[p][key] = entry
	}
	return nil
}

// LogEntry implements [Logouts].
func (m *MemoryLogouts) LogEntry(_ context.Context, p stopgate.Principal, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[p][key], nil
}
