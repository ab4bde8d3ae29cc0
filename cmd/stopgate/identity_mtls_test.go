package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/testkit/authority"
	"github.com/stopgate/stopgate/internal/testkit/issuer"
)

const mtlsPolicy = `version = 1
[gateway]
tls_cert = "tls.crt"
tls_key = "tls.key"
[identity.mtls]
ca = "ca.pem"
trust_domain = "example.org"
[tools.fs_create_file.policy]
run = [{ when = { principal = "spiffe://example.org/ns/pay/sa/agent" }, mode = "unattended" }, { mode = "deny", reason = "pay only" }]
`

// startMTLS starts up with client certificates, and returns how to ask its gateway with one.
func startMTLS(t *testing.T, dir string, a *authority.Authority, more string) (*server, func(client *tls.Certificate, headers map[string]string) (int, string)) {
	t.Helper()
	roots := issue(t, dir, 1)
	for name, text := range map[string]string{"p.toml": mtlsPolicy + more, "ca.pem": string(a.PEM()), "ci.token": "sg_0123456789abcdef\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := startUp(t, dir, "--policy", "p.toml", "--audit", "records.jsonl", "--log-level", "debug")
	return s, func(client *tls.Certificate, headers map[string]string) (int, string) {
		t.Helper()
		return askTLS(t, s.url, roots, client, headers)
	}
}

// askTLS sends a request over a connection of its own. The status is 0 if the handshake fails.
func askTLS(t *testing.T, url string, roots *x509.CertPool, client *tls.Certificate, headers map[string]string) (int, string) {
	t.Helper()
	config := &tls.Config{RootCAs: roots}
	if client != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return client, nil }
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions", strings.NewReader(storeCredentials))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	resp, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// Proves G10: without tokens a connection needs a certificate that holds; rules and records have its
// SPIFFE id, and a request with a token as well is refused.
func TestClientCertificates(t *testing.T) {
	dir := t.TempDir()
	a, other := authority.New(t), authority.New(t)
	s, ask := startMTLS(t, dir, a, "")
	pay, web := a.Workload(t, "spiffe://example.org/ns/pay/sa/agent", nil), a.Workload(t, "spiffe://example.org/ns/web", nil)
	if status, answer := ask(&pay, nil); status != http.StatusOK || strings.Contains(answer, "was not run") {
		t.Errorf("pay: %d %s", status, answer)
	}
	if status, answer := ask(&web, nil); status != http.StatusOK || !strings.Contains(answer, "pay only") {
		t.Errorf("web: %d %s", status, answer)
	}
	if status, answer := ask(&pay, map[string]string{"X-Stopgate-Token": "sg_0123456789abcdef"}); status != http.StatusUnauthorized {
		t.Errorf("a certificate and a token: %d %s", status, answer)
	}
	if status, answer := ask(nil, nil); status != 0 {
		t.Errorf("no certificate: %d %s", status, answer)
	}
	for _, probe := range [][]string{{"health"}, {"health", "--live"}} { // at the socket: it has no certificate
		if out := stopgateAt(t, dir, append(probe, "--url", s.socket)...); !strings.Contains(out, `"status":`) {
			t.Errorf("%v: %s", probe, out)
		}
	}
	foreign := other.Workload(t, "spiffe://example.org/ns/pay/sa/agent", nil)
	expired := a.Workload(t, "spiffe://example.org/ns/pay/sa/agent", func(l *x509.Certificate) { l.NotAfter = time.Now().Add(-time.Minute) })
	for name, bad := range map[string]*tls.Certificate{"another authority": &foreign, "expired": &expired} {
		if status, answer := ask(bad, nil); status != 0 {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), other.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the next root", func() bool { status, _ := ask(&foreign, nil); return status == http.StatusOK })
	if status, answer := ask(&pay, nil); status != 0 {
		t.Errorf("a root that was removed: %d %s", status, answer)
	}
	if code := s.stop(t); code != cli.ExitOK {
		t.Errorf("exit code %d\n%s", code, s.stderr)
	}
	if log := s.stderr.String(); !strings.Contains(log, "a client certificate is refused") || !strings.Contains(log, "unknown authority") || !strings.Contains(log, "expired") {
		t.Errorf("the log lacks the refusals: %s", log)
	}
	rows, err := os.ReadFile(filepath.Join(dir, "records.jsonl"))
	if err != nil || !strings.Contains(string(rows), `"principal":"spiffe://example.org/ns/pay/sa/agent"`) || strings.Contains(string(rows), `"principal":"local"`) {
		t.Errorf("records %s, %v", rows, err)
	}
}

// Proves G10: with tokens a certificate is optional, but one that does not hold still ends the
// handshake, and no token has the name of a workload.
func TestClientCertificatesWithTokens(t *testing.T) {
	dir := t.TempDir()
	a := authority.New(t)
	i := issuer.New(t)
	_, ask := startMTLS(t, dir, a, fmt.Sprintf("[gateway.tokens.ci]\nfile = \"ci.token\"\n[identity.oidc]\nissuer = \"%s\"\naudience = \"stopgate\"\nprincipal = \"name\"\n", i.URL))
	const workload = "spiffe://example.org/ns/pay/sa/agent"
	pay, bad := a.Workload(t, workload, nil), authority.SelfSigned(t, workload)
	token := map[string]string{"X-Stopgate-Token": "sg_0123456789abcdef"}
	as := func(name string) map[string]string {
		return map[string]string{"Authorization": "Bearer " + i.Token(map[string]any{"name": name})}
	}
	for what, c := range map[string]struct {
		client  *tls.Certificate
		headers map[string]string
		status  int
	}{
		"a certificate":                  {&pay, nil, http.StatusOK},
		"a token":                        {nil, token, http.StatusOK},
		"a token of the provider":        {nil, as("ann"), http.StatusOK},
		"nothing":                        {nil, nil, http.StatusUnauthorized},
		"both":                           {&pay, token, http.StatusUnauthorized},
		"a certificate and the provider": {&pay, as("ann"), http.StatusUnauthorized},
		"the provider names a workload":  {nil, as(workload), http.StatusUnauthorized},
		"a bad certificate":              {&bad, nil, 0},
		"a bad certificate and a token":  {&bad, token, 0},
	} {
		if status, answer := ask(c.client, c.headers); status != c.status {
			t.Errorf("%s: %d %s, want %d", what, status, answer, c.status)
		}
	}
}

// Client certificates need TLS, and are never configured by halves.
func TestClientCertificatesMistakes(t *testing.T) {
	a := authority.New(t)
	for name, c := range map[string]struct{ policy, want string }{
		"no TLS":       {"version = 1\n[identity.mtls]\nca = \"ca.pem\"\ntrust_domain = \"example.org\"\n", "client certificates need TLS at the gateway"},
		"no domain":    {strings.Replace(mtlsPolicy, `"example.org"`, `"https://example.org"`, 1), "p.toml:7:"},
		"no authority": {strings.Replace(mtlsPolicy, "trust_domain", "#", 1), "trust_domain"},
		"no file":      {strings.Replace(mtlsPolicy, `"ca.pem"`, `"gone.pem"`, 1), "roots of client certificates"},
	} {
		dir := t.TempDir()
		issue(t, dir, 1)
		for file, text := range map[string]string{"p.toml": c.policy, "ca.pem": string(a.PEM())} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := tryUp(dir, "--policy", "p.toml")
		if err == nil {
			s.end()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
