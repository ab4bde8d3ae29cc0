package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/approve/who"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/visible"
)

// Check returns the mistakes in the [hook] table.
func Check(table *tomltree.Value) diag.List {
	_, mistakes := hookTable(table)
	return mistakes
}

// hookTable reads the [hook] table: whether the host gets "allow" instead of no answer.
func hookTable(table *tomltree.Value) (allows bool, mistakes diag.List) {
	var t struct {
		Unattended string `toml:"unattended"`
	}
	r := tomltree.Read(table, &t)
	r.OneOf("unattended", t.Unattended, "silent", "allow")
	return t.Unattended == "allow", r.Mistakes
}

// notifications returns the [approvals] table if it has notifiers, else nil.
func notifications(p *policy.Program) *tomltree.Value {
	table := p.Settings().Tables["approvals"]
	if table == nil || table.Get("notify") == nil && table.Get("webhook") == nil {
		return nil
	}
	return table
}

// storeURL returns the URL of the [store] table, "" if it is not set.
func storeURL(p *policy.Program) string {
	table := p.Settings().Tables["store"]
	if table == nil {
		return ""
	}
	url := table.Get("url")
	if url == nil {
		return ""
	}
	return url.Value.Text
}

// questions returns the notifiers of open questions. If the settings are invalid there are none, so
// that the call is denied.
func (w *wiring) questions(p *policy.Program) approve.Options {
	o := approve.Options{Defer: who.Defers(p.Settings().Tables), Require: required(p)}
	table := notifications(p)
	if table == nil {
		return o
	}
	list, err := w.program.Notify(table)
	if err != nil {
		fmt.Fprintf(w.log, "stopgate: nobody can be told about questions: %s\n", visible.Text(err.Error()))
		return o
	}
	o.Notify = list
	o.Failed = func(problem string, err error) {
		fmt.Fprintf(w.log, "stopgate: %s: %s\n", problem, visible.Text(err.Error()))
	}
	return o
}

// required reads [approvals] who. The process that serves the file has reported its mistakes; a rule
// with one lets nobody answer.
func required(p *policy.Program) func(*stopgate.Call) approve.Requirement {
	rules, mistakes := who.Read(p.Settings().Tables)
	if mistakes.HasErrors() {
		return func(*stopgate.Call) approve.Requirement {
			return approve.Requirement{Others: true, Who: []approve.People{{}}}
		}
	}
	return rules.Require(p.ToolNames)
}

// learnsElsewhere reports whether an external session policy learns from results.
func learnsElsewhere(p *policy.Program) bool {
	return slices.ContainsFunc(p.Externals(), func(e *syntax.External) bool { return e.Has(syntax.HookSession) })
}

// leave executes the full program if this one lacks a feature that the policy needs.
func (w *wiring) leave(ctx context.Context, p *policy.Program) error {
	asks := (w.program.Judges != nil || len(p.Judges()) == 0) && (w.program.External != nil || len(p.Externals()) == 0)
	if asks && (w.program.Notify != nil || notifications(p) == nil) {
		return nil
	}
	return w.full(ctx)
}

// full executes the full program. It returns only if it cannot.
func (w *wiring) full(ctx context.Context) error {
	if w.program.delegated != nil {
		return w.program.delegated.decline()
	}
	if w.program.Full == nil {
		return errors.New("the policy needs a feature that this program does not have")
	}
	full, err := w.program.Full()
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		left := max(w.flags.Deadline-time.Since(w.began), time.Millisecond)
		err = become(full, slices.Concat([]string{"hook"}, w.program.args, []string{"--deadline", left.String()}), w.event.Bytes())
	}
	return fmt.Errorf("the policy asks for what only the full program does: %w", err)
}
