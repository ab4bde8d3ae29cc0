// Package body reads the bodies of requests and responses: it decodes content encodings and limits
// the decoded size.
//
//	in, err := body.Decoded(r.Header["Content-Encoding"], r.Body)
//	text, err := body.ReadAll(in, r.ContentLength, limit)
//
// A compressed body that expands to more than 100 times its size is an error.
package body

import (
	"errors"
	"io"
	"mime"
	"net/http"
)

// ErrTooLong is the error of a body that exceeds its limit.
var ErrTooLong = errors.New("body is too long")

// ReadAll reads at most limit bytes. hint is the expected length, or negative.
func ReadAll(in io.Reader, hint, limit int64) ([]byte, error) {
	const first = 8 << 10
	size := int64(first)
	if hint >= 0 && hint < limit {
		size = min(hint+1, 1<<20) // one more byte to read EOF without growing; hints above 1 MiB are not trusted
	}
	body := make([]byte, 0, size)
	for {
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if int64(len(body)) > limit {
			return nil, ErrTooLong
		}
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// MediaType returns the content type of a response, or "" if it is missing, repeated or malformed
// (F14).
func MediaType(h http.Header) string {
	if len(h["Content-Type"]) != 1 {
		return ""
	}
	kind, _, err := mime.ParseMediaType(h["Content-Type"][0])
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return ""
	}
	return kind
}
