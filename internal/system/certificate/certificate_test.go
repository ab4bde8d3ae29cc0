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

// issueUntil writes one that holds until end.
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

// Files that change are served from then on; files that are no good, or gone, change
// nothing and are told of once.
func TestRenewal(t *testing.T) {
	dir := t.TempDir()
	cert, key := issue(t, dir, 1)
	var told []string
	files, err := certificate.Open(cert, key, nil, func(err error) { told = append(told, err.Error()) })
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
	if serial() != 2 || len(told) != 1 || !strings.Contains(told[0], "the certificate before stays") {
		t.Errorf("serial %d after a broken key, told %q", serial(), told)
	}
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	files.Refresh()
	files.Refresh()
	if serial() != 2 || len(told) != 2 {
		t.Errorf("serial %d after a missing file, told %q", serial(), told)
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
	if serial() != 3 || len(told) != 3 || !strings.Contains(told[2], "open to other users") {
		t.Errorf("serial %d after the key was opened, told %q", serial(), told)
	}
	issue(t, dir, 4)
	chmod(0o640) // a group of its own may
	files.Refresh()
	if serial() != 4 || len(told) != 3 {
		t.Errorf("serial %d after the key was closed, told %q", serial(), told)
	}
	if _, err := certificate.Open(filepath.Join(dir, "none"), key, nil, nil); err == nil {
		t.Error("opened a file that is not there")
	}
	if _, err := certificate.Open(key, key, nil, nil); err == nil {
		t.Error("opened a key as a certificate")
	}
}

// Proves that every certificate that is served is told, with whether it holds, and that
// one that is over takes the place of none that holds.
func TestExpired(t *testing.T) {
	dir := t.TempDir()
	over := time.Now().Add(-time.Minute)
	cert, key := issueUntil(t, dir, 1, over)
	var told []string
	files, err := certificate.Open(cert, key, func(leaf *x509.Certificate, holds bool) {
		told = append(told, fmt.Sprint(leaf.SerialNumber, holds))
	}, func(err error) { told = append(told, err.Error()) })
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
	if len(told) != 4 || told[0] != "1 false" || told[1] != "2 false" || told[2] != "3 true" ||
		!strings.Contains(told[3], "only; the certificate before stays") || !strings.Contains(told[3], over.UTC().Format(time.RFC3339)) {
		t.Errorf("told %q", told)
	}
}
