// Package webhook announces questions to a program elsewhere, such as a chat or a pager.
//
//	hook := &webhook.Hook{URL: "https://hooks.example.com/stopgate", Secret: secret}
//	queue, err := approve.New(store, approve.Options{Notify: []approve.Notifier{hook}})
//
// It sends one POST for each question, with the question as JSON: the members of [approve.Entry],
// and url, the page to answer on, if there is one. With a secret, the header X-Stopgate-Signature
// is
//
//	t=SECONDS,v1=HEX
//
// HEX is the HMAC-SHA256 of "SECONDS.BODY" with the secret as key: it proves to the receiver that
// the message is from the gate, and its age. The message is no credential; an answer needs one of
// its own (S4).
//
// A session that was stopped after too many denials in a row is announced in the same way: the
// message is then the event row, with "event":"stopped".
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
)

// Hook is a receiver. It is an [approve.Notifier].
type Hook struct {
	URL    string
	Secret string // key of the signature, "" for none
	// Arguments includes the arguments, in Args and Leaves. Without it, the receiver learns the
	// tool and the reason of the question, and no value of the call.
	Arguments bool
	// Pages is the address of the gate's pages for browsers, http://HOST or https://HOST: the
	// member url of the message is then the page of the question. "" if there are none.
	Pages  string
	Client *http.Client     // nil is http.DefaultClient without redirects
	Now    func() time.Time // nil is time.Now
	// Retry lists the pauses before further attempts; nil is 1 s and 3 s.
	Retry []time.Duration
}

// Name implements [approve.Notifier].
func (h *Hook) Name() string { return "webhook" }

// Notify implements [approve.Notifier]. Every status except 2xx is an error; it retries after
// server errors and broken connections.
func (h *Hook) Notify(ctx context.Context, e approve.Entry) error {
	if !h.Arguments {
		e.Args, e.Leaves, e.Edit, e.Segment = "", nil, "", withoutWords(e.Segment)
	}
	body, err := json.Marshal(struct {
		approve.Entry
		URL string `json:"url,omitempty"`
	}{e, h.page(e.ID)})
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return h.send(ctx, body)
}

// withoutWords returns a part of a command line without its words.
func withoutWords(s *stopgate.Segment) *stopgate.Segment {
	if s == nil {
		return nil
	}
	return &stopgate.Segment{Index: s.Index, Of: s.Of}
}

// Alert implements [approve.Alerter]. It posts the event row as it is in the audit log.
func (h *Hook) Alert(ctx context.Context, r stopgate.Record) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return h.send(ctx, body)
}

// send posts a message until an attempt succeeds or ctx ends.
func (h *Hook) send(ctx context.Context, body []byte) error {
	retry := h.Retry
	if retry == nil {
		retry = []time.Duration{time.Second, 3 * time.Second}
	}
	for _, wait := range append(retry, -1) {
		again, err := h.post(ctx, body)
		if err == nil || !again || wait < 0 {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("%w; then %w", err, context.Cause(ctx))
		}
	}
	return nil
}

// page returns the address of the page of a question.
func (h *Hook) page(id string) string {
	if h.Pages == "" {
		return ""
	}
	return strings.TrimSuffix(h.Pages, "/") + "/approvals/" + url.PathEscape(id)
}

// post makes one attempt and reports whether a retry can succeed.
func (h *Hook) post(ctx context.Context, body []byte) (retry bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("webhook: the address cannot be read")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "stopgate")
	if h.Secret != "" {
		now := time.Now()
		if h.Now != nil {
			now = h.Now()
		}
		r.Header.Set("X-Stopgate-Signature", Sign(h.Secret, now, body))
	}
	client := h.Client
	if client == nil {
		client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	answer, err := client.Do(r)
	var failed *url.Error
	if errors.As(err, &failed) { // the URL is left out, because its path may contain a secret
		err = failed.Err
	}
	if err != nil {
		return true, fmt.Errorf("webhook: %s: %w", r.URL.Host, err)
	}
	defer answer.Body.Close()
	io.CopyN(io.Discard, answer.Body, 64<<10) // so that the connection can be reused
	if answer.StatusCode/100 == 2 {
		return false, nil
	}
	return answer.StatusCode/100 == 5, fmt.Errorf("webhook: the receiver answered %s", answer.Status)
}

// Sign returns the signature of a body.
func Sign(secret string, at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac(secret, seconds, body))
}

// ErrSignature reports that a signature is wrong or too old.
var ErrSignature = errors.New("webhook: the signature does not fit")

// Verify checks a signature for the receiver: it must match the body and not be older than maxAge.
func Verify(secret, signature string, body []byte, now time.Time, maxAge time.Duration) error {
	var seconds int64
	var sum string
	if n, err := fmt.Sscanf(signature, "t=%d,v1=%s", &seconds, &sum); n != 2 || err != nil {
		return ErrSignature
	}
	given, err := hex.DecodeString(sum)
	if err != nil || !hmac.Equal(given, mac(secret, strconv.FormatInt(seconds, 10), body)) {
		return ErrSignature
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > maxAge || age < -maxAge {
		return ErrSignature
	}
	return nil
}

func mac(secret, seconds string, body []byte) []byte {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(seconds + "."))
	m.Write(body)
	return m.Sum(nil)
}

var _ approve.Notifier = (*Hook)(nil)
