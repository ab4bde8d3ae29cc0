package policy

import (
	"iter"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// RuleInfo names one rule of a program and says where it stands.
type RuleInfo struct {
	Ref  stopgate.RuleRef
	Mode stopgate.Mode
	// Table is the name of the tool table, a glob or "*"; "" for a guard.
	Table string
	// List is "run", "result" or "guard".
	List string
}

// Rules lists every rule and guard of the program's files, in file order: tables
// first, guards behind them. A mode that stands for a whole list is one rule.
func (p *Program) Rules() iter.Seq[RuleInfo] {
	return func(yield func(RuleInfo) bool) {
		for _, l := range p.layers() {
			all := func(table, list string, rules []*syntax.Rule) bool {
				for _, r := range rules {
					if !yield(RuleInfo{Ref: r.Ref(l.File.Name), Mode: r.Mode, Table: table, List: list}) {
						return false
					}
				}
				return true
			}
			for _, t := range l.File.Tools {
				if t.Run != nil && !all(t.Name, "run", t.Run.Rules) || t.Result != nil && !all(t.Name, "result", t.Result.Rules) {
					return
				}
			}
			if !all("", "guard", l.File.Guards) {
				return
			}
		}
	}
}

// WithholdsResults reports whether any list of result rules can say anything but
// unattended, so that somebody has to tell the gate what calls gave back (K32).
func (p *Program) WithholdsResults() bool {
	for _, l := range p.layers() {
		for _, t := range l.File.Tools {
			if t.Result == nil {
				continue
			}
			free := len(t.Result.Rules) > 0 && t.Result.Rules[0].Mode == stopgate.Unattended &&
				len(t.Result.Rules[0].Conditions) == 0 && t.Result.Rules[0].When == nil
			if !free {
				return true
			}
		}
	}
	return false
}
