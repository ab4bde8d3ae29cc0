package policy

import (
	"iter"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// RuleInfo is one rule of a program with its position.
type RuleInfo struct {
	Ref  stopgate.RuleRef
	Mode stopgate.Mode
	// Table is the name of the tool table, a glob or "*"; "" for a guard.
	Table string
	// List is "run", "result" or "guard".
	List string
}

// Rules lists every rule and guard of the program's files, in file order: tables
// first, then guards. A mode in place of a list is one rule.
func (p *Program) Rules() iter.Seq[RuleInfo] {
	return func(yield func(RuleInfo) bool) {
		for _, l := range p.Layers() {
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

// WithholdsResults reports whether any list of result rules has a mode other than unattended,
// so that the gate needs the results of calls (K32).
func (p *Program) WithholdsResults() bool {
	for _, l := range p.Layers() {
		for _, t := range l.File.Tools {
			if t.Result == nil {
				continue
			}
			if rules := t.Result.Rules; len(rules) == 0 || rules[0].Mode != stopgate.Unattended || !rules[0].CatchAll() {
				return true
			}
		}
	}
	return false
}
