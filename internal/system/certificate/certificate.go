// Package certificate serves a TLS certificate from files, and reloads it when they change:
// certificates are renewed every few weeks, and a gateway should not need a restart for it.
//
//	files, err := certificate.Open("tls.crt", "tls.key", nil, nil)
//	server.TLSConfig = files.Config()
//
// Guarantees: if the new files cannot be read, do not match, or contain a certificate that is not
// valid now, the previous certificate stays in use; open connections are not affected. A key that
// other users can read is refused, as the file of a token is.
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

// interval is the minimum time between checks of the files.
const interval = time.Second

// Files are a certificate and its key. They are safe for concurrent use.
type Files struct {
	certificate, key string
	taken            func(leaf *x509.Certificate, holds bool)
	failed           func(error)

	mu      sync.Mutex
	current *tls.Certificate
	state   [2]mark   // of the files when they were last read
	checked time.Time // time of the last check
}

// mark identifies one state of a file.
type mark struct {
	size    int64
	changed time.Time
	mode    fs.FileMode
}

// Open reads a certificate with its chain and its key, both PEM. taken is called with every
// certificate that is served from then on, including the first one, and whether it is valid now;
// failed is called with the errors of changed files. Both may be nil, and must not use the files.
func Open(certificate, key string, taken func(leaf *x509.Certificate, holds bool), failed func(error)) (*Files, error) {
	f := &Files{certificate: certificate, key: key, taken: taken, failed: failed}
	state, err := f.marks()
	if err != nil {
		return nil, fmt.Errorf("TLS certificate: %w", err)
	}
	if err := f.load(state); err != nil {
		return nil, err
	}
	return f, nil
}

// Config returns a TLS configuration of a server that uses the files.
func (f *Files) Config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.Current(), nil },
	}
}

// Current returns the current certificate.
func (f *Files) Current() *tls.Certificate {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Sub(f.checked) < interval {
		return f.current
	}
	f.checked = now
	f.refresh()
	return f.current
}

// Refresh checks the files at once.
func (f *Files) Refresh() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
}

// refresh reads the files if they changed. The caller holds mu.
func (f *Files) refresh() {
	state, err := f.marks()
	switch {
	case err != nil:
		state = [2]mark{}
		if f.state == state {
			return // already reported
		}
		f.state = state
	case state == f.state:
		return
	default:
		err = f.load(state)
	}
	if err != nil && f.failed != nil {
		f.failed(fmt.Errorf("%w; the previous certificate stays in use", err))
	}
}

// load reads the files. It stores their state also if they are invalid, so that the error is
// reported once.
func (f *Files) load(state [2]mark) error {
	f.state = state
	pair, err := f.pair()
	if err != nil {
		return fmt.Errorf("TLS certificate %s with key %s: %w", f.certificate, f.key, err)
	}
	if f.current != nil && !valid(pair.Leaf) && valid(f.current.Leaf) {
		return fmt.Errorf("TLS certificate %s is only valid from %s to %s", f.certificate, pair.Leaf.NotBefore.Format(time.RFC3339), pair.Leaf.NotAfter.Format(time.RFC3339))
	}
	f.current = &pair
	if f.taken != nil {
		f.taken(pair.Leaf, valid(pair.Leaf))
	}
	return nil
}

// valid reports whether a certificate is valid now.
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

func (f *Files) marks() (state [2]mark, err error) {
	for i, path := range []string{f.certificate, f.key} {
		var at fs.FileInfo
		if at, err = os.Stat(path); err != nil {
			return state, err
		}
		state[i] = mark{at.Size(), at.ModTime(), at.Mode()}
	}
	return state, nil
}
