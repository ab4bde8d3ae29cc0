package records

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
)

// Prompts summarises questions to people: how many, by which rules, and which of them a grant would
// have saved (S63).
type Prompts struct {
	Calls     int       // all decided calls
	Asked     int       // calls with a question to a person
	Approved  int       // of these
	Referred  int       // of these, referred to the prompt of a hook's host, whose answer is unknown
	Ran       int       // of the referred ones, those with a result: the host ran them
	Unasked   int       // other calls that needed a question while no approver was present
	Granted   int       // calls that a grant approved, without a question
	Repeated  int       // calls equal to an earlier approved call of their session
	First     time.Time // time of the first row
	Last      time.Time
	questions map[stopgate.ProposalID]bool // asked, and not decided yet
	approved  map[callKey]bool
	rules     map[askKey]*Asking
	referred  map[stopgate.ProposalID]referral // without a result yet
	days      []Day
}

// Day counts the calls that were decided on one day, in the local time of the reader.
type Day struct {
	Date     string `json:"date"` // 2026-11-21
	Calls    int    `json:"calls"`
	Asked    int    `json:"asked"`    // with a question to a person
	Approved int    `json:"approved"` // of these
	Granted  int    `json:"granted"`  // that a grant approved, without a question
}

// referral is a call that was referred to the prompt of a host.
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

// Asking counts the questions about one tool with one reason.
type Asking struct {
	Tool stopgate.ToolName `json:"tool"`
	Code stopgate.Code     `json:"code"`
	File string            `json:"file,omitempty"`
	Line int               `json:"line,omitempty"`

	Asked    int `json:"asked"`
	Approved int `json:"approved"`
	// Referred counts calls that were referred to the prompt of a hook's host, Ran those of them
	// with a result: a person or a rule of the host approved them.
	Referred int `json:"referred"`
	Ran      int `json:"ran"`
	// Repeated counts calls equal to an earlier approved call of their session: a grant would have
	// covered them.
	Repeated int `json:"repeated"`
	// Example is the newest of the proposals.
	Example stopgate.ProposalID `json:"example"`
	// Saves is how many of the questions a rule or a grant as of Propose would have answered.
	Saves int `json:"saves,omitempty"`
	// Propose is the way to save prompts: "rule" if every call was approved or ran, "grant" if
	// calls repeat, otherwise "".
	Propose string `json:"propose,omitempty"`
}

// minApprovals is the number of approvals, without a refusal, after which a rule is proposed.
const minApprovals = 5

// AddOf is Add without the calls that none of some rules decided; nil counts all.
func (p *Prompts) AddOf(rules []stopgate.RuleID, r *stopgate.Record) {
	if r.Kind != stopgate.RecordDecision || ruledBy(rules, r) {
		p.Add(r)
		return
	}
	p.span(r.Time)
}

// ruledBy reports whether one of some rules decided a call, or rules is nil.
func ruledBy(rules []stopgate.RuleID, r *stopgate.Record) bool {
	return rules == nil || r.Rule != nil && slices.Contains(rules, r.Rule.ID)
}

func (p *Prompts) span(at time.Time) {
	if p.First.IsZero() {
		p.First = at
	}
	p.Last = at
}

// Add counts a row; rows must be added in their order.
func (p *Prompts) Add(r *stopgate.Record) {
	if p.questions == nil {
		p.questions, p.approved, p.rules = map[stopgate.ProposalID]bool{}, map[callKey]bool{}, map[askKey]*Asking{}
		p.referred = map[stopgate.ProposalID]referral{}
	}
	p.span(r.Time)
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
		day := p.day(r.Time)
		day.Calls++
		ok := p.questions[r.ID]
		delete(p.questions, r.ID)
		switch {
		case ok && r.Approval != nil && strings.HasPrefix(r.Approval.ID, "grant:"):
			p.Granted++
			day.Granted++
		case ok:
			approved := p.Approved
			p.decided(r)
			day.Asked++
			day.Approved += p.Approved - approved
		case unasked(r.Code):
			p.Unasked++
		}
	}
}

// day returns the counts of a day. Rows of several gates may be out of order.
func (p *Prompts) day(at time.Time) *Day {
	date := at.Local().Format(time.DateOnly)
	i, found := len(p.days)-1, len(p.days) > 0 && p.days[len(p.days)-1].Date == date
	if !found {
		i, found = slices.BinarySearchFunc(p.days, date, func(d Day, date string) int { return cmp.Compare(d.Date, date) })
	}
	if !found {
		p.days = slices.Insert(p.days, i, Day{Date: date})
	}
	return &p.days[i]
}

// Days lists the days with decided calls, oldest first.
func (p *Prompts) Days() []Day { return append([]Day{}, p.days...) }

// maxSaving is the number of reasons that Saving lists.
const maxSaving = 3

// Saving lists the reasons whose rule or grant would have saved most questions, at most three.
func (p *Prompts) Saving() []Asking {
	list := slices.DeleteFunc(p.Rules(), func(a Asking) bool { return a.Saves == 0 })
	slices.SortStableFunc(list, func(a, b Asking) int { return cmp.Compare(b.Saves, a.Saves) })
	return list[:min(len(list), maxSaving)]
}

// decided counts the end of a call that had a question.
func (p *Prompts) decided(r *stopgate.Record) {
	k := askKey{tool: r.Tool, code: r.Code}
	switch {
	case r.Rule != nil:
		k.code, k.file, k.line = stopgate.CodeRuleMatched, r.Rule.File, r.Rule.Line
	case len(r.Floors) > 0:
		k.code = r.Floors[0].Code
	case r.Layer == stopgate.LayerApproval: // the row of a refusal has the code of the answer
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

// PerHundred returns the percentage of calls with a question.
func (p *Prompts) PerHundred() float64 {
	if p.Calls == 0 {
		return 0
	}
	return 100 * float64(p.Asked) / float64(p.Calls)
}

// Rules lists the reasons for questions, the most frequent first.
func (p *Prompts) Rules() []Asking {
	list := []Asking{}
	for a := range maps.Values(p.rules) {
		switch {
		case a.Asked >= minApprovals && a.Approved+a.Ran == a.Asked:
			a.Propose, a.Saves = "rule", a.Asked
		case a.Repeated > 0:
			a.Propose, a.Saves = "grant", a.Repeated
		}
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b Asking) int {
		return cmp.Or(cmp.Compare(b.Asked, a.Asked), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Code, b.Code), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return list
}
