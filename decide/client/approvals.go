package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/stopgate/stopgate"
)

// Question is one call that somebody must answer, and what became of it.
type Question struct {
	ID       string              `json:"id"` // no credential
	Proposal stopgate.ProposalID `json:"proposal"`
	Parent   stopgate.ProposalID `json:"parent"`

	Tool      stopgate.ToolName  `json:"tool"`
	CallID    stopgate.CallID    `json:"call_id"`
	Session   stopgate.SessionID `json:"session"`
	Turn      stopgate.TurnID    `json:"turn"`
	Agent     stopgate.AgentName `json:"agent"`
	Principal stopgate.Principal `json:"principal"`
	Server    stopgate.ServerID  `json:"server"`
	Surface   stopgate.Surface   `json:"surface"`

	Mode    stopgate.Mode     `json:"mode"` // ask or edit
	Code    stopgate.Code     `json:"code"`
	Rule    *stopgate.RuleRef `json:"rule"`
	Pointer string            `json:"pointer"`
	Public  string            `json:"public"`
	Floors  []stopgate.Floor  `json:"floors"`

	// Complete says that Args are all of the arguments; until then only no is an answer.
	Complete bool    `json:"complete"`
	Received int64   `json:"received"` // argument bytes so far
	Args     string  `json:"args"`
	Binding  Binding `json:"binding"`
	Seen     string  `json:"seen"` // hash of the binding: an answer to something else is refused
	Leaves   []Leaf  `json:"leaves"`
	// Asking names every rule that asks, and the code of every list that does without one.
	Asking []string `json:"asking"`

	Asked   time.Time `json:"asked"`
	Until   time.Time `json:"until"`   // when the call stops waiting
	Expires time.Time `json:"expires"` // when an answer is refused

	// State is waiting, approved, edited, declined, used or withdrawn.
	State    string              `json:"state"`
	By       string              `json:"by"`
	Via      string              `json:"via"` // command, terminal, page, api, client, agent or grant
	Reason   string              `json:"reason"`
	Edit     string              `json:"edit"`
	Answered time.Time           `json:"answered"`
	UsedBy   stopgate.ProposalID `json:"used_by"`
}

// Binding is everything that an approval belongs to (THREATS H1).
type Binding struct {
	Args       string             `json:"args"` // SHA-256 in hex of the canonical arguments
	Tool       stopgate.ToolName  `json:"tool"`
	Definition string             `json:"definition"`
	Policy     string             `json:"policy"`
	Session    stopgate.SessionID `json:"session"`
	Principal  stopgate.Principal `json:"principal"`
	Agent      stopgate.AgentName `json:"agent"`
	Server     stopgate.ServerID  `json:"server"`
	Result     string             `json:"result"`
}

// Leaf is a value of the arguments that holds no other.
type Leaf struct {
	Pointer string `json:"pointer"`
	Type    string `json:"type"` // path, command, url or ""
	Known   bool   `json:"known"`
	JSON    string `json:"json"`
}

// Questions lists questions, newest first, at most 1,000. Scope approve.
func (c *Client) Questions(ctx context.Context, f QuestionFilter) ([]Question, error) {
	var out struct {
		Approvals []Question `json:"approvals"`
	}
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/approvals", query: query(
		"state", f.State, "session", string(f.Session), "principal", string(f.Principal))}, &out)
	return out.Approvals, err
}

// QuestionFilter chooses questions. A zero field lets everything through.
type QuestionFilter struct {
	State     string // waiting: those that can be answered now
	Session   stopgate.SessionID
	Principal stopgate.Principal
}

// Question returns one question. Scope approve.
func (c *Client) Question(ctx context.Context, id string) (Question, error) {
	var q Question
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/approvals/" + escape(id)}, &q)
	return q, err
}

// Watch shows the questions that wait, now and whenever that changes, until ctx ends or
// show returns an error, which it returns. While somebody watches, calls wait for an
// answer that would be denied otherwise. Scope approve.
func (c *Client) Watch(ctx context.Context, show func([]Question) error) error {
	in, err := c.open(ctx, request{method: http.MethodGet, path: "/v1/approvals/watch"}, nil)
	if err != nil {
		return err
	}
	defer in.Body.Close()
	lines := bufio.NewScanner(in.Body)
	lines.Buffer(nil, maxAnswer)
	for lines.Scan() {
		var l struct {
			Approvals []Question `json:"approvals"`
			Problem
		}
		switch err := json.Unmarshal(lines.Bytes(), &l); {
		case err != nil:
			return fmt.Errorf("%w: %w", errAnswer, err)
		case l.Problem.Code != "":
			return &l.Problem
		}
		if err := show(l.Approvals); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	return io.ErrUnexpectedEOF
}

// Approve lets exactly the call run that q shows, once. If the question has changed
// since q was read, nothing is answered: ErrStale. Scope approve.
func (c *Client) Approve(ctx context.Context, q Question, reason string) (Question, error) {
	return c.reply(ctx, q.ID, replyBody{Answer: "approve", Reason: reason, Seen: q.Seen})
}

// Deny refuses a question. The model is told the reason. Scope approve.
func (c *Client) Deny(ctx context.Context, id, reason string) (Question, error) {
	return c.reply(ctx, id, replyBody{Answer: "deny", Reason: reason})
}

// Edit lets the call run with other arguments, one JSON object, if every layer of the
// gate agrees to them. Scope approve.
func (c *Client) Edit(ctx context.Context, q Question, args []byte, reason string) (Question, error) {
	return c.reply(ctx, q.ID, replyBody{Answer: "edit", Reason: reason, Seen: q.Seen, Args: args})
}

// Scope is how far a grant reaches. The zero Scope is: this session, 8 hours, the
// call's own values.
type Scope struct {
	For         time.Duration // whole seconds; 0 for 8 hours
	Uses        int           // 0 for any number
	AllSessions bool
	Wider       []Wider
}

// Wider lets a grant cover more than one value.
type Wider struct {
	Pointer string `json:"pointer"`
	How     string `json:"how"` // below: a directory; words: the beginning of a command
	Text    string `json:"text"`
}

// Grant answers questions before they are asked.
type Grant struct {
	ID        string             `json:"id"`
	Principal stopgate.Principal `json:"principal"`
	Session   stopgate.SessionID `json:"session"`
	Tool      stopgate.ToolName  `json:"tool"`
	// Definition is the hash of the tool's declaration; Code and Rule are why the
	// question was asked.
	Definition string            `json:"definition"`
	Server     stopgate.ServerID `json:"server"`
	Code       stopgate.Code     `json:"code"`
	Rule       stopgate.RuleID   `json:"rule"`
	Asking     []string          `json:"asking"` // everything that asked: what asks besides is asked
	Values     []GrantValue      `json:"values"`
	By         string            `json:"by"`
	Made       time.Time         `json:"made"`
	Expires    time.Time         `json:"expires"`
	Limit      int               `json:"limit"`
	Uses       int               `json:"uses"`
	Revoked    time.Time         `json:"revoked"`
}

// GrantValue is what a grant fixes of one value.
type GrantValue struct {
	Pointer string `json:"pointer"`
	How     string `json:"how"` // equal, below, words or free
	Text    string `json:"text"`
}

// Grant approves a question and makes a grant for its like. Scope approve.
func (c *Client) Grant(ctx context.Context, q Question, s Scope, reason string) (Question, Grant, error) {
	scope := &scopeBody{Seconds: int64(s.For / time.Second), Uses: s.Uses, AllSessions: s.AllSessions, Wider: s.Wider}
	var out struct {
		Approval Question `json:"approval"`
		Grant    Grant    `json:"grant"`
	}
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/approvals/" + escape(q.ID), body: replyBody{
		Answer: "approve", Reason: reason, Seen: q.Seen, Grant: scope,
	}}, &out)
	return out.Approval, out.Grant, err
}

// Grants lists grants that hold, or all that are kept, newest first. Scope approve.
func (c *Client) Grants(ctx context.Context, all bool) ([]Grant, error) {
	var out struct {
		Grants []Grant `json:"grants"`
	}
	q := url.Values{}
	if all {
		q.Set("all", "1")
	}
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/grants", query: q}, &out)
	return out.Grants, err
}

// Revoke ends a grant. Revoking it again changes nothing. Scope approve.
func (c *Client) Revoke(ctx context.Context, id string) (Grant, error) {
	var g Grant
	err := c.do(ctx, request{method: http.MethodDelete, path: "/v1/grants/" + escape(id)}, &g)
	return g, err
}

type replyBody struct {
	Answer string          `json:"answer"`
	Reason string          `json:"reason,omitempty"`
	Seen   string          `json:"seen,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Grant  *scopeBody      `json:"grant,omitempty"`
}

type scopeBody struct {
	Seconds     int64   `json:"seconds,omitempty"`
	Uses        int     `json:"uses,omitempty"`
	AllSessions bool    `json:"all_sessions,omitempty"`
	Wider       []Wider `json:"wider,omitempty"`
}

func (c *Client) reply(ctx context.Context, id string, body replyBody) (Question, error) {
	var out struct {
		Approval Question `json:"approval"`
	}
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/approvals/" + escape(id), body: body}, &out)
	return out.Approval, err
}

// query makes a query of names and values; empty values are left out.
func query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}
