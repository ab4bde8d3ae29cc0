package learning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli/inspect"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/visible"
)

// summary says how many calls were found, and why others are no evidence.
func (r *run) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s decided, %d approved by people, %d refused\n", plural(r.Calls, "call"), r.Approved, r.Refused)
	for _, each := range []struct {
		n    int
		what string
	}{
		{r.Permitted, "approved calls run unasked by now"},
		{r.Stricter, "approved calls are denied by now"},
		{r.Referred, fmt.Sprintf("were left to the agent's own prompt, %d of them ran: --referred counts these if you answered every one", r.Ran)},
		{r.Granted, "of the approved ones ran under a grant that somebody gave: it counts once a session"},
		{r.ByProgram, "were approved by a program, a judge or an external policy, which teaches nothing"},
		{r.Others, "were approved by people that --by does not name"},
		{r.Unanswered, "questions that nobody answered"},
		{r.elsewhere, "approved calls of other projects"},
		{r.NotKept, "approved calls whose arguments are not kept, or redacted: [audit] arguments says what is kept"},
		{r.Result.Elsewhere, "approved calls that something else than a rule of the file asks about: a guard, a session policy, an unclear command"},
		{r.Secrets, "approved calls with a value that looks like a secret, which no rule gets"},
		{r.Odd, "approved calls with a value that a rule cannot spell"},
		{len(r.Rare), "approved calls that were approved too seldom for a rule: 'a' at the next question is a grant for a while"},
	} {
		if each.n > 0 {
			fmt.Fprintf(&b, "  %5d  %s\n", each.n, each.what)
		}
	}
	if len(r.Proposals) == 0 {
		b.WriteString("no rule to propose\n")
	}
	return b.String()
}

// list shows every proposal.
func (r *run) list() string {
	var b strings.Builder
	covered := map[stopgate.ProposalID]bool{}
	for _, p := range r.Proposals {
		for _, id := range slices.Concat(p.Covers, p.Parts) {
			covered[id] = true
		}
	}
	fmt.Fprintf(&b, "%s for %s would have answered %s:\n\n", plural(len(r.Proposals), "rule"), visible.Text(r.file.Path), plural(len(covered), "question"))
	for _, p := range r.Proposals {
		b.WriteString(r.short(p))
	}
	return b.String()
}

// short is a proposal on a few lines.
func (r *run) short(p learn.Proposal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s: %s\n", p.ID, p.How, visible.Text(p.Sentence))
	fmt.Fprintf(&b, "          %s\n", visible.Text(p.Rule))
	fmt.Fprintf(&b, "          %s in %s on %s", plural(p.Approvals, "approval"), plural(p.Sessions, "session"), plural(p.Days, "day"))
	fmt.Fprintf(&b, "; answers %s", plural(len(p.Covers), "question"))
	if len(p.Parts) > 0 {
		fmt.Fprintf(&b, ", and parts of %s", plural(len(p.Parts), "command line"))
	}
	b.WriteString("\n")
	if len(p.Kept) > 0 {
		fmt.Fprintf(&b, "          narrower than the approvals: a wider rule would permit %s, which was refused\n", visible.Text(string(p.Kept[0])))
	}
	return b.String() + "\n"
}

// maxExamples is how many calls a proposal shows.
const maxExamples = 8

// calls lists approved calls of a proposal's tool.
func (r *run) calls(p learn.Proposal, ids []stopgate.ProposalID) string {
	var b strings.Builder
	for i, id := range ids {
		if i == maxExamples {
			fmt.Fprintf(&b, "  ... and %d more\n", len(ids)-i)
			break
		}
		fmt.Fprintf(&b, "  %s  %s %s\n", visible.Text(string(id)), visible.Text(string(p.Tool)), inspect.About(r.args[id]))
	}
	return b.String()
}

// details shows what a proposal would have let pass, what it newly permits and what it does not.
func (r *run) details(p learn.Proposal) string {
	var b strings.Builder
	b.WriteString("would have let pass:\n" + r.calls(p, slices.Concat(p.Covers, p.Parts)))
	if len(p.With) > 0 {
		b.WriteString("also counts, and is not permitted by this rule:\n" + r.calls(p, p.With))
	}
	switch witness, notes, err := r.Prove(p); {
	case err != nil:
		fmt.Fprintf(&b, "cannot be written: %s\n", visible.Text(err.Error()))
	case len(witness.Args) > 0:
		fmt.Fprintf(&b, "newly permits, for example: %s %s\n", visible.Text(string(p.Tool)), visible.Text(visible.Elide(string(witness.Args), 200)))
		for _, n := range notes {
			fmt.Fprintf(&b, "note: %s\n", visible.Text(n))
		}
	default:
		b.WriteString("newly permits nothing else than these calls\n")
	}
	for _, id := range p.Kept {
		fmt.Fprintf(&b, "still asks about %s, which was refused: %s\n", visible.Text(string(id)), inspect.About(r.args[id]))
	}
	b.WriteString("still asks about every other call of the tool; guards, session policies and the other rules decide as before\n")
	return b.String()
}
