package channel

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/stopgate/stopgate/internal/bundle"
)

// web is a channel on a web server. The signature is fetched first, with its ETag: it changes with
// every bundle.
type web struct {
	url    string
	token  string
	client *http.Client
}

// String returns the URL.
func (w *web) String() string { return w.url }

// Fetch asks for the signature, and for the bundle if it is another one.
func (w *web) Fetch(ctx context.Context, tag string) (bundle.Signed, error) {
	return w.fetch(ctx, w.url, tag)
}

// Generation fetches an earlier bundle.
func (w *web) Generation(ctx context.Context, n uint64) (bundle.Signed, error) {
	return w.fetch(ctx, earlier(w.url, n), "")
}

func (w *web) fetch(ctx context.Context, url, tag string) (s bundle.Signed, err error) {
	if s.Signature, s.Tag, err = w.get(ctx, url+signatureEnd, tag, bundle.MaxSignature); err != nil {
		return bundle.Signed{}, err
	}
	if s.Tag == "" {
		s.Tag = tagOf(s.Signature)
	}
	if s.Tag == tag {
		return bundle.Signed{}, bundle.ErrUnchanged
	}
	if s.Archive, _, err = w.get(ctx, url, "", bundle.MaxArchive); err != nil {
		return bundle.Signed{}, err
	}
	return s, nil
}

// get returns a body of limited size and its ETag.
func (w *web) get(ctx context.Context, url, tag string, most int64) (body []byte, etag string, err error) {
	req, err := w.request(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, "", err
	}
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && tag != "":
		return nil, "", bundle.ErrUnchanged
	case resp.StatusCode == http.StatusNotFound:
		return nil, "", fmt.Errorf("%w: GET %s: %s", bundle.ErrNone, url, resp.Status)
	case resp.StatusCode != http.StatusOK:
		return nil, "", fmt.Errorf("GET %s: %s", url, resp.Status)
	case resp.ContentLength > most:
		return nil, "", fmt.Errorf("GET %s: it has more than %d bytes", url, most)
	}
	if body, err = readAll(resp.Body, most); err != nil {
		return nil, "", fmt.Errorf("GET %s: %w", url, err)
	}
	return body, resp.Header.Get("ETag"), nil
}

// Push puts the bundle under its generation, then as the newest one, the signature last: gates look
// at that.
func (w *web) Push(ctx context.Context, generation uint64, s bundle.Signed) error {
	for _, url := range []string{earlier(w.url, generation), w.url} {
		if err := w.put(ctx, url, s.Archive); err != nil {
			return err
		}
		if err := w.put(ctx, url+signatureEnd, s.Signature); err != nil {
			return err
		}
	}
	return nil
}

func (w *web) put(ctx context.Context, url string, body []byte) error {
	req, err := w.request(ctx, http.MethodPut, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("PUT %s: %s", url, resp.Status)
	}
	return nil
}

func (w *web) request(ctx context.Context, method, url string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err == nil && w.token != "" {
		req.Header.Set("Authorization", "Bearer "+w.token)
	}
	return req, err
}
