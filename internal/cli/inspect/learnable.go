package inspect

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/visible"
)

// newestRows is how many rows a report looks at for rules: it answers at once, however long the log is.
const newestRows = 2000

// maxLearnable is how many rules a report names.
const maxLearnable = 3

// learnable is what stopgate learn would propose.
type learnable struct {
	Rules []learnableRule `json:"rules"`
	// Answered is how many questions the rules together would have answered, of those of the rows that were
	// looked at.
	Answered int `json:"answered"`
}

// learnableRule is a proposal of stopgate learn.
type learnableRule struct {
	ID       string            `json:"id"`
	Tool     stopgate.ToolName `json:"tool"`
	Rule     string            `json:"rule"`
	Sentence string            `json:"sentence"`
	Saves    int               `json:"saves"`
}

// learnableOf returns the rules that would have saved most questions of the newest rows. It is nil where no policy
// of the person can be read: a report is about records, and needs none.
func learnableOf(ctx context.Context, log *records.Log, filter records.Filter, files []string) *learnable {
	f := inputs.Policy{Files: files}
	l, err := f.Load(io.Discard)
	if err != nil {
		return nil
	}
	file, p, err := LearningPolicy(l)
	if err != nil {
		return nil
	}
	newest, _, err := log.Newest(ctx, newestRows, &filter)
	if err != nil {
		return nil
	}
	var rows []learn.Row
	for i := range newest {
		row := learn.Row{Record: newest[i].Record}
		if of := row.Record.Context; file.Scope == config.Project && l.Set.Root != "" && of != nil && of.Root != "" && of.Root != l.Set.Root && row.Record.Status == stopgate.StatusAllowed {
			continue // an approval of another project, as for learn
		}
		if row.Record.Kind == stopgate.RecordDecision && evidence(ctx, log, &row, l) != nil {
			return nil
		}
		rows = append(rows, row)
	}
	p.Options = LearningOptions(p.Options, rows)
	r, err := learn.Propose(p, rows, learn.Options{})
	if err != nil {
		return nil
	}
	found := &learnable{Rules: []learnableRule{}}
	covered := map[stopgate.ProposalID]bool{}
	for _, p := range r.Proposals[:min(len(r.Proposals), maxLearnable)] {
		found.Rules = append(found.Rules, learnableRule{p.ID, p.Tool, p.Rule, p.Sentence, len(p.Covers)})
		for _, id := range p.Covers {
			covered[id] = true
		}
	}
	found.Answered = len(covered)
	return found
}

// text lists the rules.
func (l *learnable) text() string {
	if len(l.Rules) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "rules that would have saved most, %d questions of the newest rows; stopgate learn shows and writes them:\n", l.Answered)
	for i, r := range l.Rules {
		fmt.Fprintf(&b, "  %d. %d  %s  %s\n", i+1, r.Saves, r.ID, visible.Text(r.Sentence))
	}
	return b.String()
}
