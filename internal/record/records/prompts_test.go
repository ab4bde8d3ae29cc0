package records_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/records"
)

// Proves S63, H15: questions are counted by their reason, with the way to save them.
func TestPrompts(t *testing.T) {
	var p records.Prompts
	n := 0
	call := func(asked bool, tool, session, args string, line int, status stopgate.RecordStatus, by string) {
		n++
		id := stopgate.ProposalID(fmt.Sprint("P", n))
		rule := &stopgate.RuleRef{File: "p.toml", Line: line}
		if asked {
			p.Add(&stopgate.Record{Time: at, Kind: stopgate.RecordEvent, Event: stopgate.AuditAsked, ID: id, Tool: stopgate.ToolName(tool)})
		}
		r := &stopgate.Record{Time: at, Kind: stopgate.RecordDecision, ID: id, Tool: stopgate.ToolName(tool), Session: stopgate.SessionID(session), ArgsHash: args, Status: status, Rule: rule}
		if by != "" {
			r.Approval = &stopgate.Approval{ID: by}
		}
		p.Add(r)
	}
	if p.PerHundred() != 0 || len(p.Rules()) != 0 {
		t.Errorf("%+v", p)
	}
	for i := range 5 {
		call(true, "sh", "s", fmt.Sprint("a", i), 7, stopgate.StatusAllowed, "Q")
	}
	call(true, "write", "s", "w", 9, stopgate.StatusAllowed, "Q")
	call(true, "write", "s", "w", 9, stopgate.StatusDenied, "")
	call(true, "write", "t", "w", 9, stopgate.StatusDenied, "")
	call(true, "write", "s", "w", 9, stopgate.StatusAllowed, "grant:G:P")
	call(true, "rm", "s", "r", 3, stopgate.StatusDenied, "")
	for i, r := range []stopgate.Record{
		{Floors: []stopgate.Floor{{Code: stopgate.CodeProtectedTarget}}, Layer: stopgate.LayerApproval, Code: stopgate.CodeApprovalDeclined},
		{Layer: stopgate.LayerApproval, Code: stopgate.CodeApprovalTimeout},
	} {
		r.ID, r.Kind, r.Tool = stopgate.ProposalID(fmt.Sprint("R", i)), stopgate.RecordDecision, "zip"
		p.Add(&stopgate.Record{Kind: stopgate.RecordEvent, Event: stopgate.AuditAsked, ID: r.ID})
		p.Add(&r)
	}
	for range 8 {
		call(false, "read", "s", "x", 1, stopgate.StatusAllowed, "")
	}
	if p.Calls != 20 || p.Asked != 11 || p.Approved != 6 || p.Granted != 1 || p.Repeated != 1 || p.PerHundred() != 55 {
		t.Errorf("%+v", p)
	}
	saving := ""
	for _, a := range p.Saving() {
		saving += fmt.Sprintf("%s %s %d\n", a.Tool, a.Propose, a.Saves)
	}
	if want := "sh rule 5\nwrite grant 1\n"; saving != want {
		t.Errorf("%s, want\n%s", saving, want)
	}
	got := fmt.Sprint()
	for _, r := range p.Rules() {
		got += fmt.Sprintf("%s %s:%d %d/%d %d %s %s\n", r.Tool, r.Code, r.Line, r.Approved, r.Asked, r.Repeated, r.Propose, r.Example)
	}
	if want := "sh rule_matched:7 5/5 0 rule P5\nwrite rule_matched:9 1/3 1 grant P8\nrm rule_matched:3 0/1 0  P10\nzip no_rule_matched:0 0/1 0  R1\nzip protected_target:0 0/1 0  R0\n"; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// Proves S63, H15: a referred question is not an approval, its result shows that the call ran;
// calls without an approver are counted.
func TestPromptsReferred(t *testing.T) {
	var p records.Prompts
	rule := &stopgate.RuleRef{File: "p.toml", Line: 4}
	for i := range 6 {
		id := stopgate.ProposalID(fmt.Sprint("P", i))
		p.Add(&stopgate.Record{Time: at, Kind: stopgate.RecordEvent, Event: stopgate.AuditAsked, ID: id})
		p.Add(&stopgate.Record{
			Time: at, Kind: stopgate.RecordDecision, ID: id, Tool: "Bash", Session: "s", ArgsHash: "a", Status: stopgate.StatusAllowed, Rule: rule,
			Approval: &stopgate.Approval{ID: "Q", By: "claude-code", Referred: true},
		})
		if i < 5 { // twice: a result counts once
			for range 2 {
				p.Add(&stopgate.Record{Time: at, Kind: stopgate.RecordEvent, Event: stopgate.AuditResult, ID: id})
			}
		}
	}
	p.Add(&stopgate.Record{Time: at, Kind: stopgate.RecordDecision, ID: "N", Tool: "Bash", Status: stopgate.StatusDenied, Code: stopgate.CodeNoApprover, Rule: rule})
	if p.Calls != 7 || p.Asked != 6 || p.Approved != 0 || p.Referred != 6 || p.Ran != 5 || p.Unasked != 1 || p.Repeated != 5 {
		t.Errorf("%+v", p)
	}
	if r := p.Rules(); len(r) != 1 || r[0].Approved != 0 || r[0].Referred != 6 || r[0].Ran != 5 || r[0].Propose != "grant" {
		t.Errorf("%+v", r)
	}
	p.Add(&stopgate.Record{Time: at, Kind: stopgate.RecordEvent, Event: stopgate.AuditResult, ID: "P5"})
	if r := p.Rules(); r[0].Ran != 6 || r[0].Propose != "rule" {
		t.Errorf("%+v", r)
	}
}

// Questions are counted by day, also where rows of several gates are out of order.
func TestDays(t *testing.T) {
	var p records.Prompts
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local)
	for i, c := range []struct {
		day    int
		asked  bool
		status stopgate.RecordStatus
		by     string
	}{{0, true, stopgate.StatusAllowed, "Q"}, {1, true, stopgate.StatusDenied, ""}, {0, false, stopgate.StatusAllowed, ""}, {3, true, stopgate.StatusAllowed, "grant:G:P"}, {2, false, stopgate.StatusDenied, ""}} {
		id := stopgate.ProposalID(fmt.Sprint("P", i))
		if c.asked {
			p.Add(&stopgate.Record{Time: noon, Kind: stopgate.RecordEvent, Event: stopgate.AuditAsked, ID: id})
		}
		r := &stopgate.Record{Time: noon.AddDate(0, 0, c.day), Kind: stopgate.RecordDecision, ID: id, Tool: "t", Status: c.status}
		if c.by != "" {
			r.Approval = &stopgate.Approval{ID: c.by}
		}
		p.Add(r)
	}
	want := []records.Day{{"2026-11-20", 2, 1, 1, 0}, {"2026-11-21", 1, 1, 0, 0}, {"2026-11-22", 1, 0, 0, 0}, {"2026-11-23", 1, 0, 0, 1}}
	if got := p.Days(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
