package identity_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/identity"
	"github.com/stopgate/stopgate/internal/testkit/issuer"
)

// clock is the clock of a test.
type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

func newProvider(t *testing.T) (*identity.Provider, *issuer.Issuer, *clock, *bytes.Buffer) {
	t.Helper()
	at := &clock{time.Now()}
	i := issuer.New(t)
	i.At(at.read)
	log := new(bytes.Buffer)
	p := identity.New(identity.OIDC{Issuer: i.URL, Audience: issuer.Audience, Principal: "email", Groups: "groups"}, identity.Options{
		Now: at.read, Log: slog.New(slog.NewTextHandler(log, nil)), Logouts: new(identity.MemoryLogouts),
		Taken: func(who stopgate.Principal) bool { return who == "ci" },
	})
	return p, i, at, log
}

func authenticate(p *identity.Provider, token string) (stopgate.Principal, stopgate.Groups, error) {
	return p.Authenticate(httptest.NewRequest(http.MethodPost, "/", nil), token)
}

var ann = map[string]any{"email": "ann@example.com", "email_verified": true, "groups": []string{"leads", "people", "leads"}}

func TestAccepted(t *testing.T) {
	p, i, at, _ := newProvider(t)
	who, groups, err := authenticate(p, i.Token(ann))
	if err != nil || who != "ann@example.com" || !slices.Equal(groups.Names(), []string{"leads", "people"}) {
		t.Errorf("%s in %q: %v", who, groups.Names(), err)
	}
	for name, claims := range map[string]map[string]any{
		"one group":            {"groups": "leads"},
		"several audiences":    {"aud": []string{"wiki", issuer.Audience}},
		"a clock that is slow": {"iat": at.now.Add(50 * time.Second).Unix(), "nbf": at.now.Add(50 * time.Second).Unix()},
		"a clock that is fast": {"exp": at.now.Add(-50 * time.Second).Unix()},
	} {
		claims["email"] = "ann@example.com"
		if _, _, err := authenticate(p, i.Token(claims)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Without the claim the groups are not known, which is not the same as none.
	if _, groups, err := authenticate(p, i.Token(map[string]any{"email": "ann@example.com"})); err != nil || groups.Known() {
		t.Errorf("%q: %v", groups.Names(), err)
	}
	if _, groups, err := authenticate(p, i.Token(map[string]any{"email": "ann@example.com", "groups": []string{}})); err != nil || !groups.Known() {
		t.Errorf("%q: %v", groups.Names(), err)
	}
}

// Every token that is not good is refused, with the reason in the log and without the token.
func TestRefused(t *testing.T) {
	p, i, _, log := newProvider(t)
	for _, c := range i.Refusals() {
		log.Reset()
		who, groups, err := authenticate(p, c.Token)
		if err == nil || who != "" || groups.Known() {
			t.Errorf("%s: accepted as %q", c.Name, who)
			continue
		}
		if !strings.Contains(log.String(), "reason=") || !strings.Contains(err.Error(), c.Reason) {
			t.Errorf("%s: %v; the log has %s", c.Name, err, log)
		}
		if len(c.Token) > 50 && strings.Contains(log.String(), c.Token[len(c.Token)-40:]) {
			t.Errorf("%s: the log has the token", c.Name)
		}
	}
	if _, _, err := authenticate(p, ""); err == nil {
		t.Error("no token is accepted")
	}
}

// A new key is read when a token names it, and the old one holds no longer. Keys that are not known do
// not make the gate ask all the time.
func TestRotation(t *testing.T) {
	p, i, at, _ := newProvider(t)
	old := i.Token(ann)
	if _, _, err := authenticate(p, old); err != nil {
		t.Fatal(err)
	}
	i.Rotate()
	at.now = at.now.Add(20 * time.Second)
	if _, _, err := authenticate(p, i.Token(ann)); err != nil {
		t.Error("the new key:", err)
	}
	if _, _, err := authenticate(p, old); err == nil {
		t.Error("the old key is accepted")
	}
	before := i.Reads()
	for range 50 {
		if _, _, err := authenticate(p, i.Stranger("other", ann)); err == nil {
			t.Fatal("accepted")
		}
	}
	if n := i.Reads() - before; n > 1 {
		t.Errorf("the keys were read %d times", n)
	}
}

// While the issuer cannot be reached, known keys are used until they are too old. Nothing is accepted
// without keys.
func TestIssuerDown(t *testing.T) {
	p, i, at, _ := newProvider(t)
	i.Down(true)
	if _, _, err := authenticate(p, i.Token(ann)); err == nil {
		t.Fatal("accepted without keys")
	}
	i.Down(false)
	at.now = at.now.Add(20 * time.Second)
	if _, _, err := authenticate(p, i.Token(ann)); err != nil {
		t.Fatal(err)
	}
	i.Down(true)
	at.now = at.now.Add(50 * time.Minute)
	if _, _, err := authenticate(p, i.Token(ann)); err != nil {
		t.Error("known keys:", err)
	}
	at.now = at.now.Add(15 * time.Minute)
	if _, _, err := authenticate(p, i.Token(ann)); err == nil {
		t.Error("keys that are too old are used")
	}
	i.Down(false)
	at.now = at.now.Add(20 * time.Second)
	if _, _, err := authenticate(p, i.Token(ann)); err != nil {
		t.Error("after the recovery:", err)
	}
}

func logout(p *identity.Provider, tokens ...string) int {
	form := url.Values{"logout_token": tokens}
	r := httptest.NewRequest(http.MethodPost, "/v1/logout", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	p.Logout(w, r)
	return w.Code
}

// A token is refused after its session was ended at the issuer, or its subject was logged out; one that
// was issued afterwards is not.
func TestReplayAfterLogout(t *testing.T) {
	p, i, at, log := newProvider(t)
	token := func(sid, sub string) string {
		return i.Token(map[string]any{"email": "ann@example.com", "sid": sid, "sub": sub})
	}
	first, second, other := token("s1", "u-1"), token("s2", "u-1"), token("s3", "u-2")
	accepted := func(name, token string, want bool) {
		t.Helper()
		if _, _, err := authenticate(p, token); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []struct{ name, token string }{
		{"a token of a caller", first},
		{"with a nonce", i.Logout(map[string]any{"sid": "s1", "nonce": "n"})},
		{"for nobody", i.Logout(nil)},
		{"of another audience", i.Logout(map[string]any{"sid": "s1", "aud": "wiki"})},
		{"of another issuer", i.Logout(map[string]any{"sid": "s1", "iss": "https://id.example.com"})},
		{"by another key", i.Stranger("other", map[string]any{"sid": "s1"})},
		{"old", i.Logout(map[string]any{"sid": "s1", "iat": at.now.Add(-time.Hour).Unix(), "exp": at.now.Add(-time.Hour).Unix()})},
	} {
		if code := logout(p, c.token); code != http.StatusBadRequest {
			t.Errorf("a logout %s: %d", c.name, code)
		}
	}
	if logout(p) != http.StatusBadRequest || logout(p, i.Logout(map[string]any{"sid": "s1"}), i.Logout(map[string]any{"sid": "s1"})) != http.StatusBadRequest {
		t.Error("not one token is accepted")
	}
	accepted("before", first, true)
	if code := logout(p, i.Logout(map[string]any{"sid": "s1", "sub": "u-1"})); code != http.StatusOK {
		t.Fatal(code)
	}
	log.Reset()
	accepted("the session that ended", first, false)
	if !strings.Contains(log.String(), "logged out") {
		t.Errorf("the log has %s", log)
	}
	accepted("another session", second, true)
	if code := logout(p, i.Logout(map[string]any{"sub": "u-1"})); code != http.StatusOK {
		t.Fatal(code)
	}
	accepted("all sessions of the subject", second, false)
	accepted("another subject", other, true)
	at.now = at.now.Add(2 * time.Second)
	accepted("a new login", token("s4", "u-1"), true)
}

// failing is a store that cannot be read.
type failing struct{}

func (failing) PutLogEntries(context.Context, stopgate.Principal, map[string][]byte) error {
	return errors.New("down")
}
func (failing) LogEntry(context.Context, stopgate.Principal, string) ([]byte, error) {
	return nil, errors.New("down")
}

// Whether a caller was logged out has to be known.
func TestLogoutsUnknown(t *testing.T) {
	i := issuer.New(t)
	p := identity.New(identity.OIDC{Issuer: i.URL, Audience: issuer.Audience, Principal: "sub"}, identity.Options{Logouts: failing{}})
	if _, _, err := authenticate(p, i.Token(nil)); err == nil {
		t.Error("accepted")
	}
	if logout(p, i.Logout(map[string]any{"sub": "u-1"})) != http.StatusBadRequest {
		t.Error("a logout that is not kept is confirmed")
	}
}

func TestCheckURL(t *testing.T) {
	for text, ok := range map[string]bool{
		"https://id.example.com": true, "https://id.example.com/realms/a": true, "http://127.0.0.1:8080": true, "http://localhost/": true,
		"http://id.example.com": false, "https://": false, "id.example.com": false, "https://a:b@id.example.com": false, "file:///etc/passwd": false,
	} {
		if err := identity.CheckURL(text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A logout that arrives late, or again, does not take back a newer one.
func TestOlderLogout(t *testing.T) {
	_, i, at, _ := newProvider(t)
	p := identity.New(identity.OIDC{Issuer: i.URL, Audience: issuer.Audience, Principal: "sub"}, identity.Options{
		Now: at.read, Logouts: new(identity.MemoryLogouts),
	})
	older := i.Logout(map[string]any{"sub": "u-1"})
	at.now = at.now.Add(5 * time.Second)
	between := i.Token(map[string]any{"sub": "u-1"})
	at.now = at.now.Add(5 * time.Second)
	for _, token := range []string{i.Logout(map[string]any{"sub": "u-1"}), older} {
		if code := logout(p, token); code != http.StatusOK {
			t.Fatal(code)
		}
		if _, _, err := authenticate(p, between); err == nil {
			t.Error("a token from before the newer logout is accepted")
		}
	}
}

// An email has to be verified, however the settings name the claim.
func TestEmailByPointer(t *testing.T) {
	i := issuer.New(t)
	for _, claim := range []string{"email", "/email"} {
		p := identity.New(identity.OIDC{Issuer: i.URL, Audience: issuer.Audience, Principal: claim}, identity.Options{})
		if who, _, err := authenticate(p, i.Token(map[string]any{"email": "ann@example.com", "email_verified": false})); err == nil {
			t.Errorf("%s: %s is accepted", claim, who)
		}
		if _, _, err := authenticate(p, i.Token(ann)); err != nil {
			t.Errorf("%s: %v", claim, err)
		}
	}
}

// moved is a client of an issuer whose keys have moved to a host without TLS.
type moved struct{ issuer string }

func (m moved) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case r.URL.Host == "keys.example.com":
		r.URL.Host = strings.TrimPrefix(m.issuer, "http://")
	case r.URL.Path == "/keys":
		return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {"http://keys.example.com/keys"}}, Body: http.NoBody, Request: r}, nil
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A redirect does not lead to keys that are read without TLS.
func TestKeysBehindRedirect(t *testing.T) {
	i := issuer.New(t)
	p := identity.New(identity.OIDC{Issuer: i.URL, Audience: issuer.Audience, Principal: "sub"}, identity.Options{Client: &http.Client{Transport: moved{i.URL}}})
	if _, _, err := authenticate(p, i.Token(nil)); err == nil || !strings.Contains(err.Error(), "want https") {
		t.Errorf("accepted with keys of a host without TLS: %v", err)
	}
}
