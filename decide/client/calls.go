package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
)

// Call is a tool call as the model generated it.
type Call struct {
	Tool stopgate.ToolName
	// Args is the argument text exactly as the model generated it. [Client.Stream] accepts it in
	// chunks instead. It is sent as text, so that the gate judges the model's own bytes, including
	// repeated keys.
	Args []byte

	Session stopgate.SessionID
	Agent   stopgate.AgentName
	Turn    stopgate.TurnID // groups the calls of one model response
	ID      stopgate.CallID
	Server  stopgate.ServerID // MCP server that provides the tool
	// Conversation is the part of the session whose texts the call may come from.
	Conversation string
	// Definition is the declaration of the tool that the model received, if the policy does not
	// contain it.
	Definition *Definition
	// Data is the session data for [Client.Check], which has no session: one JSON object. If nil,
	// conditions on session data are uncertain. Other methods ignore it.
	Data []byte

	// Key makes repeating the request safe: the gate decides once per key. Without it, the gate
	// decides once per session, turn and call id if all are set.
	Key string
	// Wait is the time for which the gate waits for approval before it responds, at most 10
	// minutes. 0 returns a pending decision at once.
	Wait time.Duration
	// Answers reports that this program answers questions about the call, with the key of its session
	// ([Client.WithKey]). The question is in [Approval], and then [Client.Wait] waits for the end.
	Answers bool
}

// Definition is the declaration of a tool.
type Definition struct {
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON Schema
}

// Verdict is the gate's evaluation of a call and its reason.
type Verdict struct {
	Mode       stopgate.Mode     `json:"mode"`
	Layer      stopgate.Layer    `json:"layer"`
	Code       stopgate.Code     `json:"code"`
	Rule       *stopgate.RuleRef `json:"rule"`
	Candidates []int             `json:"candidates"`
	Pointer    string            `json:"pointer"`
	Segment    *stopgate.Segment `json:"segment"`    // of several shell commands, the one that decided
	DecidedAt  int64             `json:"decided_at"` // argument bytes after which it was determined
	Public     string            `json:"public"`     // reason for models and people
	Floors     []stopgate.Floor  `json:"floors"`
}

// Decision is the gate's decision about a call. The zero Decision does not allow it.
type Decision struct {
	ID      stopgate.ProposalID `json:"id"`
	Tool    stopgate.ToolName   `json:"tool"`
	Session stopgate.SessionID  `json:"session"`
	// Status is allowed, denied, skipped, or pending while approval is awaited.
	Status string `json:"status"`
	Verdict
	Bytes int64 `json:"bytes"` // size of the arguments
	// Args are the arguments to run, byte for byte. Empty unless Allowed.
	Args json.RawMessage `json:"args"`
	// Raw is Args as text if a gate in observe mode allows arguments that are not JSON.
	Raw string `json:"raw"`
	// Access limits the files that the tool may touch, nil if it is not limited. The program that
	// runs the tool enforces it.
	Access *stopgate.Access `json:"access"`
	// Enforced is false in observe mode: the verdict is the one that would have been enforced.
	Enforced bool               `json:"enforced"`
	Approval *Approval          `json:"approval"` // the question or the approver
	Envelope *stopgate.Envelope `json:"envelope"` // normalized result for the model; nil while the call is pending
}

// Approval identifies a question or its approver.
type Approval struct {
	ID     string `json:"id"`
	By     string `json:"by"`
	Edited bool   `json:"edited"`
	// Question is all of the question, if this program may answer it.
	Question *Question `json:"-"`
}

// UnmarshalJSON reads a question, or what identifies it.
func (a *Approval) UnmarshalJSON(text []byte) error {
	type plain Approval
	q := new(Question)
	if err := json.Unmarshal(text, (*plain)(a)); err != nil {
		return err
	}
	if err := json.Unmarshal(text, q); err != nil {
		return err
	}
	if a.Question = nil; q.Proposal != "" {
		a.Question = q
	}
	return nil
}

// Allowed reports whether the call can run with exactly the bytes in Args.
func (a Decision) Allowed() bool { return a.Status == "allowed" && len(a.Args) > 0 }

// Pending reports whether the call awaits approval.
func (a Decision) Pending() bool { return a.Status == "pending" }

// CheckResult is the evaluation of a call without consequences.
type CheckResult struct {
	Tool stopgate.ToolName `json:"tool"`
	Verdict
	Bytes int64 `json:"bytes"`
}

// callBody is the JSON form of a call. Nil pointers are omitted.
type callBody struct {
	Tool       stopgate.ToolName  `json:"tool"`
	Raw        *string            `json:"raw,omitempty"`
	Session    stopgate.SessionID `json:"session,omitempty"`
	Agent      stopgate.AgentName `json:"agent,omitempty"`
	Turn       stopgate.TurnID    `json:"turn,omitempty"`
	CallID     stopgate.CallID    `json:"call_id,omitempty"`
	Server     stopgate.ServerID  `json:"server,omitempty"`
	Part       string             `json:"conversation,omitempty"`
	Definition *Definition        `json:"definition,omitempty"`
	Data       json.RawMessage    `json:"session_data,omitempty"`
}

func (c *Call) body() callBody {
	return callBody{
		Tool: c.Tool, Session: c.Session, Agent: c.Agent, Turn: c.Turn, CallID: c.ID, Server: c.Server, Part: c.Conversation, Definition: c.Definition,
	}
}

// whole encodes a call with its arguments. It returns an error for text that is not UTF-8, which
// JSON cannot carry and the gate would deny.
func (c *Call) whole() (callBody, error) {
	b, text := c.body(), string(c.Args)
	if !utf8.ValidString(text) {
		return b, fmt.Errorf("client: the arguments are not UTF-8")
	}
	b.Raw = &text
	return b, nil
}

// header returns what the client prefers, and whether it answers.
func (c *Call) header() http.Header {
	h := merge(prefer(c.Wait), http.Header{})
	if c.Answers {
		h.Set("Stopgate-Approver", "program")
	}
	return h
}

// Check evaluates the policy for a call, without recording, reserving or asking. The result is
// not a permission to run the call. Scope decide.
func (c *Client) Check(ctx context.Context, call Call) (CheckResult, error) {
	body, err := call.whole()
	if err != nil {
		return CheckResult{}, err
	}
	body.Data = call.Data
	var out CheckResult
	if err := c.do(ctx, request{method: http.MethodPost, path: "/v1/check", body: body}, &out); err != nil {
		return CheckResult{}, err
	}
	return out, nil
}

// Decide submits a call with complete arguments. A denial is a decision, not an error. Scope
// decide.
func (c *Client) Decide(ctx context.Context, call Call) (Decision, error) {
	body, err := call.whole()
	if err != nil {
		return Decision{}, err
	}
	header := call.header()
	if call.Key != "" {
		header.Set("Idempotency-Key", call.Key)
	}
	return c.decision(ctx, request{method: http.MethodPost, path: "/v1/calls", header: header, body: body}, call.Tool)
}

// Lookup returns the current decision about a call that this client's principal submitted. Scope
// decide.
func (c *Client) Lookup(ctx context.Context, id stopgate.ProposalID) (Decision, error) {
	return c.decision(ctx, request{method: http.MethodGet, path: "/v1/calls/" + escape(id)}, "")
}

// pollWait is the duration of one request of Wait. Gates wait at most 10 minutes, proxies often
// less.
const pollWait = 50 * time.Second

// Wait waits until a pending call is decided. If ctx ends first, it returns the pending decision
// and ctx's error. Scope decide.
func (c *Client) Wait(ctx context.Context, id stopgate.ProposalID) (Decision, error) {
	for {
		a, err := c.decision(ctx, request{method: http.MethodGet, path: "/v1/calls/" + escape(id), header: prefer(pollWait)}, "")
		if err != nil || !a.Pending() {
			return a, err
		}
		if err := ctx.Err(); err != nil {
			return a, context.Cause(ctx)
		}
	}
}

// decision reads a decision and validates it against the request.
func (c *Client) decision(ctx context.Context, r request, tool stopgate.ToolName) (Decision, error) {
	var a Decision
	if err := c.do(ctx, r, &a); err != nil {
		return Decision{}, err
	}
	return a.validate(tool)
}

// validate rejects a decision about another tool, or one that contradicts itself.
func (a Decision) validate(tool stopgate.ToolName) (Decision, error) {
	if a.Raw != "" && !a.Enforced {
		a.Args = json.RawMessage(a.Raw)
	}
	switch {
	case tool != "" && a.Tool != tool:
		return Decision{}, fmt.Errorf("%w: it decides about tool %q", errNotAGate, a.Tool)
	case a.Status == "allowed" && len(a.Args) > 0, a.Status == "denied", a.Status == "skipped", a.Status == "pending":
		return a, nil
	}
	return Decision{}, fmt.Errorf("%w: unknown status %q, or status without its members", errNotAGate, a.Status)
}

// Result is the result of a call that ran.
type Result struct {
	Data []byte // output of the tool
	// Failed and Succeeded report the outcome. If both are false, the policy's rules for the tool
	// determine it, or it stays unknown (S24).
	Failed, Succeeded bool
	// Absent reports that the target of the call does not exist.
	Absent bool
}

// Delivery is the result that the model receives.
type Delivery struct {
	Mode      stopgate.Mode `json:"mode"`
	Code      stopgate.Code `json:"code"`
	Delivered bool          `json:"delivered"`
	Data      string        `json:"data"` // the result or its replacement
	// Envelope is the normalized result: status ok with Data, or the reason why it is withheld.
	Envelope stopgate.Envelope `json:"envelope"`
}

// Observe reports the result of an allowed call, once. Without the scope observe, the result counts
// as reported instead of observed. Scope decide.
func (c *Client) Observe(ctx context.Context, id stopgate.ProposalID, r Result) (Delivery, error) {
	body := struct {
		Data   string `json:"data"`
		Failed *bool  `json:"failed,omitempty"`
		Absent bool   `json:"absent,omitempty"`
	}{Data: string(r.Data), Absent: r.Absent}
	if r.Failed || r.Succeeded {
		body.Failed = &r.Failed
	}
	var d Delivery
	if err := c.do(ctx, request{method: http.MethodPost, path: "/v1/calls/" + escape(id) + "/result", body: body}, &d); err != nil {
		return Delivery{}, err
	}
	return d, nil
}

// Handoff is a transfer of control from one agent to another.
type Handoff struct {
	From    stopgate.AgentName // "" means main
	To      stopgate.AgentName
	Session stopgate.SessionID
	Turn    stopgate.TurnID
	ID      stopgate.CallID
	Payload []byte // any JSON value, or nil
}

// Handoff asks whether one agent can hand control to another. If the decision allows it, Args is
// the payload. Scope decide.
func (c *Client) Handoff(ctx context.Context, h Handoff) (Decision, error) {
	body := struct {
		From    stopgate.AgentName `json:"from,omitempty"`
		To      stopgate.AgentName `json:"to"`
		Session stopgate.SessionID `json:"session,omitempty"`
		Turn    stopgate.TurnID    `json:"turn,omitempty"`
		CallID  stopgate.CallID    `json:"call_id,omitempty"`
		Payload json.RawMessage    `json:"payload,omitempty"`
	}{h.From, h.To, h.Session, h.Turn, h.ID, h.Payload}
	return c.decision(ctx, request{method: http.MethodPost, path: "/v1/handoffs", body: body}, "handoff")
}
