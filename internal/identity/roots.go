package identity

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// maxRoots is the maximum size of a file of roots in bytes.
const maxRoots = 1 << 20

// rootsInterval is the minimum time between checks of the file.
const rootsInterval = time.Second

// roots are the certificates of a file, which is read again when it changes: authorities rotate.
type roots struct {
	path string
	now  func() time.Time
	log  *slog.Logger

	mu      sync.Mutex
	pool    *x509.CertPool
	info    fs.FileInfo // of the file when it was last read well
	checked time.Time
	held    time.Time // when the pool was last known to be that of the file
	failed  string    // the last error that was reported
}

func openRoots(path string, now func() time.Time, log *slog.Logger) (*roots, error) {
	r := &roots{path: path, now: now, log: log}
	if err := r.read(); err != nil {
		return nil, err
	}
	r.checked, r.held = now(), now()
	return r, nil
}

// current returns the roots. If the file cannot be read, or lacks valid roots, the previous ones are
// used until [MaxKeyAge].
func (r *roots) current() (*x509.CertPool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if since := now.Sub(r.checked); since < 0 || since >= rootsInterval {
		r.checked = now
		switch err := r.read(); {
		case err == nil:
			r.held, r.failed = now, ""
		case r.failed != err.Error():
			r.failed = err.Error()
			r.log.Error("roots of client certificates", "error", fmt.Errorf("%w; the previous ones are used for an hour", err))
		}
	}
	if now.Sub(r.held) >= MaxKeyAge {
		return nil, fmt.Errorf("the roots are too old: %s", r.failed)
	}
	return r.pool, nil
}

// read reads the file if it changed.
func (r *roots) read() error {
	info, err := os.Stat(r.path)
	if err != nil {
		return fmt.Errorf("roots of client certificates: %w", err)
	}
	if r.info != nil && os.SameFile(info, r.info) && info.Size() == r.info.Size() && info.ModTime().Equal(r.info.ModTime()) {
		return nil
	}
	f, err := os.Open(r.path)
	if err != nil {
		return fmt.Errorf("roots of client certificates: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRoots+1))
	if err != nil {
		return fmt.Errorf("roots of client certificates: %w", err)
	}
	pool, err := parseRoots(text)
	if err != nil {
		return fmt.Errorf("roots of client certificates %s: %w", r.path, err)
	}
	r.pool, r.info = pool, info
	return nil
}

// parseRoots parses PEM that contains nothing but certificates of authorities.
func parseRoots(text []byte) (*x509.CertPool, error) {
	if len(text) > maxRoots {
		return nil, fmt.Errorf("more than %d bytes", maxRoots)
	}
	pool, empty := x509.NewCertPool(), true
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("it contains a %q, want certificates of authorities", block.Type)
		}
		root, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		if !root.IsCA {
			return nil, fmt.Errorf("the certificate of %q is not that of an authority", root.Subject)
		}
		pool.AddCert(root)
		text, empty = rest, false
	}
	if empty {
		return nil, errors.New("it contains no certificate in PEM")
	}
	if bytes.Contains(text, []byte("-----BEGIN")) {
		return nil, errors.New("it ends within a certificate")
	}
	return pool, nil
}
