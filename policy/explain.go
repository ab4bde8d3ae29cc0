package policy

import "github.com/stopgate/stopgate"

// Explanation says rule by rule how a verdict came about.
type Explanation struct {
	Verdict stopgate.Verdict
	Bytes   int64
	Lists   []ListExplanation
}

// ListExplanation is one rule list or guard that looked at the call.
type ListExplanation struct {
	File  string
	Layer stopgate.Layer
	// Table is the name of the table that applied: a tool's name, a glob or "*".
	Table string
	// Mode is what the list answers by itself; Decided is false while it waits or if
	// it is a guard without an objection.
	Decided bool
	Mode    stopgate.Mode
	Rules   []RuleExplanation
}

// RuleExplanation is what became of one rule.
type RuleExplanation struct {
	Ref        stopgate.RuleRef
	Mode       stopgate.Mode
	Status     string // "matched", "eliminated", "waiting", "not reached" or "skipped"
	At         int64  // byte that decided it
	Conditions []ConditionExplanation
	// Skipped says why a rule was left out before the arguments were looked at.
	Skipped string
}

// ConditionExplanation is what became of one condition.
type ConditionExplanation struct {
	Arg      string // the pointer of the rule, expanded
	Matcher  string
	Status   string // "holds", "fails" or "waiting"
	At       int64
	Pointer  string // of the value that decided it
	Readings []string
}

// Explain says how the verdict came about. It can be asked at any time.
func (e *Evaluation) Explain() Explanation { return Explanation{} }
