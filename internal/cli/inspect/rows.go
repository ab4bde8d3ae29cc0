package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/record/records"
)

// LearningPolicy returns the file that gets rules, the only one that is the person's, or the project's, and the
// policy that calls are judged by, with the other files.
func LearningPolicy(l inputs.Loaded) (file config.File, p learn.Policy, err error) {
	at := -1
	for i, f := range l.Set.Files {
		mine := f.Trusted && (f.Scope == config.Project || f.Scope == config.Flag || f.Scope == config.User) && f.Root == ""
		switch {
		case !mine:
		case at < 0, f.Scope == config.Project && l.Set.Files[at].Scope == config.User:
			at = i
		case f.Scope == l.Set.Files[at].Scope:
			return file, p, cli.Usagef("several policy files apply: name one with --policy")
		}
	}
	if at < 0 {
		return file, p, cli.Hinted(errors.New("no policy file of yours applies here that could get rules"), "write one with stopgate init, and trust it with stopgate trust")
	}
	file = l.Set.Files[at]
	p = learn.Policy{Name: file.Path, Text: file.Text, Options: inputs.WorkingIn(l.Set, l.Set.Root, "")}
	p.Options.Links, p.Options.Known = nil, knowntools.Recognise
	for i, source := range l.Set.Sources() {
		if i != at {
			p.Others = append(p.Others, source)
		}
	}
	return file, p, nil
}

// LearningOptions returns the options under which the calls of rows were decided: those of a hook ask about unknown tools.
func LearningOptions(o policy.Options, rows []learn.Row) policy.Options {
	if slices.ContainsFunc(rows, func(row learn.Row) bool { return row.Record.Surface == stopgate.SurfaceHook }) {
		o.UnknownTool = stopgate.Ask
	}
	return o
}

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
