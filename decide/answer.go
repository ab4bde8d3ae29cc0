package decide

import (
	"encoding/json"

	"github.com/stopgate/stopgate"
)

// Verdict is a verdict as the API tells it: the members of `stopgate decide`.
type Verdict struct {
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

func verdictOf(v stopgate.Verdict) Verdict {
	public := v.Public
	if public == "" {
		public = v.Code.Public()
	}
	return Verdict{
		Mode: v.Mode, Layer: v.Layer, Code: v.Code, Rule: v.Rule, Candidates: v.Candidates, Pointer: v.Pointer, Segment: v.Segment,
		DecidedAt: v.DecidedAt, Public: public, Floors: v.Floors,
	}
}

// Answer is what the API says about a proposal.
type Answer struct {
	ID      stopgate.ProposalID `json:"id"`
	Tool    stopgate.ToolName   `json:"tool"`
	Session stopgate.SessionID  `json:"session,omitempty"`
	// Status is allowed, denied, skipped, or pending while nobody has answered.
	Status string `json:"status"`
	Verdict
	Bytes int64 `json:"bytes"` // of the arguments
	// Args must run, byte for byte as they stand here; only of an allowed call.
	Args json.RawMessage `json:"args,omitempty"`
	// Raw is what runs where a JSON value cannot hold it byte for byte: a gate that only
	// observes lets malformed arguments pass too.
	Raw string `json:"raw,omitempty"`
	// Enforced is false in observe mode: the verdict is what would have been decided.
	Enforced bool `json:"enforced"`
	// Approval names the question of a pending call, or who answered it.
	Approval *Approval `json:"approval,omitempty"`
	// Envelope is what to tell the model of a call that must not run (G2-15).
	Envelope *stopgate.Envelope `json:"envelope,omitempty"`
}

// Approval names a question or its answer.
type Approval struct {
	ID     string `json:"id"`
	By     string `json:"by,omitempty"`
	Edited bool   `json:"edited,omitempty"`
}

// pending is the status of a call that somebody must answer.
const pending = "pending"

func answerOf(c *stopgate.Call, bytes int64, out stopgate.Outcome) Answer {
	a := Answer{
		ID: out.Proposal, Tool: c.Tool, Session: c.Session, Status: out.Status.String(), Verdict: verdictOf(out.Verdict),
		Bytes: bytes, Enforced: out.Enforced,
	}
	if out.Approval != nil {
		a.Approval = &Approval{ID: out.Approval.ID, By: out.Approval.By, Edited: out.Approval.Edited}
	}
	if out.Allowed() {
		if text, err := encode(json.RawMessage(out.Args)); err == nil {
			a.Args = out.Args
			if string(text[:len(text)-1]) == string(out.Args) {
				return a
			}
		}
		a.Raw = string(out.Args)
	} else {
		e := out.Envelope()
		a.Envelope = &e
	}
	return a
}
