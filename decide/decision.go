package decide

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
)

// verdictJSON is the JSON form of a verdict. It has the members of `stopgate decide`.
type verdictJSON struct {
	Mode       stopgate.Mode     `json:"mode"`
	Layer      stopgate.Layer    `json:"layer,omitempty"`
	Code       stopgate.Code     `json:"code,omitempty"`
	Rule       *stopgate.RuleRef `json:"rule,omitempty"`
	Candidates []int             `json:"candidates,omitempty"`
	Pointer    string            `json:"pointer,omitempty"`
	Segment    *stopgate.Segment `json:"segment,omitempty"`
	DecidedAt  int64             `json:"decided_at"` // argument bytes
	Public     string            `json:"public,omitempty"`
	Floors     []stopgate.Floor  `json:"floors,omitempty"`
}

func verdictOf(v stopgate.Verdict) verdictJSON {
	public := v.Public
	if public == "" {
		public = v.Code.Public()
	}
	return verdictJSON{
		Mode: v.Mode, Layer: v.Layer, Code: v.Code, Rule: v.Rule, Candidates: v.Candidates, Pointer: v.Pointer, Segment: v.Segment,
		DecidedAt: v.DecidedAt, Public: public, Floors: v.Floors,
	}
}

// decisionJSON is the API's response about a call.
type decisionJSON struct {
	ID      stopgate.ProposalID `json:"id"`
	Tool    stopgate.ToolName   `json:"tool"`
	Session stopgate.SessionID  `json:"session,omitempty"`
	// Status is allowed, denied, skipped, or pending while approval is awaited.
	Status string `json:"status"`
	verdictJSON
	Bytes int64 `json:"bytes"` // size of the arguments
	// Args are the arguments to run, byte for byte. Present only if the call is allowed.
	Args json.RawMessage `json:"args,omitempty"`
	// Raw are the arguments to run if a JSON value cannot hold them byte for byte. In observe mode,
	// malformed arguments are allowed too.
	Raw string `json:"raw,omitempty"`
	// ArgsText are the arguments to run as a string, instead of Args and Raw: the client asked for it.
	ArgsText string `json:"args_text,omitempty"`
	// Access limits the files that the tool may touch. Present only if the call is allowed and the
	// policy limits the tool.
	Access *stopgate.Access `json:"access,omitempty"`
	// Enforced is false in observe mode: the verdict is the one that would have been enforced.
	Enforced bool `json:"enforced"`
	// Approval identifies the question of a pending call, or its approver.
	Approval *approvalJSON `json:"approval,omitempty"`
	// Envelope is the normalized result for the model: without data, since an allowed call
	// has not run yet. nil while the call is pending.
	Envelope *stopgate.Envelope `json:"envelope,omitempty"`
}

// as returns the decision in the form that a client asked for.
func (a decisionJSON) as(want preferences) decisionJSON {
	if !want.argsText {
		return a
	}
	text := a.Raw
	if len(a.Args) > 0 {
		text = string(a.Args)
	}
	a.Args, a.Raw, a.ArgsText = nil, "", ""
	if utf8.ValidString(text) { // a JSON string cannot hold other bytes: without arguments nothing runs
		a.ArgsText = text
	}
	return a
}

// approvalJSON identifies a question and its answer.
type approvalJSON struct {
	ID     string `json:"id"`
	By     string `json:"by,omitempty"`
	Edited bool   `json:"edited,omitempty"`

	question *entry // all of it, for the program that may answer
}

// MarshalJSON returns the question, or what identifies it.
func (a *approvalJSON) MarshalJSON() ([]byte, error) {
	if a.question != nil {
		return encode(a.question)
	}
	type plain approvalJSON
	return encode((*plain)(a))
}

// complete reports whether the program knows all that it has to answer.
func (a *approvalJSON) complete() bool { return a != nil && a.question != nil && a.question.Complete }

// pending is the status of a call that awaits approval.
const pending = "pending"

func decisionOf(c *stopgate.Call, bytes int64, out stopgate.Outcome) decisionJSON {
	a := decisionJSON{
		ID: out.Proposal, Tool: c.Tool, Session: c.Session, Status: out.Status.String(), verdictJSON: verdictOf(out.Verdict),
		Bytes: bytes, Access: out.Access, Enforced: out.Enforced,
	}
	e := out.Envelope()
	a.Envelope = &e
	if out.Approval != nil {
		a.Approval = &approvalJSON{ID: out.Approval.ID, By: out.Approval.By, Edited: out.Approval.Edited}
	}
	if out.Allowed() {
		if text, err := encode(json.RawMessage(out.Args)); err == nil {
			a.Args = out.Args
			if string(text[:len(text)-1]) == string(out.Args) {
				return a
			}
		}
		a.Raw = string(out.Args)
	}
	return a
}
