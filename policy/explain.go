package policy

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/schema"
)

// Explanation says rule by rule how a verdict came about: every list and guard that
// was asked, what became of each rule, and with which byte.
type Explanation struct {
	Verdict stopgate.Verdict // the latest one; its floors are those that were raised
	Cause   string           // a word of detail about a refusal
	Bytes   int64            // argument bytes received
	Trace   []stopgate.Verdict
	Lists   []ListExplanation // in the order in which lists of one mode are named
}

// ListExplanation is one rule list, or one guard, that was asked about the call.
type ListExplanation struct {
	File  string
	Layer stopgate.Layer
	// Table is the name of the table whose list applied: the tool's, a glob or "*"
	// (K0b). "" for a guard.
	Table string
	// Lowered says that the file is a project's and alone: unattended counts as ask
	// (K35).
	Lowered bool
	// Decides is set for the list that the verdict names.
	Decides bool
	// Answered is false while the list waits and for a guard without an objection;
	// Mode is what the list answers otherwise.
	Answered bool
	Mode     stopgate.Mode
	Rules    []RuleExplanation
}

// Status is what became of a rule or a condition.
type Status string

// What can become of a rule; conditions match, are eliminated or undecided.
const (
	Matched    Status = "matched"
	Eliminated Status = "eliminated"
	Undecided  Status = "undecided"   // not known when the verdict was reached
	NotReached Status = "not reached" // a rule above it matched
	Skipped    Status = "skipped"     // left out before the arguments were looked at
)

// RuleExplanation is what became of one rule.
type RuleExplanation struct {
	Ref    stopgate.RuleRef
	Mode   stopgate.Mode
	Status Status
	At     int64 // the byte that showed it, for a rule that matched or was eliminated
	// Decides is set for the rule that the verdict names: without it another rule, or
	// none, would have decided (INVARIANTS I25).
	Decides    bool
	Skipped    string // why a rule was skipped
	Conditions []ConditionExplanation
}

// ConditionExplanation is what became of one condition.
type ConditionExplanation struct {
	// Arg is the rule's pointer with "*" for every array it crosses (Q1); On is the
	// type a guard looks at instead.
	Arg, On string
	Matcher match.Kind
	All     bool // every leaf has to match; otherwise one is enough
	Status  Status
	At      int64
	Pointer string // of the value that showed it
	// Reading is how a path was read when it matched a restrictive condition, and
	// Steps what was done to the value for that (K56). Empty for other values.
	Reading, Steps string
}

// Explain says how the verdict came about. It can be asked at any time; what it
// shows of the arguments are pointers and readings of paths.
func (e *Evaluation) Explain() Explanation {
	x := Explanation{Verdict: e.verdict, Cause: e.cause, Bytes: e.received, Trace: e.Trace()}
	if e.plan == nil {
		return x
	}
	for i := range e.plan.lists {
		x.Lists = append(x.Lists, e.explainList(i))
	}
	return x
}

func (e *Evaluation) explainList(i int) ListExplanation {
	l, st := &e.plan.lists[i], &e.lists[i]
	if st.dirty {
		e.walk(i)
	}
	x := ListExplanation{File: l.note.file, Layer: l.layer, Table: l.note.table, Lowered: l.note.lowered}
	x.Answered = st.low == st.high && !e.abstains(i)
	if x.Answered {
		x.Mode = st.low
	}
	above := false
	for r := l.first; r < l.end; r++ {
		rule := e.explainRule(r, above)
		above = above || rule.Status == Matched
		x.Decides = x.Decides || rule.Decides
		x.Rules = append(x.Rules, rule)
	}
	for _, s := range l.note.skipped {
		x.Rules = append(x.Rules, RuleExplanation{
			Ref: refOf(l.note.file, s.ast), Mode: s.ast.Mode, Status: Skipped, Skipped: s.reason,
		})
	}
	v := &e.verdict
	if v.Decided && v.Rule == nil && v.Layer == l.layer && x.Answered && x.Mode == v.Mode && v.Layer != stopgate.LayerIntegrity {
		x.Decides = true
	}
	return x
}

func (e *Evaluation) explainRule(r int32, above bool) RuleExplanation {
	rule, st := &e.plan.rules[r], &e.rules[r]
	x := RuleExplanation{Ref: *rule.ref, Mode: rule.mode, Status: statusOf(st.phase), At: st.at}
	if above {
		x.Status, x.At = NotReached, 0
	}
	x.Decides = e.verdict.Rule == rule.ref
	for c := rule.first; c < rule.end; c++ {
		x.Conditions = append(x.Conditions, e.explainCondition(c))
	}
	return x
}

func statusOf(p phase) Status {
	switch p {
	case holds:
		return Matched
	case failed:
		return Eliminated
	}
	return Undecided
}

func (e *Evaluation) explainCondition(c int32) ConditionExplanation {
	k, st := &e.plan.conds[c], &e.conds[c]
	x := ConditionExplanation{Arg: k.expanded, On: k.ast.On, Matcher: k.kind, All: k.all, Status: statusOf(st.phase)}
	if st.phase == waiting {
		return x
	}
	x.At, x.Pointer = st.at, string(e.spine.pointer(st.path))
	if st.phase == holds && !k.permissive && st.value.end > st.value.start {
		x.Reading, x.Steps = readingOf(k, string(e.spine.pointer(st.value)))
	}
	return x
}

// readingOf finds the reading of a path that satisfied a restrictive condition.
func readingOf(k *cond, value string) (reading, steps string) {
	m, err := match.Compile(k.ast.Spec, match.Target{Type: schema.String, Annotation: schema.Path}, true, k.env)
	if err != nil {
		return "", ""
	}
	list, _ := match.Readings(value, k.env, false)
	for _, r := range list {
		if m.Whole([]byte(r.Path)) {
			return r.Path, r.Steps.String()
		}
	}
	return "", ""
}

// refOf names a rule of a file.
func refOf(file string, r *Rule) stopgate.RuleRef {
	return stopgate.RuleRef{File: file, Line: r.Pos.Start.Line, Index: r.Index, ID: r.ID}
}
