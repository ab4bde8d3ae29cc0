package trial

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/policy"
)

// AsWritten ends the reading of a path that is read as it is written.
const AsWritten = " (as written)"

// Answer is the contract of decide's JSON output; it changes only by addition.
type Answer struct {
	ID        stopgate.CallID   `json:"id"`
	Tool      stopgate.ToolName `json:"tool"`
	Mode      stopgate.Mode     `json:"mode"`
	Layer     stopgate.Layer    `json:"layer"`
	Code      stopgate.Code     `json:"code"`
	Rule      *Rule             `json:"rule"`
	Pointer   string            `json:"pointer"`
	DecidedAt int64             `json:"decided_at"`
	Bytes     int               `json:"bytes"`
	// As is the surface whose answer this is, "" for none. MayDiffer lists the facts that were
	// not given and that may change the answer of a surface.
	As        string   `json:"as,omitempty"`
	MayDiffer []string `json:"may_differ,omitempty"`
	Public    string   `json:"public"`
	// Cause is the exact fault of the arguments or of the tool's definition.
	Cause   string             `json:"cause,omitempty"`
	Session stopgate.SessionID `json:"session"`
	// Candidates are the rules of which one decided, when they all agree (K9).
	Candidates []int `json:"candidates,omitempty"`
	// Segment is the simple command that decided, where the value at Pointer has several.
	Segment *stopgate.Segment `json:"segment,omitempty"`
	// Reading is the value at Pointer as a guard read it, where that differs from its text: the
	// word of a command line, or a meaning of a path.
	Reading string `json:"reading,omitempty"`
	// Untrusted is the file whose rule permits the call; it counted as ask because the file is
	// not trusted.
	Untrusted string `json:"untrusted,omitempty"`
	// Judge reports that a judge reviews the call too; it was not asked.
	Judge bool `json:"judge,omitempty"`
	// External names the external policies that decide about the call too; none was asked.
	External []string `json:"external,omitempty"`
	// Floors are the lower bounds that values raised.
	Floors []stopgate.Floor `json:"floors,omitempty"`
	// Bundle is the policy bundle whose rules applied.
	Bundle *stopgate.Bundle `json:"bundle,omitempty"`
}

// Rule is the location of a rule.
type Rule struct {
	File  string `json:"file"`
	Line  int    `json:"line"`
	Index int    `json:"index"`
}

// NewAnswer is the answer of a verdict on a call with size bytes of arguments.
func NewAnswer(call stopgate.Call, v stopgate.Verdict, size int) Answer {
	a := Answer{
		ID: call.ID, Tool: call.Tool, Mode: v.Mode, Layer: v.Layer, Code: v.Code, Pointer: v.Pointer,
		DecidedAt: v.DecidedAt, Bytes: size, Public: v.Public, Session: call.Session,
		Candidates: v.Candidates, Segment: v.Segment, Floors: v.Floors,
	}
	if v.Rule != nil {
		a.Rule = &Rule{File: v.Rule.File, Line: v.Rule.Line, Index: v.Rule.Index}
	}
	return a
}

// Answer is the answer of decide and explain to a call that was just judged.
func (j Decider) Answer(call stopgate.Call, v stopgate.Verdict, size int) Answer {
	return NewAnswer(call, v, size).Because(j.said.causeOf(v)).judgedBy(j.Program).nearest(j.Program)
}

// Because adds the exact cause of a refusal.
func (a Answer) Because(cause string) Answer {
	if a.Cause == "" {
		a.Cause = cause
	}
	return a
}

// nearest adds the name that may be meant by a tool that no table covers.
func (a Answer) nearest(p *policy.Program) Answer {
	if a.Code != stopgate.CodePolicyNotConfigured || a.Cause != "" {
		return a
	}
	var names []string
	for name := range p.Tools() {
		names = append(names, string(name))
	}
	slices.Sort(names)
	a.Cause = "no table of the policy names it"
	declared := stopgate.Call{Tool: a.Tool, Definition: &stopgate.ToolDefinition{Name: a.Tool, Schema: []byte(`{"type":"object"}`)}}
	if _, unknown := p.Bind(declared).Unknown(); !unknown {
		a.Cause += `, and the table "*" is for tools that are declared: by --tools, by a table of their own, in a request`
	}
	if hint := diag.DidYouMean(string(a.Tool), names); hint != "" {
		a.Cause += "; " + hint
	}
	return a
}

// judgedBy notes the bundle of the rules, and whether a judge, and which external policies, would be
// asked about the call.
func (a Answer) judgedBy(p *policy.Program) Answer {
	a.Bundle = p.Bundle(a.Session)
	if a.Mode != stopgate.Deny && a.Mode != stopgate.Skip || a.Code == stopgate.CodePolicyNotConfigured {
		a.External = p.GovernedBy(a.Tool)
	}
	a.Judge = a.Mode != stopgate.Deny && a.Mode != stopgate.Skip && p.Judged(a.Tool)
	return a
}

// Explained adds facts that the rule's position lacks: how a guard read the value, and that a
// permission of an untrusted file did not count.
func (a Answer) Explained(x eval.Explanation) Answer {
	for _, list := range x.Lists {
		for _, rule := range list.Rules {
			if rule.Lowered && rule.Status == eval.Matched && a.Mode == stopgate.Ask {
				a.Untrusted = list.File
			}
			for _, c := range rule.Conditions {
				if rule.Named && len(c.Readings) > 0 && !strings.HasSuffix(c.Readings[0], AsWritten) && a.Reading == "" {
					a.Reading = c.Readings[0]
				}
			}
		}
	}
	return a
}
