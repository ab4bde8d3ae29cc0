package records

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
)

// Filter selects rows. A zero field selects all.
type Filter struct {
	Session stopgate.SessionID
	Agent   stopgate.AgentName
	// Principal selects the calls of one principal.
	Principal stopgate.Principal
	Surface   stopgate.Surface
	Gate      string     // the gate that wrote the row, in a store of several gates
	Tool      *glob.Name // a tool name or a glob of them
	// Rules selects the rows of rules, wherever they were written in their files.
	Rules  []stopgate.RuleID
	Modes  []stopgate.Mode
	Codes  []stopgate.Code
	Status []stopgate.RecordStatus
	Events []stopgate.AuditEvent
	// Decisions leaves event rows out.
	Decisions    bool
	Since, Until time.Time
}

// Matches reports whether the filter selects a row. A row without the requested field is not selected.
func (f *Filter) Matches(r *stopgate.Record) bool {
	switch {
	case f.Session != "" && r.Session != f.Session,
		f.Agent != "" && r.Agent != f.Agent,
		f.Principal != "" && r.Principal != f.Principal,
		f.Surface != "" && r.Surface != f.Surface,
		f.Gate != "" && r.Gate != f.Gate,
		f.Tool != nil && !f.Tool.Match(string(r.Tool)),
		f.Decisions && r.Kind != stopgate.RecordDecision,
		!f.Since.IsZero() && r.Time.Before(f.Since),
		!f.Until.IsZero() && !r.Time.Before(f.Until):
		return false
	case f.Modes != nil && (r.Kind != stopgate.RecordDecision || r.Mode == nil || !slices.Contains(f.Modes, *r.Mode)),
		f.Rules != nil && (r.Rule == nil || !slices.Contains(f.Rules, r.Rule.ID)),
		f.Codes != nil && !slices.Contains(f.Codes, r.Code),
		f.Status != nil && !slices.Contains(f.Status, r.Status),
		f.Events != nil && !slices.Contains(f.Events, r.Event):
		return false
	}
	return true
}

// Held counts the calls of one tool that a policy would have held back in observe mode, for one
// reason.
type Held struct {
	Tool  stopgate.ToolName `json:"tool"`
	Mode  stopgate.Mode     `json:"mode"`
	Code  stopgate.Code     `json:"code"`
	File  string            `json:"file,omitempty"`
	Line  int               `json:"line,omitempty"`
	Calls int               `json:"calls"`
	First time.Time         `json:"first"`
	Last  time.Time         `json:"last"`
	// Example is the newest of the proposals.
	Example stopgate.ProposalID `json:"example"`
}

// WouldDeny summarises rows of observe mode: the calls that would not have run without a person.
type WouldDeny struct {
	Calls  int // all calls of observe mode
	Passed int // those that would have run without a person
	held   map[heldKey]*Held
}

type heldKey struct {
	tool stopgate.ToolName
	mode stopgate.Mode
	code stopgate.Code
	file string
	line int
}

// Add counts a row. Calls that the gate denied even in observe mode are not counted.
func (w *WouldDeny) Add(r *stopgate.Record) {
	if r.Kind != stopgate.RecordDecision || r.Enforced == nil || *r.Enforced || r.Mode == nil {
		return
	}
	w.Calls++
	if r.Mode.Permissive() {
		w.Passed++
		return
	}
	k := heldKey{tool: r.Tool, mode: *r.Mode, code: r.Code}
	if r.Rule != nil {
		k.file, k.line = r.Rule.File, r.Rule.Line
	}
	h := w.held[k]
	if h == nil {
		h = &Held{Tool: k.tool, Mode: k.mode, Code: k.code, File: k.file, Line: k.line, First: r.Time}
		if w.held == nil {
			w.held = map[heldKey]*Held{}
		}
		w.held[k] = h
	}
	h.Calls++
	h.Last, h.Example = r.Time, r.ID
}

// Held lists the calls that would have been held back, the most frequent first.
func (w *WouldDeny) Held() []Held {
	list := []Held{}
	for h := range maps.Values(w.held) {
		list = append(list, *h)
	}
	slices.SortFunc(list, func(a, b Held) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Mode, b.Mode),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return list
}
