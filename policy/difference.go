package policy

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/prove/diff"
)

// Difference is the difference between the decisions of two policy files.
type Difference struct {
	Changes []Change
	// Complete reports that every call which the two files decide with different modes is
	// covered by a change. Equal policies have no changes and are complete.
	Complete bool
	// Open describes the parts that could not be compared.
	Open []string
}

// Change moves calls from one mode to another.
type Change struct {
	// Tools are the tools that the change is about.
	Tools    []stopgate.ToolName
	List     string // "run" or "result"
	From, To stopgate.Mode
	Loosened bool // the new mode is more permissive
	// Witness is a shortest call that changes so, with the facts that it needs.
	Witness stopgate.Call
	// Supposed are sentences on where the values of the witness come from, if that decides.
	Supposed []string
	// Old and New are the rules that decide it; nil where no rule does.
	Old, New *Rule
	// Note names the setting that decides if no rule does: "unknown tool", "unknown_params".
	Note string
}

// Rule is a rule or guard of a policy file.
type Rule struct {
	File  string
	Line  int
	Guard bool
	Text  string // in canonical form
}

// Diff lists the calls that two versions of a policy file decide differently, with a
// witness for each change. It returns nil and the diagnostics of each file if any has an
// error. Both files count as the operator's.
func Diff(before, after Source, o Options) (d *Difference, old, new Diagnostics) {
	both := layers([]Source{before, after})
	found, a, b := diff.Files(both[0], both[1], o.engine(), nil)
	old, new = diagnostics(a), diagnostics(b)
	if found == nil {
		return nil, old, new
	}
	d = &Difference{Complete: found.Complete, Open: found.Open}
	for _, s := range found.Sessions {
		d.Complete = false
		d.Open = append(d.Open, s.String())
	}
	for _, c := range found.Changes {
		d.Changes = append(d.Changes, Change{
			Tools: c.Tools, List: c.List, From: c.From, To: c.To, Loosened: c.Direction == diff.Loosened,
			Witness: c.Witness, Supposed: c.Supposed, Old: rule(c.Old), New: rule(c.New), Note: c.Note,
		})
	}
	return d, old, new
}

func rule(r *diff.RulePlace) *Rule {
	if r == nil {
		return nil
	}
	return &Rule{File: r.File, Line: r.Line, Guard: r.Guard, Text: r.Text}
}
