package process

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/visible"
)

// Check finds the mistakes in the table [hook].
func Check(table *tomltree.Value) diag.List {
	_, mistakes := hookTable(table)
	return mistakes
}

// hookTable reads the table [hook]: whether the host is told "allow" where it would
// otherwise hear nothing.
func hookTable(table *tomltree.Value) (allows bool, mistakes diag.List) {
	var t struct {
		Unattended string `toml:"unattended"`
	}
	r := tomltree.Read(table, &t)
	r.OneOf("unattended", t.Unattended, "silent", "allow")
	return t.Unattended == "allow", r.Mistakes
}

// told is the table [approvals] where somebody is told of questions, else nil.
func told(p *policy.Program) *tomltree.Value {
	table := p.Settings().Tables["approvals"]
	if table == nil || table.Get("notify") == nil && table.Get("webhook") == nil {
		return nil
	}
	return table
}

// storeURL is what the table [store] says, "" for nothing.
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

// questions say who is told when a call waits for an answer. What is wrong with them
// leaves nobody to tell, so that the call is denied, and nothing else is.
func (w *wiring) questions(p *policy.Program) approve.Options {
	o := approve.Options{Defer: defers(p)}
	table := told(p)
	if table == nil {
		return o
	}
	list, err := w.program.Tell(table)
	if err != nil {
		fmt.Fprintf(w.talk, "stopgate: nobody can be told about questions: %s\n", visible.Text(err.Error()))
		return o
	}
	o.Notify = list
	o.Failed = func(what string, err error) {
		fmt.Fprintf(w.talk, "stopgate: %s: %s\n", what, visible.Text(err.Error()))
	}
	return o
}

// defers reads [approvals] absent. Unlike other surfaces a hook keeps a question that nobody
// can answer now unless it is told not to: who sits before the agent hears of it there, and
// can answer before the call is repeated (S47).
func defers(p *policy.Program) bool {
	table := p.Settings().Tables["approvals"]
	if table == nil {
		return true
	}
	absent := table.Get("absent")
	return absent == nil || absent.Value.Text == "defer"
}

// leave lets the full program answer where this one cannot do what the policy asks for.
// It returns only if that is not so, or not possible.
func (w *wiring) leave(ctx context.Context, p *policy.Program) error {
	if (w.program.Judges != nil || len(p.Judges()) == 0) && (w.program.Tell != nil || told(p) == nil) {
		return nil
	}
	if w.program.guest != nil {
		return w.program.guest.decline()
	}
	if w.program.Full == nil {
		return errors.New("this program cannot do what the policy asks for")
	}
	full, err := w.program.Full()
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = become(full, w.flags.words(w.host.Name, w.flags.Deadline-time.Since(w.began)), w.event.Bytes())
	}
	return fmt.Errorf("the policy asks for what only the full program does: %w", err)
}
