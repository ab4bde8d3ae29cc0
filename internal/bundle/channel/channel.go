// Package channel fetches signed policy bundles from the place to which operators push them, and
// pushes them there:
//
//	file:/srv/policies/prod            a directory
//	https://host/policies/prod         a web server; pushes are PUT requests
//	oci://host/repository:prod         an OCI registry
//
// A channel keeps its newest bundle, and every one that was pushed, by generation. It verifies
// nothing: what it returns is as good as the place it comes from, but bounded in size.
package channel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/bundle"
)

// Channel is the place of a sequence of bundles.
type Channel interface {
	// Fetch returns the newest bundle; [bundle.ErrUnchanged] if it is the one with the tag, [bundle.ErrNone] if
	// none was pushed yet.
	Fetch(ctx context.Context, tag string) (bundle.Signed, error)
	// Generation returns an earlier bundle, or [bundle.ErrNone].
	Generation(ctx context.Context, n uint64) (bundle.Signed, error)
	// Push makes a bundle the newest one. Gates that fetch meanwhile get the one before, or this
	// one, or an error.
	Push(ctx context.Context, generation uint64, s bundle.Signed) error
	// String returns the URL without credentials.
	String() string
}

// Options configure a channel.
type Options struct {
	// Token is the bearer token of a web server, "" for none. Registries take their credentials
	// from the files of Docker.
	Token string
	// Transport is the transport of requests; nil for the default.
	Transport http.RoundTripper
}

// Open returns the channel of a URL. It makes no request.
func Open(text string, o Options) (Channel, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL of a channel: %w", text, errors.Unwrap(err))
	}
	if o.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.DisableCompression = true // bounds hold for what travels
		o.Transport = t
	}
	switch {
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, fmt.Errorf("the URL of a channel has no query, fragment or password: %s", u.Redacted())
	case u.Scheme == "file" && u.Host == "":
		path := u.Path
		if u.Opaque != "" {
			path = u.Opaque
		}
		if path == "" || strings.HasSuffix(path, "/") {
			return nil, fmt.Errorf("%s names no file", text)
		}
		return file(filepath.Clean(path)), nil
	case (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && len(u.Path) > 1 && !strings.HasSuffix(u.Path, "/"):
		return &web{url: u.String(), token: o.Token, client: &http.Client{Transport: o.Transport}}, nil
	case u.Scheme == "oci" && u.Host != "":
		return openRegistry(strings.TrimPrefix(text, "oci://"), o)
	}
	return nil, fmt.Errorf("%q is no URL of a channel: want file:PATH, https://HOST/PATH or oci://HOST/REPOSITORY:TAG", text)
}

// signatureEnd is added to the name of a bundle for its signature, as minisign does.
const signatureEnd = ".minisig"

// tagOf is the tag of a signature.
func tagOf(signature []byte) string {
	sum := sha256.Sum256(signature)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// readAll reads at most that many bytes; more are an error.
func readAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("it has more than %d bytes", most)
	}
	return data, err
}

// earlier is the name of a generation.
func earlier(name string, n uint64) string { return fmt.Sprintf("%s.%d", name, n) }
