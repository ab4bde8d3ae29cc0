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

// maxResponse limits the size of a response body.
const maxResponse = 256 << 10

// pause is the wait before the second attempt if the server sends no Retry-After.
const pause = 250 * time.Millisecond

// ask queries the model and retries once if the server was busy or the connection broke (FM1). It
// returns the number of requests that it made.
func (j *judge) ask(ctx context.Context, text string) (a assessment, attempts int, err error) {
	body := j.dialect.request(j.table.Model, j.prompt.text, text)
	for attempts = 1; ; attempts++ {
		var retry time.Duration
		a, retry, err = j.try(ctx, body)
		switch {
		case ctx.Err() != nil:
			return assessment{}, attempts, errTimeout
		case err == nil:
			return a, attempts, nil
		case retry < 0 || attempts == 2:
			return assessment{}, attempts, err
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= retry {
			return assessment{}, attempts, err // the retry could not finish before the deadline
		}
		wait := time.NewTimer(retry)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return assessment{}, attempts, errTimeout
		}
	}
}

// statusError is the status of a response other than 200.
type statusError int

func (s statusError) Error() string { return "http " + strconv.Itoa(int(s)) }

// try makes one request. retry is the wait before another attempt; it is negative if an attempt
// cannot help.
func (j *judge) try(ctx context.Context, body []byte) (a assessment, retry time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, j.endpoint, bytes.NewReader(body))
	if err != nil {
		return a, -1, errConnection
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "stopgate-judge")
	j.dialect.header(r.Header, j.key)
	response, err := j.factory.client.Do(r)
	if err != nil {
		return a, pause, fmt.Errorf("%w: %w", errConnection, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return a, retryAfter(response), statusError(response.StatusCode)
	case err != nil:
		return a, pause, fmt.Errorf("%w: %w", errConnection, err)
	case len(text) > maxResponse:
		return a, -1, errLongResponse
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return a, -1, errContentType
	}
	a, err = j.dialect.read(text)
	return a, -1, err
}

// retryAfter returns the wait after an error status. It is negative if another request would fail
// in the same way.
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
