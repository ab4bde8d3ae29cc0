package judge

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// maxAnswer bounds the body of an answer.
const maxAnswer = 256 << 10

// pause is how long to wait before the second attempt, unless the server says.
const pause = 250 * time.Millisecond

// ask asks the model, and once more if the server was busy or the connection broke
// (FM1). It reports how many requests it made.
func (j *judge) ask(ctx context.Context, text string) (said answer, attempts int, err error) {
	body := j.dialect.request(j.table.Model, j.prompt.text, text)
	for attempts = 1; ; attempts++ {
		var again time.Duration
		said, again, err = j.try(ctx, body)
		switch {
		case ctx.Err() != nil:
			return answer{}, attempts, errTimeout
		case err == nil:
			return said, attempts, nil
		case again < 0 || attempts == 2:
			return answer{}, attempts, err
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= again {
			return answer{}, attempts, err // nothing could come in time
		}
		wait := time.NewTimer(again)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return answer{}, attempts, errTimeout
		}
	}
}

// statusError is an answer other than 200.
type statusError int

func (s statusError) Error() string { return "http " + strconv.Itoa(int(s)) }

// try makes one request. again is how long to wait before another one can help; below
// zero none can.
func (j *judge) try(ctx context.Context, body []byte) (said answer, again time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, j.endpoint, bytes.NewReader(body))
	if err != nil {
		return said, -1, errConnection
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "stopgate-judge")
	j.dialect.header(r.Header, j.key)
	response, err := j.bench.client.Do(r)
	if err != nil {
		return said, pause, fmt.Errorf("%w: %w", errConnection, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return said, retryAfter(response), statusError(response.StatusCode)
	case err != nil:
		return said, pause, fmt.Errorf("%w: %w", errConnection, err)
	case len(text) > maxAnswer:
		return said, -1, errLongAnswer
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return said, -1, errContentType
	}
	said, err = j.dialect.read(text)
	return said, -1, err
}

// retryAfter is how long to wait after an error status; below zero another request
// would get the same answer.
func retryAfter(r *http.Response) time.Duration {
	switch {
	case r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusRequestTimeout, r.StatusCode >= 500 && r.StatusCode != http.StatusNotImplemented:
	default:
		return -1
	}
	if seconds, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && seconds >= 0 && seconds < 3600 {
		return time.Duration(seconds) * time.Second
	}
	return pause
}
