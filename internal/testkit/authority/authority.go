// Package authority is a certificate authority for tests.
//
//	a := authority.New(t)
//	client := a.Workload(t, "spiffe://example.org/ns/pay", nil)
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/url"
	"testing"
	"time"
)

// Authority issues certificates.
type Authority struct {
	Root *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New returns an authority with a root of its own.
func New(t testing.TB) *Authority {
	t.Helper()
	root := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: "root"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key := newKey(t)
	return &Authority{sign(t, root, root, key, key), key}
}

// PEM returns the root.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Root.Raw})
}

// Workload issues the certificate of a workload with a SPIFFE id, "" for none, after change, which may
// be nil, has changed its template.
func (a *Authority) Workload(t testing.TB, id string, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	key := newKey(t)
	leaf := sign(t, template(t, id, change), a.Root, key, a.key)
	return tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
}

// SelfSigned returns a certificate of a workload that nobody vouches for.
func SelfSigned(t testing.TB, id string) tls.Certificate {
	t.Helper()
	key := newKey(t)
	of := template(t, id, nil)
	leaf := sign(t, of, of, key, key)
	return tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
}

func template(t testing.TB, id string, change func(*x509.Certificate)) *x509.Certificate {
	leaf := &x509.Certificate{
		SerialNumber: serial(t), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if id != "" {
		leaf.URIs = []*url.URL{URI(t, id)}
	}
	if change != nil {
		change(leaf)
	}
	return leaf
}

// URI parses a URI.
func URI(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func sign(t testing.TB, of, by *x509.Certificate, key, signer *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, of, by, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func serial(t testing.TB) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
