package records

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
)

// Prompts sums up what people were asked: how often, by which rules, and which of it
// they need not have been asked again (S63).
type Prompts struct {
	Calls     int       // all calls that were decided
	Asked     int       // those that somebody was asked about
	Approved  int       // of these
	Referred  int       // of these, left to the prompt of a hook's host, whose answer nobody hears
	Ran       int       // of the referred ones, those whose result was seen: the host let them run
	Unasked   int       // beside the asked ones: calls that somebody had to be asked about while nobody could answer
	Granted   int       // calls that a grant answered, and nobody was asked about
	Repeated  int       // calls equal to one of their session that was approved before
	First     time.Time // of the rows
	Last      time.Time
	questions map[stopgate.ProposalID]bool // asked, and not decided yet
	approved  map[callKey]bool
	rules     map[askKey]*Asking
	referred  map[stopgate.ProposalID]referral // without a result yet
}

// referral is a call that was left to the prompt of a host.
type referral struct {
	asking *Asking
	call   callKey
}

type askKey struct {
	tool stopgate.ToolName
	code stopgate.Code
	file string
	line int
}

// callKey is equal for calls that one grant covers.
type callKey struct {
	session stopgate.SessionID
	tool    stopgate.ToolName
	args    string
}

// Asking is one reason to ask, of one tool.
type Asking struct {
	Tool stopgate.ToolName `json:"tool"`
	Code stopgate.Code     `json:"code"`
	File string            `json:"file,omitempty"`
	Line int               `json:"line,omitempty"`

	Asked    int `json:"asked"`
	Approved int `json:"approved"`
	// Referred counts calls that were left to the prompt of a hook's host, Ran those of
	// them whose result was seen: somebody there said yes, or a rule of the host did.
	Referred int `json:"referred"`
	Ran      int `json:"ran"`
	// Repeated counts calls equal to one of their session that was approved before: a
	// grant would have answered them.
	Repeated int `json:"repeated"`
	// Example is the newest of the proposals.
	Example stopgate.ProposalID `json:"example"`
	// Propose is what would save prompts: "rule" where everything was approved or ran,
	// "grant" where calls repeat, "" for nothing.
	Propose string `json:"propose,omitempty"`
}

// enough is how often everything must have been approved before a rule is proposed.
const enough = 5

// Add counts a row; rows come in their order.
func (p *Prompts) Add(r *stopgate.Record) {
	if p.questions == nil {
		p.questions, p.approved, p.rules = map[stopgate.ProposalID]bool{}, map[callKey]bool{}, map[askKey]*Asking{}
		p.referred = map[stopgate.ProposalID]referral{}
	}
	if p.First.IsZero() {
		p.First = r.Time
	}
	p.Last = r.Time
	switch {
	case r.Event == stopgate.AuditAsked:
		p.questions[r.ID] = true
	case r.Event == stopgate.AuditResult:
		if left, ok := p.referred[r.ID]; ok {
			delete(p.referred, r.ID)
			p.Ran++
			left.asking.Ran++
			p.approved[left.call] = true
		}
	case r.Kind == stopgate.RecordDecision:
		p.Calls++
		ok := p.questions[r.ID]
		delete(p.questions, r.ID)
		switch {
		case ok && r.Approval != nil && strings.HasPrefix(r.Approval.ID, "grant:"):
			p.Granted++
		case ok:
			p.decided(r)
		case r.Code == stopgate.CodeNoApprover, r.Code == stopgate.CodePathNotKnown:
			p.Unasked++
		}
	}
}

// decided counts the end of a call that somebody was asked about.
func (p *Prompts) decided(r *stopgate.Record) {
	k := askKey{tool: r.Tool, code: r.Code}
	switch {
	case r.Rule != nil:
		k.code, k.file, k.line = stopgate.CodeRuleMatched, r.Rule.File, r.Rule.Line
	case len(r.Floors) > 0:
		k.code = r.Floors[0].Code
	case r.Layer == stopgate.LayerApproval: // of a refusal the row has the answer's code
		k.code = stopgate.CodeNoRuleMatched
	}
	a := p.rules[k]
	if a == nil {
		a = &Asking{Tool: k.tool, Code: k.code, File: k.file, Line: k.line}
		p.rules[k] = a
	}
	p.Asked++
	a.Asked++
	a.Example = r.ID
	same := callKey{r.Session, r.Tool, r.ArgsHash}
	if r.ArgsHash != "" && r.Session != "" && p.approved[same] {
		p.Repeated++
		a.Repeated++
	}
	switch {
	case r.Approval != nil && r.Approval.Referred:
		p.Referred++
		a.Referred++
		p.referred[r.ID] = referral{a, same}
	case r.Status == stopgate.StatusAllowed || r.Status == stopgate.StatusEdited:
		p.Approved++
		a.Approved++
		p.approved[same] = true
	}
}

// PerHundred is how many of a hundred calls somebody was asked about.
func (p *Prompts) PerHundred() float64 {
	if p.Calls == 0 {
		return 0
	}
	return 100 * float64(p.Asked) / float64(p.Calls)
}

// Rules lists why people were asked, the most frequent first.
func (p *Prompts) Rules() []Asking {
	list := []Asking{}
	for a := range maps.Values(p.rules) {
		switch {
		case a.Asked >= enough && a.Approved+a.Ran == a.Asked:
			a.Propose = "rule"
		case a.Repeated > 0:
			a.Propose = "grant"
		}
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b Asking) int {
		return cmp.Or(cmp.Compare(b.Asked, a.Asked), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Code, b.Code), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return list
}
