package certificate_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/system/certificate"
)

// issue writes a certificate with a serial number and its key.
func issue(t *testing.T, dir string, serial int64) (cert, key string) {
	t.Helper()
	return issueUntil(t, dir, serial, time.Now().Add(time.Hour))
}

// issueUntil writes a certificate that is valid until end.
func issueUntil(t *testing.T, dir string, serial int64, end time.Time) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "gate"}, DNSNames: []string{"gate.example"},
		NotBefore: end.Add(-2 * time.Hour), NotAfter: end,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	write(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})))
	return cert, key
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Changed files are served; invalid or missing files change nothing and are reported once.
func TestRenewal(t *testing.T) {
	dir := t.TempDir()
	cert, key := issue(t, dir, 1)
	var reported []string
	files, err := certificate.Open(cert, key, nil, func(err error) { reported = append(reported, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	serial := func() int64 {
		got, err := files.Config().GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.Leaf.SerialNumber.Int64()
	}
	later := time.Now().Add(time.Minute)
	touch := func() {
		later = later.Add(time.Second)
		for _, path := range []string{cert, key} {
			if err := os.Chtimes(path, later, later); err != nil {
				t.Fatal(err)
			}
		}
		files.Refresh()
	}
	if serial() != 1 {
		t.Error("not the first")
	}
	issue(t, dir, 2)
	touch()
	if serial() != 2 {
		t.Error("not the second")
	}
	write(t, key, "half a fi")
	touch()
	files.Refresh()
	if serial() != 2 || len(reported) != 1 || !strings.Contains(reported[0], "the previous certificate stays in use") {
		t.Errorf("serial %d after a broken key, reported %q", serial(), reported)
	}
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	files.Refresh()
	files.Refresh()
	if serial() != 2 || len(reported) != 2 {
		t.Errorf("serial %d after a missing file, reported %q", serial(), reported)
	}
	issue(t, dir, 3)
	touch()
	if serial() != 3 {
		t.Error("not the third")
	}
	chmod := func(mode os.FileMode) {
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod(0o644)
	if _, err := certificate.Open(cert, key, nil, nil); err == nil || !strings.Contains(err.Error(), key+" is open to other users: chmod 600 it") {
		t.Errorf("a key that everybody reads: %v", err)
	}
	files.Refresh()
	if serial() != 3 || len(reported) != 3 || !strings.Contains(reported[2], "open to other users") {
		t.Errorf("serial %d after the key was opened, reported %q", serial(), reported)
	}
	issue(t, dir, 4)
	chmod(0o640) // a private group may read it
	files.Refresh()
	if serial() != 4 || len(reported) != 3 {
		t.Errorf("serial %d after the key was closed, reported %q", serial(), reported)
	}
	if _, err := certificate.Open(filepath.Join(dir, "none"), key, nil, nil); err == nil {
		t.Error("opened a file that is not there")
	}
	if _, err := certificate.Open(key, key, nil, nil); err == nil {
		t.Error("opened a key as a certificate")
	}
}

// Proves that every served certificate is reported, with its validity, and that an expired one does
// not replace a valid one.
func TestExpired(t *testing.T) {
	dir := t.TempDir()
	over := time.Now().Add(-time.Minute)
	cert, key := issueUntil(t, dir, 1, over)
	var reported []string
	files, err := certificate.Open(cert, key, func(leaf *x509.Certificate, holds bool) {
		reported = append(reported, fmt.Sprint(leaf.SerialNumber, holds))
	}, func(err error) { reported = append(reported, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now()
	renew := func(serial int64, end time.Time) {
		t.Helper()
		issueUntil(t, dir, serial, end)
		later = later.Add(time.Second)
		if err := os.Chtimes(cert, later, later); err != nil {
			t.Fatal(err)
		}
		files.Refresh()
	}
	renew(2, over)
	renew(3, time.Now().Add(time.Hour))
	renew(4, over)
	if got := files.Current().Leaf.SerialNumber.Int64(); got != 3 {
		t.Errorf("serial %d is served, want the one that holds", got)
	}
	if len(reported) != 4 || reported[0] != "1 false" || reported[1] != "2 false" || reported[2] != "3 true" ||
		!strings.Contains(reported[3], "; the previous certificate stays in use") || !strings.Contains(reported[3], over.UTC().Format(time.RFC3339)) {
		t.Errorf("reported %q", reported)
	}
}
