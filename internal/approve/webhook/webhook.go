// Package webhook tells a program elsewhere that a question waits: a chat, a pager.
//
//	hook := &webhook.Hook{URL: "https://hooks.example.com/stopgate", Secret: secret}
//	queue, err := approve.New(store, approve.Options{Notify: []approve.Notifier{hook}})
//
// One POST for each question, with the question as JSON: the members of
// [approve.Entry], and url, the page to answer on, if there is one. With a secret, the header X-Stopgate-Signature is
//
//	t=SECONDS,v1=HEX
//
// where HEX is the HMAC-SHA256 over "SECONDS.BODY" with the secret as key: a receiver
// that compares it knows that the message is the gate's and how old it is. The message
// is no credential; answering needs one of its own (S4).
//
// A session that was stopped after too many denials in a row is told in the same way: the
// message is the event row then, with "event":"stopped".
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
	// Arguments sends the arguments too, in Args and Leaves. Without, the receiver
	// learns the tool and why somebody is asked, and no value of the call.
	Arguments bool
	// Pages is where browsers find the gate's pages, http://HOST or https://HOST: the
	// message then names the question's page in the member url. "" for nowhere.
	Pages  string
	Client *http.Client     // nil: http.DefaultClient without redirects
	Now    func() time.Time // nil: the machine's clock
	// Retry is how long to wait before each further attempt; nil: 1 s and 3 s.
	Retry []time.Duration
}

// Name implements [approve.Notifier].
func (h *Hook) Name() string { return "webhook" }

// Notify implements [approve.Notifier]. Every answer but 2xx is an error; server
// errors and broken connections are tried again.
func (h *Hook) Notify(ctx context.Context, e approve.Entry) error {
	if !h.Arguments {
		e.Args, e.Leaves, e.Edit, e.Segment = "", nil, "", unworded(e.Segment)
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

// unworded is a part of a command line without its words.
func unworded(s *stopgate.Segment) *stopgate.Segment {
	if s == nil {
		return nil
	}
	return &stopgate.Segment{Index: s.Index, Of: s.Of}
}

// Alert implements [approve.Alerter]: the event row is posted as the records have it.
func (h *Hook) Alert(ctx context.Context, r stopgate.Record) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return h.send(ctx, body)
}

// send posts a message until it arrives, or nobody waits any more.
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

// page is where a question can be answered in a browser.
func (h *Hook) page(id string) string {
	if h.Pages == "" {
		return ""
	}
	return strings.TrimSuffix(h.Pages, "/") + "/approvals/" + url.PathEscape(id)
}

// post reports whether another attempt can help.
func (h *Hook) post(ctx context.Context, body []byte) (again bool, err error) {
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
	if errors.As(err, &failed) { // names the address, in whose path a chat's secret stands
		err = failed.Err
	}
	if err != nil {
		return true, fmt.Errorf("webhook: %s: %w", r.URL.Host, err)
	}
	defer answer.Body.Close()
	io.CopyN(io.Discard, answer.Body, 64<<10) // so that the connection can be used again
	if answer.StatusCode/100 == 2 {
		return false, nil
	}
	return answer.StatusCode/100 == 5, fmt.Errorf("webhook: the receiver answered %s", answer.Status)
}

// Sign makes the signature of a body.
func Sign(secret string, at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac(secret, seconds, body))
}

// ErrSignature says that a signature is not the gate's, or too old.
var ErrSignature = errors.New("webhook: the signature does not fit")

// Verify checks a signature on the receiver's side: it must be of this body and not
// older than maxAge.
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
