package gateway

import (
	"errors"
	"net/http"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/body"
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
	in, err := body.Decoded(r.Header["Content-Encoding"], http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, &refusal{status: http.StatusUnsupportedMediaType, code: stopgate.CodeProtocolViolation, message: "The request body has an unknown content encoding."}
	}
	text, err := body.ReadAll(in, r.ContentLength, limit)
	var max *http.MaxBytesError
	switch {
	case err == nil:
		_ = rc.SetReadDeadline(time.Time{})
		// Only now: in full duplex mode the server must not be left with an unread body.
		_ = rc.EnableFullDuplex()
		return text, nil
	case errors.Is(err, body.ErrTooLong), errors.Is(err, body.ErrRatio), errors.As(err, &max):
		return nil, tooLarge
	}
	return nil, &refusal{status: http.StatusBadRequest, code: stopgate.CodeProtocolViolation, message: "The request body cannot be read."}
}
