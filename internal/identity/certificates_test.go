package identity_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/identity"
	"github.com/stopgate/stopgate/internal/testkit/authority"
)

const payWorkload = "spiffe://example.org/ns/pay/sa/agent"

// newCertificates returns the certificates of example.org with the roots of a file.
func newCertificates(t *testing.T, roots []byte) (c *identity.Certificates, file string, at *clock, log *bytes.Buffer) {
	t.Helper()
	at, log = &clock{time.Now()}, new(bytes.Buffer)
	file = filepath.Join(t.TempDir(), "ca.pem")
	write(t, file, roots)
	c, err := identity.OpenCertificates(identity.MTLS{CA: file, TrustDomain: "example.org"}, identity.Options{Now: at.read, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return c, file, at, log
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

func connection(chain ...*x509.Certificate) *tls.ConnectionState {
	return &tls.ConnectionState{PeerCertificates: chain}
}

// Proves G10: a certificate names a workload only if a root of the file vouches for it as a client of
// the trust domain.
func TestCertificates(t *testing.T) {
	a, other := authority.New(t), authority.New(t)
	c, _, _, log := newCertificates(t, a.PEM())
	good := a.Workload(t, payWorkload, nil).Leaf
	if who, err := c.AuthenticateConnection(connection(good)); err != nil || who != payWorkload {
		t.Fatalf("%q, %v", who, err)
	}
	leaf := func(id string, change func(*x509.Certificate)) *x509.Certificate {
		return a.Workload(t, id, change).Leaf
	}
	for name, bad := range map[string]struct {
		leaf *x509.Certificate
		why  string
	}{
		"expired":               {leaf(payWorkload, func(l *x509.Certificate) { l.NotAfter = time.Now().Add(-time.Minute) }), "expired"},
		"not yet valid":         {leaf(payWorkload, func(l *x509.Certificate) { l.NotBefore = time.Now().Add(time.Minute) }), "not yet valid"},
		"another authority":     {other.Workload(t, payWorkload, nil).Leaf, "unknown authority"},
		"self-signed":           {authority.SelfSigned(t, payWorkload).Leaf, "unknown authority"},
		"the root":              {a.Root, "authority, not of a workload"},
		"an authority":          {leaf(payWorkload, func(l *x509.Certificate) { l.IsCA = true }), "authority, not of a workload"},
		"may sign certificates": {leaf(payWorkload, func(l *x509.Certificate) { l.KeyUsage |= x509.KeyUsageCRLSign }), "authority, not of a workload"},
		"may not sign":          {leaf(payWorkload, func(l *x509.Certificate) { l.KeyUsage = x509.KeyUsageKeyEncipherment }), "digitalSignature"},
		"a server":              {leaf(payWorkload, func(l *x509.Certificate) { l.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }), "usage"},
		"no purpose":            {leaf(payWorkload, func(l *x509.Certificate) { l.ExtKeyUsage = nil }), "clientAuth"},
		"any purpose":           {leaf(payWorkload, func(l *x509.Certificate) { l.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageAny} }), "clientAuth"},
		"no URI":                {leaf("", func(l *x509.Certificate) { l.DNSNames = []string{"pay.example.org"} }), "0 URIs"},
		"two URIs": {leaf(payWorkload, func(l *x509.Certificate) {
			l.URIs = append(l.URIs, authority.URI(t, "spiffe://example.org/ns/admin"))
		}), "2 URIs"},
		"another trust domain":   {leaf("spiffe://example.com/ns/pay", nil), "trust domain"},
		"a subdomain":            {leaf("spiffe://a.example.org/ns/pay", nil), "trust domain"},
		"the trust domain":       {leaf("spiffe://example.org", nil), "no workload"},
		"another scheme":         {leaf("https://example.org/ns/pay", nil), "no SPIFFE id"},
		"a port":                 {leaf("spiffe://example.org:80/ns/pay", nil), "no SPIFFE id"},
		"a user":                 {leaf("spiffe://me@example.org/ns/pay", nil), "no SPIFFE id"},
		"a query":                {leaf(payWorkload+"?a=b", nil), "no SPIFFE id"},
		"a dot segment":          {leaf("spiffe://example.org/ns/../admin", nil), "no SPIFFE id"},
		"an escape":              {leaf("spiffe://example.org/ns/%61dmin", nil), "no SPIFFE id"},
		"a final slash":          {leaf("spiffe://example.org/ns/", nil), "no SPIFFE id"},
		"an id that is too long": {leaf("spiffe://example.org/"+strings.Repeat("a", 300), nil), "256"},
	} {
		log.Reset()
		if who, err := c.AuthenticateConnection(connection(bad.leaf)); err == nil || who != "" || !strings.Contains(err.Error(), bad.why) {
			t.Errorf("%s: %q, %v, want %q", name, who, err, bad.why)
		} else if !strings.Contains(log.String(), "a client certificate is refused") {
			t.Errorf("%s: the log lacks it: %s", name, log)
		}
	}
	if who, err := c.AuthenticateConnection(connection()); err == nil {
		t.Errorf("no certificate is %q", who)
	}
	if who, err := c.AuthenticateConnection(connection(authority.SelfSigned(t, payWorkload).Leaf, good, a.Root)); err == nil {
		t.Errorf("a certificate with those of others is %q", who)
	}
}

// A certificate, and the root that vouches for it, hold as long as the connection: a request after
// their end is refused.
func TestCertificateEndsOnAConnection(t *testing.T) {
	a, next := authority.New(t), authority.New(t)
	c, file, at, log := newCertificates(t, a.PEM())
	s := connection(a.Workload(t, payWorkload, nil).Leaf)
	check := func(what string, s *tls.ConnectionState, good bool) {
		t.Helper()
		if who, err := c.AuthenticateConnection(s); (err == nil) != good {
			t.Errorf("%s: %q, %v", what, who, err)
		}
	}
	check("the first root", s, true)
	write(t, file, append(a.PEM(), next.PEM()...))
	at.now = at.now.Add(2 * time.Second)
	renewed := connection(next.Workload(t, payWorkload, nil).Leaf)
	check("both roots, the old", s, true)
	check("both roots, the new", renewed, true)
	write(t, file, next.PEM())
	at.now = at.now.Add(2 * time.Second)
	check("a root that was removed", s, false)
	check("the new root", renewed, true)
	write(t, file, []byte("nothing"))
	at.now = at.now.Add(2 * time.Second)
	check("a file without roots", renewed, true)
	if !strings.Contains(log.String(), "no certificate in PEM") {
		t.Errorf("the log lacks the file: %s", log)
	}
	at.now = at.now.Add(identity.MaxKeyAge)
	long := connection(next.Workload(t, payWorkload, func(l *x509.Certificate) { l.NotAfter = time.Now().Add(20 * time.Hour) }).Leaf)
	check("an hour without roots", long, false)
	write(t, file, next.PEM())
	at.now = at.now.Add(2 * time.Second)
	check("roots again", long, true)
	check("a certificate that ended", renewed, false)
}

func TestRootsThatAreRefused(t *testing.T) {
	a := authority.New(t)
	leaf := string(pemOf(a.Workload(t, payWorkload, nil).Leaf.Raw))
	for text, want := range map[string]string{
		"": "no certificate", leaf: "not that of an authority", string(a.PEM()) + string(a.PEM()[:100]): "within a certificate",
		"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n": "PRIVATE KEY",
		strings.Repeat(" ", 1<<20+1):                                     "more than",
	} {
		file := filepath.Join(t.TempDir(), "ca.pem")
		write(t, file, []byte(text))
		if _, err := identity.OpenCertificates(identity.MTLS{CA: file, TrustDomain: "example.org"}, identity.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	for _, name := range []string{"", "spiffe://example.org", "example.org/a", "Example.org", "a b"} {
		if err := identity.CheckTrustDomain(name); err == nil {
			t.Errorf("%q is a trust domain", name)
		}
	}
	m := &identity.MTLS{TrustDomain: "example.org"}
	if !m.Names(payWorkload) || m.Names("spiffe://example.orgs/a") || (*identity.MTLS)(nil).Names(payWorkload) {
		t.Error("names of certificates")
	}
}

func pemOf(der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}) }

// BenchmarkCertificate measures the check of one request.
func BenchmarkCertificate(b *testing.B) {
	a := authority.New(b)
	file := filepath.Join(b.TempDir(), "ca.pem")
	if err := os.WriteFile(file, a.PEM(), 0o600); err != nil {
		b.Fatal(err)
	}
	c, err := identity.OpenCertificates(identity.MTLS{CA: file, TrustDomain: "example.org"}, identity.Options{})
	if err != nil {
		b.Fatal(err)
	}
	s := connection(a.Workload(b, payWorkload, nil).Leaf)
	for b.Loop() {
		if _, err := c.AuthenticateConnection(s); err != nil {
			b.Fatal(err)
		}
	}
}
