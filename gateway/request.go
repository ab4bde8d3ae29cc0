package gateway

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/stopgate/stopgate"
)

// readBody reads a request body to its end before anything is sent upstream. Streaming it upstream
// would truncate fast responses.
func readBody(w http.ResponseWriter, r *http.Request, s *Settings) ([]byte, *refusal) {
	limit := s.Limits.Request
	tooLarge := &refusal{status: http.StatusRequestEntityTooLarge, code: stopgate.CodeLimitExceeded, message: "The request body is too large."}
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	rc := http.NewResponseController(w)
	// A writer without deadlines or full duplex is not a network connection.
	_ = rc.SetReadDeadline(time.Now().Add(s.Timeouts.Request))
	in, err := decoded(r.Header["Content-Encoding"], http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, &refusal{status: http.StatusUnsupportedMediaType, code: stopgate.CodeProtocolViolation, message: "The request body has an unknown content encoding."}
	}
	body, err := readAll(in, r.ContentLength, limit)
	var max *http.MaxBytesError
	switch {
	case err == nil:
		_ = rc.SetReadDeadline(time.Time{})
		// Only now: in full duplex mode the server must not be left with an unread body.
		_ = rc.EnableFullDuplex()
		return body, nil
	case errors.Is(err, errTooLong), errors.Is(err, errRatio), errors.As(err, &max):
		return nil, tooLarge
	}
	return nil, &refusal{status: http.StatusBadRequest, code: stopgate.CodeProtocolViolation, message: "The request body cannot be read."}
}

var errTooLong = errors.New("body is too long")

// readAll reads at most limit bytes. hint is the expected length, or negative.
func readAll(in io.Reader, hint, limit int64) ([]byte, error) {
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
			return nil, errTooLong
		}
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
