package inspect

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/record/records"
)

// LearningRows returns the rows that a filter selects as evidence for rules of a project, "" for every one:
// approvals of other projects are left out, refusals are not. The chain of the log is verified before: a log
// that was changed is no evidence.
func LearningRows(ctx context.Context, log *records.Log, filter records.Filter, l inputs.Loaded, root string) (rows []learn.Row, elsewhere int, err error) {
	check, err := log.Verify(ctx)
	if err == nil {
		err = check.Err()
	}
	if err != nil {
		return nil, 0, cli.Hinted(fmt.Errorf("the records are not whole, so that nothing is learned from them: %w", err), "stopgate log verify says where they are broken")
	}
	var failed error
	_, err = log.Rows(ctx, records.Mark{}, &filter, func(r records.Row) bool {
		row := learn.Row{Record: r.Record}
		if r.Kind == stopgate.RecordDecision {
			if failed = evidence(ctx, log, &row, l); failed != nil {
				return false
			}
			if of := r.Context; root != "" && of != nil && of.Root != "" && of.Root != root && r.Status == stopgate.StatusAllowed {
				elsewhere++
				return ctx.Err() == nil
			}
		}
		rows = append(rows, row)
		return ctx.Err() == nil
	})
	if err == nil {
		err = failed
	}
	if err == nil {
		err = ctx.Err()
	}
	return rows, elsewhere, err
}

// evidence adds the arguments of a call, and the call as a policy binds it.
func evidence(ctx context.Context, log *records.Log, row *learn.Row, l inputs.Loaded) error {
	kept, ok, err := log.Arguments(ctx, &row.Record)
	if err != nil {
		return err
	}
	if row.Redacted = ok && kept.Redacted != nil; ok && !row.Redacted && !kept.Changed {
		row.Args = kept.Text
	}
	s := settingOf(&row.Record, row.Args, config.Account{})
	row.Call = s.callOf(&row.Record, row.Args, l.Tools)
	return nil
}

// About shows what a call does, on one line that is safe to print.
func About(args []byte) string { return strings.TrimSpace(calledWith(args)) }

// Since returns the filter of rows from a time on, and before another one; see the flags of log.
func Since(since, until string) (records.Filter, error) {
	return (&listFlags{since: since, until: until}).filter(time.Now())
}
