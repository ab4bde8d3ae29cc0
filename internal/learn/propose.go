package learn

import (
	"cmp"
	"slices"

	"github.com/stopgate/stopgate"
)

// Proposal is a rule that would answer questions in advance.
type Proposal struct {
	ID string `json:"id"` // of the rule and its tool: equal proposals have equal ids
	// Rule is the rule as an inline table of the policy language.
	Rule     string            `json:"rule"`
	Tool     stopgate.ToolName `json:"tool"`
	How      How               `json:"how"`
	Sentence string            `json:"sentence"`
	// Covers are the approved calls that run unasked under the rule.
	Covers []stopgate.ProposalID `json:"covers"`
	// Parts are approved command lines of which the rule permits a part.
	Parts []stopgate.ProposalID `json:"parts,omitempty"`
	// With are approved calls that count for the rule and that it does not permit: they name the same action with
	// other parameters.
	With []stopgate.ProposalID `json:"with,omitempty"`
	// Approvals, Sessions and Days are the support of the rule. Approvals of one person in one minute
	// count once.
	Approvals int `json:"approvals"`
	Sessions  int `json:"sessions"`
	Days      int `json:"days"`
	// Kept are refused calls that a wider rule would permit.
	Kept []stopgate.ProposalID `json:"kept,omitempty"`

	units []unit
	width width
}

// Result is what the rows teach.
type Result struct {
	Counts
	Proposals []Proposal `json:"proposals"`
	// Permitted are approved calls that the policy permits by now, Stricter those that it denies.
	Permitted int `json:"permitted"`
	Stricter  int `json:"stricter"`
	// Elsewhere are approved calls that something else than a rule of the file asks about: a guard, a floor, a
	// session policy, another file. Secrets have a value that looks like a secret, Odd one that a rule cannot
	// spell. Rare were approved too seldom.
	Elsewhere int                   `json:"elsewhere"`
	Secrets   int                   `json:"secrets"`
	Odd       int                   `json:"odd"`
	Rare      []stopgate.ProposalID `json:"rare,omitempty"`

	base     *judge // of the file as it is
	declared *judge // of the file with declarations of the tools' parameters
	stated   func(stopgate.ToolName) ([]string, bool)
	tools    map[stopgate.ToolName]*toolCalls
	decided  []*Row // every decision with known arguments
	refused  []*evidence
}

// fewest leaves out proposals whose calls others cover.
func (r *Result) fewest(list []Proposal) (kept []Proposal) {
	slices.SortStableFunc(list, func(a, b Proposal) int {
		return cmp.Or(cmp.Compare(len(b.Covers)+len(b.Parts), len(a.Covers)+len(a.Parts)), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Rule, b.Rule))
	})
	done := map[stopgate.ProposalID]bool{}
	for _, p := range list {
		if len(p.Parts) == 0 && !slices.ContainsFunc(p.Covers, func(id stopgate.ProposalID) bool { return !done[id] }) {
			continue
		}
		for _, id := range p.Covers {
			done[id] = true
		}
		kept = append(kept, p)
	}
	return kept
}

// rest notes the approved calls that no proposal touches.
func (r *Result) rest() {
	touched := map[stopgate.ProposalID]bool{}
	for _, p := range r.Proposals {
		for _, id := range slices.Concat(p.Covers, p.Parts) {
			touched[id] = true
		}
	}
	for _, t := range r.sorted() {
		for _, k := range t.calls {
			if id := k.row.Record.ID; !touched[id] {
				r.Rare = append(r.Rare, id)
			}
		}
	}
}
