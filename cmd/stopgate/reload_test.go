package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/cli"
)

// until waits for something that a running process does soon.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Status + " " + string(text)
}

// Proves FM11, FM12: a policy that changes comes into force; one that is broken, half
// written or gone does not, and shows in the health, the records and the log.
func TestUpReloads(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p.toml")
	write := func(text string) {
		t.Helper()
		next := filepath.Join(dir, "next")
		if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, policy); err != nil {
			t.Fatal(err)
		}
	}
	const deny = "version = 1\n[tools.fs_create_file.policy]\nrun = [{ mode = \"deny\", reason = \"REASON\" }]\n"
	write(strings.Replace(deny, "REASON", "the first rule", 1))
	s := startUp(t, dir, "--policy", "p.toml", "--audit", "records.jsonl")
	says := func(reason string) func() bool {
		return func() bool {
			_, answer := post(t, s.url+"/v1/chat/completions", storeCredentials)
			return strings.Contains(answer, "was not run: "+reason)
		}
	}
	health := func(word string) func() bool {
		return func() bool {
			return strings.Contains(get(t, s.url+"/healthz"), `200 OK {"status":"`+word+`"`) && strings.HasPrefix(get(t, s.url+"/readyz"), "200")
		}
	}
	if !says("the first rule")() || !health("ok")() {
		t.Fatal("not the first policy")
	}
	write(strings.Replace(deny, "REASON", "the second rule", 1))
	until(t, "the second policy", says("the second rule"))

	write(deny[:len(deny)-8])
	until(t, "a broken policy shows", health("degraded"))
	if !says("the second rule")() {
		t.Error("the second policy is not in force any more")
	}
	write(strings.Replace(deny, "REASON", "the third rule", 1))
	until(t, "the third policy", says("the third rule"))
	until(t, "health after the third policy", health("ok"))

	if err := os.Remove(policy); err != nil {
		t.Fatal(err)
	}
	until(t, "a missing policy shows", health("degraded"))
	if !says("the third rule")() {
		t.Error("the third policy is not in force any more")
	}
	write(strings.Replace(deny, "REASON", "the fourth rule", 1) + "[limits]\nrequest_bytes = 5\n[approvals]\nhold = \"1m\"\n")
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until(t, "the limit holds", func() bool {
		status, _ := post(t, s.url+"/v1/chat/completions", storeCredentials)
		return status == http.StatusRequestEntityTooLarge
	})
	s.stop(t)
	for _, want := range []string{"p.toml:3:", "error SG", "reload refused: what was in force stays", "p.toml", "some changes need a restart", "[api], [approvals], [identity]"} {
		if !strings.Contains(s.stderr.String(), want) {
			t.Errorf("%q is not in:\n%s", want, s.stderr)
		}
	}
	rows, err := os.ReadFile(filepath.Join(dir, "records.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(rows), `"event":"reload"`); n < 5 || strings.Count(string(rows), `"code":"config_reload_rejected"`) != 2 {
		t.Errorf("%d rows about reloads in\n%s", n, rows)
	}
}

// Proves FM11, FM12: a pipe in the place of a policy, of tools or of a token stops neither
// the reloads behind it nor the gate's end.
func TestUpReloadsNoPipes(t *testing.T) {
	dir := t.TempDir()
	const policy = "version = 1\n[tools.fs_create_file.policy]\nrun = [{ mode = \"deny\", reason = \"REASON\" }]\n[gateway.tokens.anna]\nfile = \"anna.token\"\n"
	first, tools := strings.Replace(policy, "REASON", "the first rule", 1), `[{"type":"function","function":{"name":"x","parameters":{"type":"object"}}}]`
	for name, text := range map[string]string{"p.toml": first, "tools.json": tools, "anna.token": "3d1c3a7e5b9f48c2"} {
		writeIn(t, dir, name, text)
	}
	s := startUp(t, dir, "--policy", "p.toml", "--tools", "tools.json", "--audit", "records.jsonl")
	health := func(word string) func() bool {
		return func() bool { return strings.Contains(get(t, s.url+"/healthz"), `"status":"`+word+`"`) }
	}
	pipe := func(name string) {
		t.Helper()
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"p.toml": first, "tools.json": tools, "anna.token": "3d1c3a7e5b9f48c2"} {
		pipe(name)
		until(t, name+" as a pipe is refused", health("degraded"))
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		writeIn(t, dir, name, text)
		until(t, name+" is read again", health("ok"))
	}
	pipe("p.toml")
	until(t, "the pipe is refused", health("degraded"))
	if code := s.stop(t); code != cli.ExitOK || !strings.Contains(s.stderr.String(), "p.toml is no regular file") {
		t.Errorf("exit code %d\n%s", code, s.stderr)
	}
}

// A user's own policy that goes away takes no rule along while up runs.
func TestUpKeepsALayerThatIsGone(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, ".config", "stopgate", "stopgate.toml")
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{own: "version = 1\n[tools.\"*\".policy]\nrun = \"deny\"\n", filepath.Join(dir, "stopgate.toml"): "version = 1\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := startUp(t, dir)
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	until(t, "the missing layer shows", func() bool { return strings.Contains(get(t, s.url+"/healthz"), "degraded") })
	if _, answer := post(t, s.url+"/v1/chat/completions", storeCredentials); !strings.Contains(answer, "rule_matched") {
		t.Errorf("the rule is gone: %s", answer)
	}
	s.stop(t)
	if !strings.Contains(s.stderr.String(), "stopgate.toml is gone") {
		t.Errorf("standard error: %s", s.stderr)
	}
}

// Proves K0j: the gateway speaks HTTPS with the certificate of its files, and with the
// next one when they change.
func TestUpServesHTTPS(t *testing.T) {
	dir := t.TempDir()
	roots := issue(t, dir, 1)
	text := "version = 1\n[gateway]\ntls_cert = \"tls.crt\"\ntls_key = \"tls.key\"\n[gateway.tokens.ci]\nfile = \"ci.token\"\n"
	for name, text := range map[string]string{"p.toml": text, "ci.token": "sg_0123456789abcdef\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := startUp(t, dir, "--policy", "p.toml")
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Fatalf("the gateway is at %s", s.url)
	}
	ask := func(roots *x509.CertPool) (string, error) {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		req, err := http.NewRequest("POST", s.url+"/k/sg_0123456789abcdef/v1/chat/completions", strings.NewReader(storeCredentials))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp.Proto + " " + resp.Status + " " + string(body), err
	}
	if answer, err := ask(roots); err != nil || !strings.HasPrefix(answer, "HTTP/2.0 200") || !strings.Contains(answer, "[DONE]") {
		t.Errorf("%v, %s", err, answer)
	}
	next := issue(t, dir, 2)
	until(t, "the next certificate", func() bool { _, err := ask(next); return err == nil })
	if code := s.stop(t); code != cli.ExitOK {
		t.Errorf("exit code %d\n%s", code, s.stderr)
	}
	if n := strings.Count(s.stderr.String(), "msg=certificate file="); n != 2 {
		t.Errorf("the log names %d certificates:\n%s", n, s.stderr)
	}
}

// issue writes a certificate and its key, and returns who trusts it.
func issue(t *testing.T, dir string, serial int64) *x509.CertPool {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: der}, "tls.key": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return pool
}
