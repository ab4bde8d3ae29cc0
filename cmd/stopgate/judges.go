package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/internal/system/secret"
	"github.com/stopgate/stopgate/internal/visible"
	models "github.com/stopgate/stopgate/judge"
)

// judges makes the judges that policy files ask for. What they object to is kept in the
// store, if there is one.
func judges(store *sqlite.Store) gate.Option {
	var o models.Options
	if store != nil {
		o.Objections = store
	}
	return gate.WithJudges(models.New(o).Judge)
}

// checkJudge finds what keeps a judge from being made, but for its key, which only the
// machine has on which it works.
func checkJudge(p *syntax.File) (found diag.List) {
	if p.Judge == nil {
		return nil
	}
	o := secret.Anywhere()
	if _, err := models.New(models.Options{Getenv: o.Getenv, Read: o.Read}).Judge(policy.JudgeTable(p.Judge)); err != nil {
		_, message, _ := strings.Cut(err.Error(), "[judge] ")
		found.Add(diag.Diagnostic{Code: diag.BadValue, File: p.Judge.File, Range: p.Judge.Pos, Message: message})
	}
	return found
}

// passed stands for the judges where nobody is asked: what reaches it did pass, or the
// question is not what a judge would say (K30).
type passed struct{}

// Judge has no objection.
func (passed) Judge(context.Context, gate.Proposal) (gate.Opinion, error) {
	return gate.Opinion{Mode: stopgate.Unattended}, nil
}

func withoutJudges() gate.Option {
	return gate.WithJudges(func(*gate.JudgeTable) (gate.Judge, error) { return passed{}, nil })
}

// reviewText is a judge's answer on one line.
func reviewText(r *stopgate.Review) string {
	text := visible.Text(r.Model) + ": " + r.Mode.String()
	switch {
	case r.Fault != "":
		text += ", because it failed: " + visible.Text(r.Fault)
	case r.Probability != nil && r.Threshold != nil:
		text += fmt.Sprintf(", harmful with probability %.2f, objects from %.2f on", *r.Probability, *r.Threshold)
	}
	if r.Explanation != "" {
		text += ": " + visible.Text(r.Explanation)
	}
	if r.Cached {
		text += " (as before)"
	}
	return text
}
