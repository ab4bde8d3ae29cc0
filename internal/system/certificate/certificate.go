// Package certificate serves a TLS certificate from files, and serves the new one when
// they change: certificates are renewed every few weeks, and nobody restarts a gateway
// for it.
//
//	files, err := certificate.Open("tls.crt", "tls.key", nil, nil)
//	server.TLSConfig = files.Config()
//
// What it promises: files that cannot be read, do not belong together, or have a
// certificate that does not hold now, keep the certificate that was good; connections that are open are not touched. A key that other
// users can read is no good, as a token's file is.
package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/system/secret"
)

// interval is how often the files are looked at, at most.
const interval = time.Second

// Files are a certificate and its key. They may be used from several goroutines.
type Files struct {
	certificate, key string
	taken            func(leaf *x509.Certificate, holds bool)
	failed           func(error)

	mu      sync.Mutex
	current *tls.Certificate
	seen    [2]mark   // of the files when they were last read
	looked  time.Time // when
}

// mark tells one state of a file from another.
type mark struct {
	size    int64
	changed time.Time
	mode    fs.FileMode
}

// Open reads a certificate with its chain and its key, both PEM. taken hears of every
// certificate that is served from then on, the first one included, and whether it holds
// at this moment; failed of files that changed and are no good. Both may be nil, and may
// not use the files.
func Open(certificate, key string, taken func(leaf *x509.Certificate, holds bool), failed func(error)) (*Files, error) {
	f := &Files{certificate: certificate, key: key, taken: taken, failed: failed}
	seen, err := f.marks()
	if err != nil {
		return nil, fmt.Errorf("TLS certificate: %w", err)
	}
	if err := f.load(seen); err != nil {
		return nil, err
	}
	return f, nil
}

// Config is a server's TLS configuration that uses the files.
func (f *Files) Config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.Current(), nil },
	}
}

// Current is the certificate of now.
func (f *Files) Current() *tls.Certificate {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Sub(f.looked) < interval {
		return f.current
	}
	f.looked = now
	f.refresh()
	return f.current
}

// Refresh looks at the files at once.
func (f *Files) Refresh() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
}

// refresh reads the files if they changed; mu is held.
func (f *Files) refresh() {
	seen, err := f.marks()
	switch {
	case err != nil:
		seen = [2]mark{}
		if f.seen == seen {
			return // told already
		}
		f.seen = seen
	case seen == f.seen:
		return
	default:
		err = f.load(seen)
	}
	if err != nil && f.failed != nil {
		f.failed(fmt.Errorf("%w; the certificate before stays", err))
	}
}

// load reads the files. What was seen of them is kept also if they are no good, so that
// this is told once.
func (f *Files) load(seen [2]mark) error {
	f.seen = seen
	pair, err := f.pair()
	if err != nil {
		return fmt.Errorf("TLS certificate %s with key %s: %w", f.certificate, f.key, err)
	}
	if f.current != nil && !valid(pair.Leaf) && valid(f.current.Leaf) {
		return fmt.Errorf("TLS certificate %s holds from %s to %s only", f.certificate, pair.Leaf.NotBefore.Format(time.RFC3339), pair.Leaf.NotAfter.Format(time.RFC3339))
	}
	f.current = &pair
	if f.taken != nil {
		f.taken(pair.Leaf, valid(pair.Leaf))
	}
	return nil
}

// valid reports whether a certificate holds now.
func valid(leaf *x509.Certificate) bool {
	now := time.Now()
	return !now.Before(leaf.NotBefore) && !now.After(leaf.NotAfter)
}

func (f *Files) pair() (tls.Certificate, error) {
	key, err := secret.ReadFile(f.key)
	if err != nil {
		return tls.Certificate{}, err
	}
	chain, err := os.ReadFile(f.certificate)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(chain, key)
}

func (f *Files) marks() (seen [2]mark, err error) {
	for i, path := range []string{f.certificate, f.key} {
		var at fs.FileInfo
		if at, err = os.Stat(path); err != nil {
			return seen, err
		}
		seen[i] = mark{at.Size(), at.ModTime(), at.Mode()}
	}
	return seen, nil
}
