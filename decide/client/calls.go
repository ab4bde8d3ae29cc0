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

// Call is a tool call as a model proposed it.
type Call struct {
	Tool stopgate.ToolName
	// Args is the argument text exactly as the model wrote it; [Client.Stream] takes it
	// piece by piece instead. It is sent as text, so that the gate judges the model's own
	// bytes: a repeated key is seen there.
	Args []byte

	Session stopgate.SessionID
	Agent   stopgate.AgentName
	Turn    stopgate.TurnID // calls of one response of the model
	ID      stopgate.CallID
	Server  stopgate.ServerID // the MCP server that has the tool
	// Definition is how the tool was declared to the model, where the policy does not
	// have it.
	Definition *Definition
	// Data is the session's data for [Client.Check], which knows no session: one JSON
	// object. Nil leaves conditions on it in doubt. Other methods ignore it.
	Data []byte

	// Key makes a repetition of the request safe: the gate decides once for each key.
	// Without it, once for each session, turn and call id where all are known.
	Key string
	// Wait is how long the gate may wait for people before it answers, at most 10
	// minutes; 0 answers Pending at once.
	Wait time.Duration
}

// Definition is a tool's declaration.
type Definition struct {
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON Schema
}

// Verdict is what the gate thinks of a call, and why.
type Verdict struct {
	Mode       stopgate.Mode     `json:"mode"`
	Layer      stopgate.Layer    `json:"layer"`
	Code       stopgate.Code     `json:"code"`
	Rule       *stopgate.RuleRef `json:"rule"`
	Candidates []int             `json:"candidates"`
	Pointer    string            `json:"pointer"`
	Segment    *stopgate.Segment `json:"segment"`    // of several commands the one that decided
	DecidedAt  int64             `json:"decided_at"` // argument bytes after which it was determined
	Public     string            `json:"public"`     // for models and people
	Floors     []stopgate.Floor  `json:"floors"`
}

// Answer is what the gate says about a call. The zero Answer lets nothing run.
type Answer struct {
	ID      stopgate.ProposalID `json:"id"`
	Tool    stopgate.ToolName   `json:"tool"`
	Session stopgate.SessionID  `json:"session"`
	// Status is allowed, denied, skipped, or pending while nobody has answered.
	Status string `json:"status"`
	Verdict
	Bytes int64 `json:"bytes"` // of the arguments
	// Args is what must run, byte for byte; empty unless Allowed.
	Args json.RawMessage `json:"args"`
	// Raw is Args as text where a gate that only observes lets pass what is no JSON.
	Raw string `json:"raw"`
	// Enforced is false where the gate only observes: the verdict is what would have
	// been.
	Enforced bool               `json:"enforced"`
	Approval *Approval          `json:"approval"` // the question, or who answered it
	Envelope *stopgate.Envelope `json:"envelope"` // what to tell the model of a call that must not run
}

// Approval names a question, or who answered it.
type Approval struct {
	ID     string `json:"id"`
	By     string `json:"by"`
	Edited bool   `json:"edited"`
}

// Allowed reports whether the call may run, with a.Args and nothing else.
func (a Answer) Allowed() bool { return a.Status == "allowed" && len(a.Args) > 0 }

// Pending reports whether somebody must answer first.
func (a Answer) Pending() bool { return a.Status == "pending" }

// Checked is what the rules say of a call, without consequences.
type Checked struct {
	Tool stopgate.ToolName `json:"tool"`
	Verdict
	Bytes int64 `json:"bytes"`
}

// callBody is a call as it is sent. Pointers leave out what there is not.
type callBody struct {
	Tool       stopgate.ToolName  `json:"tool"`
	Raw        *string            `json:"raw,omitempty"`
	Session    stopgate.SessionID `json:"session,omitempty"`
	Agent      stopgate.AgentName `json:"agent,omitempty"`
	Turn       stopgate.TurnID    `json:"turn,omitempty"`
	CallID     stopgate.CallID    `json:"call_id,omitempty"`
	Server     stopgate.ServerID  `json:"server,omitempty"`
	Definition *Definition        `json:"definition,omitempty"`
	Data       json.RawMessage    `json:"session_data,omitempty"`
}

func (c *Call) body() callBody {
	return callBody{
		Tool: c.Tool, Session: c.Session, Agent: c.Agent, Turn: c.Turn, CallID: c.ID, Server: c.Server, Definition: c.Definition,
	}
}

// whole is a call with its arguments as it is sent. Text that is not UTF-8 cannot be
// sent, and is no JSON: the gate would not allow it.
func (c *Call) whole() (callBody, error) {
	b, text := c.body(), string(c.Args)
	if !utf8.ValidString(text) {
		return b, fmt.Errorf("client: the arguments are not UTF-8")
	}
	b.Raw = &text
	return b, nil
}

// Check asks what the policy says about a call. Nothing is recorded, reserved or
// asked, and nothing may run on the strength of it. Scope decide.
func (c *Client) Check(ctx context.Context, call Call) (Checked, error) {
	body, err := call.whole()
	if err != nil {
		return Checked{}, err
	}
	body.Data = call.Data
	var out Checked
	if err := c.do(ctx, request{method: http.MethodPost, path: "/v1/check", body: body}, &out); err != nil {
		return Checked{}, err
	}
	return out, nil
}

// Decide proposes a call with complete arguments. A refusal is an answer, not an
// error. Scope decide.
func (c *Client) Decide(ctx context.Context, call Call) (Answer, error) {
	body, err := call.whole()
	if err != nil {
		return Answer{}, err
	}
	header := prefer(call.Wait)
	if call.Key != "" {
		if header == nil {
			header = http.Header{}
		}
		header.Set("Idempotency-Key", call.Key)
	}
	return c.answer(ctx, request{method: http.MethodPost, path: "/v1/calls", header: header, body: body}, call.Tool)
}

// Look says how far a call is that this client's principal proposed. Scope decide.
func (c *Client) Look(ctx context.Context, id stopgate.ProposalID) (Answer, error) {
	return c.answer(ctx, request{method: http.MethodGet, path: "/v1/calls/" + escape(id)}, "")
}

// patience is how long one request of Wait lasts; a gate waits no longer than 10
// minutes, a proxy on the way less.
const patience = 50 * time.Second

// Wait waits until a pending call is decided, or ctx ends: then the answer is the
// pending one and the error ctx's. Scope decide.
func (c *Client) Wait(ctx context.Context, id stopgate.ProposalID) (Answer, error) {
	for {
		a, err := c.answer(ctx, request{method: http.MethodGet, path: "/v1/calls/" + escape(id), header: prefer(patience)}, "")
		if err != nil || !a.Pending() {
			return a, err
		}
		if err := ctx.Err(); err != nil {
			return a, context.Cause(ctx)
		}
	}
}

// answer reads an answer and holds it against what was asked.
func (c *Client) answer(ctx context.Context, r request, tool stopgate.ToolName) (Answer, error) {
	var a Answer
	if err := c.do(ctx, r, &a); err != nil {
		return Answer{}, err
	}
	return a.checked(tool)
}

// checked refuses an answer that is about another tool, or contradicts itself.
func (a Answer) checked(tool stopgate.ToolName) (Answer, error) {
	if a.Raw != "" && !a.Enforced {
		a.Args = json.RawMessage(a.Raw)
	}
	switch {
	case tool != "" && a.Tool != tool:
		return Answer{}, fmt.Errorf("%w: it is about the tool %q", errAnswer, a.Tool)
	case a.Status == "allowed" && len(a.Args) > 0, a.Status == "denied", a.Status == "skipped", a.Status == "pending":
		return a, nil
	}
	return Answer{}, fmt.Errorf("%w: its status is %q", errAnswer, a.Status)
}

// Result is what came of a call that ran.
type Result struct {
	Data []byte // what the tool gave back
	// Failed and Succeeded say how it ended; neither leaves it to the policy's rules for
	// the tool, or open (DECISIONS S24).
	Failed, Succeeded bool
	// Absent says that nothing is where the call looked.
	Absent bool
}

// Delivery is what of a result the model gets.
type Delivery struct {
	Mode      stopgate.Mode `json:"mode"`
	Code      stopgate.Code `json:"code"`
	Delivered bool          `json:"delivered"`
	Data      string        `json:"data"` // the result, or what stands for it
}

// Observe reports the result of an allowed call, once. Without the scope observe it
// counts as reported, not as seen. Scope decide.
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

// Handoff is control that one agent hands to another.
type Handoff struct {
	From    stopgate.AgentName // "" is main
	To      stopgate.AgentName
	Session stopgate.SessionID
	Turn    stopgate.TurnID
	ID      stopgate.CallID
	Payload []byte // any JSON value; nil for none
}

// Handoff asks whether one agent may hand control to another. Of an answer that
// allows, Args is the payload. Scope decide.
func (c *Client) Handoff(ctx context.Context, h Handoff) (Answer, error) {
	body := struct {
		From    stopgate.AgentName `json:"from,omitempty"`
		To      stopgate.AgentName `json:"to"`
		Session stopgate.SessionID `json:"session,omitempty"`
		Turn    stopgate.TurnID    `json:"turn,omitempty"`
		CallID  stopgate.CallID    `json:"call_id,omitempty"`
		Payload json.RawMessage    `json:"payload,omitempty"`
	}{h.From, h.To, h.Session, h.Turn, h.ID, h.Payload}
	return c.answer(ctx, request{method: http.MethodPost, path: "/v1/handoffs", body: body}, "handoff")
}
