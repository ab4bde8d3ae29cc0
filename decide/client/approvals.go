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

// Question is a call that needs approval, and the state of its approval.
type Question struct {
	ID       string              `json:"id"` // not a credential
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
	// Missing lists the objections of session policies that ask.
	Missing []string `json:"missing"`
	// Origins are where the values come from that conditions on origins evaluated.
	Origins []stopgate.Origin `json:"origins"`

	// Complete is true if Args are all of the arguments. Until then the question can only be
	// denied.
	Complete bool    `json:"complete"`
	Received int64   `json:"received"` // argument bytes received so far
	Args     string  `json:"args"`
	Binding  Binding `json:"binding"`
	Seen     string  `json:"seen"` // hash of the binding; an answer to a different binding is rejected
	Leaves   []Leaf  `json:"leaves"`
	// Asking lists every rule that asks, and the code of every rule list that asks without a rule.
	Asking []string `json:"asking"`
	// Extensions are the grants to offer with a question that waits, the most useful first.
	Extensions []Extension `json:"extensions"`

	Asked   time.Time `json:"asked"`
	Until   time.Time `json:"until"`   // time at which the call stops waiting
	Expires time.Time `json:"expires"` // time from which answers are rejected

	// State is waiting, approved, edited, declined, used or withdrawn.
	State    string              `json:"state"`
	By       string              `json:"by"`
	Via      string              `json:"via"` // command, terminal, page, api, client, agent, program or grant
	Reason   string              `json:"reason"`
	Edit     string              `json:"edit"`
	Answered time.Time           `json:"answered"`
	UsedBy   stopgate.ProposalID `json:"used_by"`
}

// Binding is everything that an approval is bound to (H1).
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

// Extension is a grant to offer with a question.
type Extension struct {
	Name     string  `json:"name"` // directory, subcommand, host or exact: of Scope.Extension
	Title    string  `json:"title"`
	Wider    []Wider `json:"wider"`
	Sentence string  `json:"sentence"` // all calls that then run without a question
	Example  string  `json:"example"`  // a value that then runs without a question
}

// Leaf is a scalar value of the arguments.
type Leaf struct {
	Pointer string `json:"pointer"`
	Type    string `json:"type"` // path, command, url or ""
	Known   bool   `json:"known"`
	JSON    string `json:"json"`
}

// Questions lists at most 1,000 questions, newest first. Scope approve.
func (c *Client) Questions(ctx context.Context, f QuestionFilter) ([]Question, error) {
	var out struct {
		Approvals []Question `json:"approvals"`
	}
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/approvals", query: query(
		"state", f.State, "session", string(f.Session), "principal", string(f.Principal))}, &out)
	return out.Approvals, err
}

// QuestionFilter selects questions. A zero field selects all.
type QuestionFilter struct {
	State     string // waiting selects those that can be answered now
	Session   stopgate.SessionID
	Principal stopgate.Principal
}

// Question returns one question. Scope approve.
func (c *Client) Question(ctx context.Context, id string) (Question, error) {
	var q Question
	err := c.do(ctx, request{method: http.MethodGet, path: "/v1/approvals/" + escape(id)}, &q)
	return q, err
}

// Watch calls show with the waiting questions, at the start and after every change, until ctx ends
// or show returns an error, which Watch returns. While a client watches, calls wait for approval
// that would be denied otherwise. Scope approve.
func (c *Client) Watch(ctx context.Context, show func([]Question) error) error {
	in, err := c.open(ctx, request{method: http.MethodGet, path: "/v1/approvals/watch"}, nil)
	if err != nil {
		return err
	}
	defer in.Body.Close()
	lines := bufio.NewScanner(in.Body)
	lines.Buffer(nil, maxResponse)
	for lines.Scan() {
		var l struct {
			Approvals []Question `json:"approvals"`
			Problem
		}
		switch err := json.Unmarshal(lines.Bytes(), &l); {
		case err != nil:
			return fmt.Errorf("%w: %w", errNotAGate, err)
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

// Approve approves exactly the call that q shows, once. It returns ErrStale if the question has
// changed since q was read. Scope approve.
func (c *Client) Approve(ctx context.Context, q Question, reason string) (Question, error) {
	return c.reply(ctx, q.ID, replyBody{Answer: "approve", Reason: reason, Seen: q.Seen})
}

// Deny denies a question. The model receives the reason. Scope approve.
func (c *Client) Deny(ctx context.Context, id, reason string) (Question, error) {
	return c.reply(ctx, id, replyBody{Answer: "deny", Reason: reason})
}

// Edit approves the call with other arguments, one JSON object, if every layer of the gate allows
// them. Scope approve.
func (c *Client) Edit(ctx context.Context, q Question, args []byte, reason string) (Question, error) {
	return c.reply(ctx, q.ID, replyBody{Answer: "edit", Reason: reason, Seen: q.Seen, Args: args})
}

// Scope limits a grant. The zero Scope is this session, 8 hours, and the call's own values.
type Scope struct {
	For         time.Duration // whole seconds; 0 for 8 hours
	Uses        int           // 0 means unlimited
	AllSessions bool
	Extension   string // the name of one of the question's extensions, instead of Wider
	Wider       []Wider
}

// Wider extends a grant to more than one value.
type Wider struct {
	Pointer string `json:"pointer"`
	How     string `json:"how"` // "below": a directory or URL; "words": a command prefix; "like": a pattern of one command
	Text    string `json:"text"`
}

// Grant approves matching calls without a question.
type Grant struct {
	ID        string             `json:"id"`
	Principal stopgate.Principal `json:"principal"`
	Session   stopgate.SessionID `json:"session"`
	Tool      stopgate.ToolName  `json:"tool"`
	// Definition is the hash of the tool's declaration. Code and Rule are the reason of the
	// question.
	Definition string            `json:"definition"`
	Server     stopgate.ServerID `json:"server"`
	Code       stopgate.Code     `json:"code"`
	Rule       stopgate.RuleID   `json:"rule"`
	Asking     []string          `json:"asking"` // rules and codes that the grant satisfies; any other rule still asks
	Values     []GrantValue      `json:"values"`
	By         string            `json:"by"`
	Made       time.Time         `json:"made"`
	Expires    time.Time         `json:"expires"`
	Limit      int               `json:"limit"`
	Uses       int               `json:"uses"`
	Revoked    time.Time         `json:"revoked"`
}

// GrantValue is the constraint of a grant on one value.
type GrantValue struct {
	Pointer string `json:"pointer"`
	How     string `json:"how"` // equal, below, words, like or free
	Text    string `json:"text"`
}

// Grant approves a question and creates a grant for similar calls. Scope approve.
func (c *Client) Grant(ctx context.Context, q Question, s Scope, reason string) (Question, Grant, error) {
	scope := &scopeBody{Seconds: int64(s.For / time.Second), Uses: s.Uses, AllSessions: s.AllSessions, Extension: s.Extension, Wider: s.Wider}
	var out struct {
		Approval Question `json:"approval"`
		Grant    Grant    `json:"grant"`
	}
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/approvals/" + escape(q.ID), body: replyBody{
		Answer: "approve", Reason: reason, Seen: q.Seen, Grant: scope,
	}}, &out)
	return out.Approval, out.Grant, err
}

// Grants lists active grants, or all stored grants, newest first. Scope approve.
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

// Revoke ends a grant. Revoking it again has no effect. Scope approve.
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
	Extension   string  `json:"extension,omitempty"`
	Wider       []Wider `json:"wider,omitempty"`
}

func (c *Client) reply(ctx context.Context, id string, body replyBody) (Question, error) {
	var out struct {
		Approval Question `json:"approval"`
	}
	err := c.do(ctx, request{method: http.MethodPost, path: "/v1/approvals/" + escape(id), body: body}, &out)
	return out.Approval, err
}

// query encodes pairs of names and values. It omits empty values.
func query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}
