package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
)

// NewSession returns an unpredictable id for a session. Scope decide.
func (c *Client) NewSession(ctx context.Context) (stopgate.SessionID, error) {
	var out struct {
		Session stopgate.SessionID `json:"session"`
	}
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/sessions"}, &out)
	if err == nil && out.Session == "" {
		err = errNotAGate
	}
	return out.Session, err
}

// Begun is a session that this program began, with its key.
type Begun struct {
	Session stopgate.SessionID `json:"session"`
	// Key permits to report about the session, and to see and answer its questions. It is for this
	// program alone: what the model can reach must not get it.
	Key string `json:"key"`
}

// Begin begins a session at a gate of this machine, and returns its key. The zero name is one that
// nobody can guess. A session that has begun already is a [*Problem] with the code session_exists.
func (c *Client) Begin(ctx context.Context, name stopgate.SessionID) (Begun, error) {
	var out Begun
	r := request{method: http.MethodPost, path: "/v1/sessions"}
	if name != "" {
		r.body = map[string]stopgate.SessionID{"session": name}
	}
	err := c.do(ctx, r, &out)
	if err == nil && (out.Session == "" || out.Key == "" || name != "" && out.Session != name) {
		err = errNotAGate
	}
	if err != nil {
		return Begun{}, err
	}
	return out, nil
}

// WithKey returns a client of the same gate that sends the key of a session.
func (c *Client) WithKey(key string) *Client {
	keyed := *c
	keyed.key = key
	return &keyed
}

// Owner identifies a session. The zero Principal is the client's own.
type Owner struct {
	Principal stopgate.Principal
	Session   stopgate.SessionID
}

func (o Owner) request(method, what string, more ...string) request {
	return request{
		method: method, path: "/v1/sessions/" + escape(o.Session) + "/" + what,
		query: query(append([]string{"principal", string(o.Principal)}, more...)...),
	}
}

// Session describes a session in a list.
type Session struct {
	Principal stopgate.Principal `json:"principal"`
	Session   stopgate.SessionID `json:"session"`
	Facts     int64              `json:"facts"` // number of facts
	First     time.Time          `json:"first"` // times of the first and the last fact
	Last      time.Time          `json:"last"`
	Head      uint64             `json:"head"` // position of the last fact
}

// Sessions lists at most 1,000 sessions, the one with the newest fact first. The zero principal
// lists all. Scope operate.
func (c *Client) Sessions(ctx context.Context, of stopgate.Principal) ([]Session, error) {
	var out struct {
		Sessions []Session `json:"sessions"`
	}
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/sessions", query: query("principal", string(of))}, &out)
	return out.Sessions, err
}

// Fact is one entry of a session's history. Its fields are the members that all kinds have; Line is
// the complete entry as the gate sent it.
type Fact struct {
	Seq      uint64              `json:"seq"`
	At       int64               `json:"at"` // Unix milliseconds
	Kind     string              `json:"kind"`
	Proposal stopgate.ProposalID `json:"proposal"`
	Tool     stopgate.ToolName   `json:"tool"`
	CallID   stopgate.CallID     `json:"call_id"`
	Code     stopgate.Code       `json:"code"`
	By       string              `json:"by"`
	Line     json.RawMessage     `json:"-"`
}

// Facts returns at most 1,000 facts of a session after a position, oldest first. Scope operate.
func (c *Client) Facts(ctx context.Context, of Owner, after uint64) ([]Fact, error) {
	var out struct {
		Facts []json.RawMessage `json:"facts"`
	}
	if err := c.do(ctx, of.request(http.MethodGet, "facts", "after", position(after)), &out); err != nil {
		return nil, err
	}
	facts := make([]Fact, len(out.Facts))
	for i, line := range out.Facts {
		if err := json.Unmarshal(line, &facts[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", errNotAGate, err)
		}
		facts[i].Line = line
	}
	return facts, nil
}

// position formats a position of a query. It returns "" for 0, the start.
func position[T int64 | uint64](n T) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(n), 10)
}

// SetData replaces the data of a session, one JSON object that conditions of policies evaluate.
// Scope operate.
func (c *Client) SetData(ctx context.Context, of Owner, data []byte) error {
	r := of.request(http.MethodPut, "data")
	r.body = json.RawMessage(data)
	return c.do(ctx, r, nil)
}

// Snapshot seals the current position of a session. Scope operate.
func (c *Client) Snapshot(ctx context.Context, of Owner) (string, error) {
	var out struct {
		Snapshot string `json:"snapshot"`
	}
	err := c.do(ctx, of.request(http.MethodPost, "snapshot"), &out)
	return out.Snapshot, err
}

// Restore restores a session to a snapshot. It never allows a call that was denied. Scope operate.
func (c *Client) Restore(ctx context.Context, of Owner, snapshot string) error {
	r := of.request(http.MethodPost, "restore")
	r.body = map[string]string{"snapshot": snapshot}
	return c.do(ctx, r, nil)
}

// Reset lets a session continue that is uncertain or was stopped. Scope operate.
func (c *Client) Reset(ctx context.Context, of Owner) error {
	return c.do(ctx, of.request(http.MethodPost, "reset"), nil)
}

// Records returns at most 1,000 audit rows after a sequence number, oldest first. Scope operate.
func (c *Client) Records(ctx context.Context, after int64) ([]stopgate.Record, error) {
	var out struct {
		Records []stopgate.Record `json:"records"`
	}
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/records", query: query("after", position(after))}, &out)
	return out.Records, err
}

// AllRecords iterates over all audit rows after a sequence number, page by page, until an error.
// Scope operate.
func (c *Client) AllRecords(ctx context.Context, after int64) iter.Seq2[stopgate.Record, error] {
	return func(yield func(stopgate.Record, error) bool) {
		for {
			page, err := c.Records(ctx, after)
			if err != nil {
				yield(stopgate.Record{}, err)
				return
			}
			for _, r := range page {
				if r.Seq <= after {
					yield(stopgate.Record{}, fmt.Errorf("%w: rows out of order", errNotAGate))
					return
				}
				after = r.Seq
				if !yield(r, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// Lockdown is an order to deny every call.
type Lockdown struct {
	Locked bool      `json:"locked"`
	Since  time.Time `json:"since"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
}

// Lockdown returns the current lockdown. Scope operate.
func (c *Client) Lockdown(ctx context.Context) (Lockdown, error) {
	return c.order(ctx, http.MethodGet, nil)
}

// Lock denies every call from now on, including calls that wait for approval, until Lift. Scope
// operate.
func (c *Client) Lock(ctx context.Context, reason string) (Lockdown, error) {
	return c.order(ctx, http.MethodPut, map[string]string{"reason": reason})
}

// Lift ends the lockdown. Scope operate.
func (c *Client) Lift(ctx context.Context) (Lockdown, error) {
	return c.order(ctx, http.MethodDelete, nil)
}

func (c *Client) order(ctx context.Context, method string, body any) (Lockdown, error) {
	var l Lockdown
	err := c.do(ctx, request{method: method, path: "/v1/lockdown", body: body}, &l)
	return l, err
}

// Ready returns nil if the gate can allow calls, else the reason. It needs no token.
func (c *Client) Ready(ctx context.Context) error {
	return c.do(ctx, request{method: http.MethodGet, path: "/readyz"}, nil)
}
