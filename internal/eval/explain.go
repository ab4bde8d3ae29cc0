package eval

import (
	"reflect"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/schema"
)

// Explanation describes rule by rule how a verdict came about: every list and guard that applied,
// the result of each rule, and the byte that decided it.
type Explanation struct {
	Verdict stopgate.Verdict // the latest one; its floors are those that were raised
	Cause   string           // details of a refusal, without values of the call
	Bytes   int64            // argument bytes received
	Trace   []stopgate.Verdict
	// Recognised describes the kind of tool that was recognised, such as structured output, and
	// the consequence; "" for none.
	Recognised string
	// NotKnown describes the paths of the call whose files are unknown, with the remedy, "" if all
	// are known.
	NotKnown string
	Lists    []ListExplanation // in the order in which lists of one mode are named
}

// ListExplanation is one rule list, or one guard, that applied to the call.
type ListExplanation struct {
	File  string         `json:"file"`
	Layer stopgate.Layer `json:"layer"`
	// Table is the name of the table whose list applied: the tool's, a glob or "*" (K0b). "" for a
	// guard.
	Table string `json:"table,omitempty"`
	// Lowered is set if only a project file applies: unattended counts as ask (K35).
	Lowered bool `json:"lowered,omitempty"`
	// Decided is false while the list waits, and for a guard that does not hold; otherwise Mode is
	// the result of the list.
	Decided bool          `json:"decided"`
	Mode    stopgate.Mode `json:"mode"`
	// Segment is the simple command that the rules are explained for: of several, each is evaluated
	// through the list, and this is the first with the list's mode (K29).
	Segment *stopgate.Segment `json:"segment,omitempty"`
	// Uncovered is the pointer of a value that the permit of the list does not cover, so that the
	// list is not unattended.
	Uncovered string `json:"uncovered,omitempty"`
	// Named is set for the list that the verdict names.
	Named bool              `json:"named"`
	Rules []RuleExplanation `json:"rules"`
}

// Results of a rule.
const (
	Matched    = "matched"
	Eliminated = "eliminated"
	Waiting    = "waiting"     // not known when the verdict was reached
	NotReached = "not reached" // an earlier rule matched
	Skipped    = "skipped"     // skipped before the arguments arrived
)

// Results of a condition, in addition to Waiting.
const (
	Holds = "holds"
	Fails = "fails"
)

// RuleExplanation is the result of one rule.
type RuleExplanation struct {
	Ref    stopgate.RuleRef `json:"rule"`
	Mode   stopgate.Mode    `json:"mode"`
	Status string           `json:"status"`
	At     int64            `json:"at"` // the byte that decided it, for a rule that matched or was eliminated
	// Named is set for the rule that the verdict names: without it another rule, or none, would
	// decide (I25).
	Named bool `json:"named"`
	// Lowered is set if the rule is written as unattended, which counts as ask (K35).
	Lowered    bool                   `json:"lowered,omitempty"`
	Skipped    string                 `json:"skipped,omitempty"` // why a rule was skipped
	Conditions []ConditionExplanation `json:"conditions,omitempty"`
}

// ConditionExplanation is the result of one condition.
type ConditionExplanation struct {
	// Arg is the rule's pointer with "*" for every array it crosses (Q1); On is the type of a guard
	// without a pointer.
	Arg     string `json:"arg,omitempty"`
	On      string `json:"on,omitempty"`
	Matcher string `json:"matcher"`
	Literal string `json:"literal"` // the literals of the matcher, as JSON, or "in" and the name of a list
	All     bool   `json:"all"`     // every leaf has to match; otherwise one is enough
	Status  string `json:"status"`
	At      int64  `json:"at"`
	Pointer string `json:"pointer,omitempty"` // of the value that decided it
	// Readings are the readings of a path that matched a restrictive condition: the reading, and
	// the transformations that lead to it (K56); for a command line that a guard matched, the word.
	Readings []string `json:"readings,omitempty"`
	// Undeclared is set if no parameter table declares the value: the guard on a type read its
	// plausible readings.
	Undeclared bool `json:"undeclared,omitempty"`
	// Uncertain is the reason why a permissive condition fails for a value for which it may hold.
	Uncertain string `json:"uncertain,omitempty"`
	// Origins are where the values come from that a condition on origins evaluated.
	Origins []stopgate.Origin `json:"origins,omitempty"`
}

// Explain explains the current verdict. It can be called at any time. It contains pointers into the
// arguments and readings of paths, but no other values.
func (e *Evaluation) Explain() Explanation {
	x := Explanation{Verdict: e.verdict, Cause: e.cause, Bytes: e.received, Trace: e.Trace()}
	if e.plan == nil {
		return x
	}
	x.Recognised = e.plan.recognised
	if e.unknownPaths != condition.Known {
		x.NotKnown = e.unknownPaths.Public()
	}
	for i := range e.plan.lists {
		for _, l := range (explainer{&e.decision}).list(i) {
			x.Lists = once(x.Lists, l)
		}
	}
	return x
}

// once appends a list, unless a guard has the same explanation already: its evaluations with the types of the
// policy and with those of the known tool often agree. The one that the verdict names is kept.
func once(all []ListExplanation, x ListExplanation) []ListExplanation {
	same := func(y ListExplanation) bool {
		if x.Layer != stopgate.LayerGuard || y.Layer != x.Layer || y.Rules[0].Ref != x.Rules[0].Ref {
			return false
		}
		a, b := x.Rules[0], y.Rules[0]
		a.Named, b.Named = false, false
		return reflect.DeepEqual(a, b)
	}
	i := slices.IndexFunc(all, same)
	if i < 0 {
		return append(all, x)
	}
	if x.Named {
		all[i] = x
	}
	return all
}

// explainer explains the results of lists.
type explainer struct{ *decision }

func (e explainer) list(i int) []ListExplanation {
	l, st := &e.plan.lists[i], &e.lists[i]
	if st.dirty {
		e.walk(i)
	}
	if l.guard {
		return e.guards(l)
	}
	x := ListExplanation{File: l.note.file, Layer: l.layer, Table: l.note.table, Lowered: l.note.lowered}
	x.Decided = st.low == st.high && !st.abstains
	if x.Decided {
		x.Mode = st.low
	}
	if st.lane >= 0 {
		x.Segment = e.lanes.all[st.lane].shown(&e.spine)
	}
	if leaf := e.lacksCover(i); leaf != nil {
		x.Uncovered = leaf.pointer
		x.Named = e.verdict.Code == stopgate.CodeParameterNotCovered && e.verdict.Pointer == leaf.pointer
	}
	above := false
	for r := l.first; r < l.end; r++ {
		rule := e.rule(r, st.lane, above)
		above = above || rule.Status == Matched
		x.Named = x.Named || rule.Named
		x.Rules = append(x.Rules, rule)
	}
	for _, s := range l.note.skipped {
		x.Rules = append(x.Rules, RuleExplanation{
			Ref: s.ast.Ref(l.note.file), Mode: s.ast.Mode, Status: Skipped, Skipped: s.reason,
		})
	}
	v := &e.verdict
	if v.Decided && v.Rule == nil && v.Layer == l.layer && x.Decided && x.Mode == v.Mode && v.Layer != stopgate.LayerIntegrity {
		x.Named = true
	}
	return []ListExplanation{x}
}

// guards explains each guard of a file separately.
func (e explainer) guards(l *list) []ListExplanation {
	var all []ListExplanation
	add := func(r RuleExplanation) {
		x := ListExplanation{File: l.note.file, Layer: l.layer, Named: r.Named, Rules: []RuleExplanation{r}}
		if x.Decided = r.Status == Matched; x.Decided {
			x.Mode = r.Mode
		}
		all = append(all, x)
	}
	for r := l.first; r < l.end; r++ {
		if l.suspects && e.phaseOf(r, noLane) != holds {
			continue // shown in the list of all guards
		}
		add(e.rule(r, noLane, false))
	}
	for _, s := range l.note.skipped {
		add(RuleExplanation{Ref: s.ast.Ref(l.note.file), Mode: s.ast.Mode, Status: Skipped, Skipped: s.reason})
	}
	slices.SortStableFunc(all, func(a, b ListExplanation) int { return a.Rules[0].Ref.Index - b.Rules[0].Ref.Index })
	return all
}

// rule explains a rule, for one command if the list is evaluated command by command.
func (e explainer) rule(r, lane int32, above bool) RuleExplanation {
	rule := &e.plan.rules[r]
	x := RuleExplanation{Ref: *rule.ref, Mode: rule.mode, Status: statusOf(e.phaseOf(r, lane), Matched, Eliminated), At: e.knownAt(r), Lowered: rule.lowered}
	if rule.commands && lane >= 0 {
		x.At = max(x.At, e.lanes.all[lane].at)
	}
	if above {
		x.Status, x.At = NotReached, 0
	}
	x.Named = e.verdict.Rule == rule.ref
	for c := rule.first; c < rule.end; c++ {
		x.Conditions = append(x.Conditions, e.condition(r, c, lane))
	}
	return x
}

// knownAt returns the byte that decided a rule, 0 while it waits.
func (e explainer) knownAt(r int32) int64 {
	rule := &e.plan.rules[r]
	switch {
	case rule.own >= 0:
		return e.rules[rule.own].at
	case rule.commands, e.bundled(r) == waiting:
		return 0
	}
	return e.conds[rule.first].at
}

// statusOf formats a phase, given the words for holding and failing.
func statusOf(p phase, holding, failing string) string {
	switch p {
	case holds:
		return holding
	case failed:
		return failing
	}
	return Waiting
}

func (e explainer) condition(r, c, lane int32) ConditionExplanation {
	k, st, rule := &e.plan.conds[c], &e.conds[c], &e.plan.rules[r]
	p, ast, path := e.condIn(c, lane), k.ast, st.path
	if rule.own < 0 {
		p, ast = e.phaseOf(r, lane), rule.sole
		if b := &e.bundles[k.bundle]; b.hit.Of()[rule.mode] == r {
			path = b.paths[rule.mode]
		}
	}
	x := ConditionExplanation{Arg: k.expanded, On: ast.On, Matcher: ast.Spec.Kind.String(), All: k.all, Status: statusOf(p, Holds, Fails)}
	x.Literal = spelt(ast.Spec)
	for i := range e.origins {
		if f := &e.origins[i]; f.cond == c {
			x.Origins = append(x.Origins, e.originOf(f))
		}
	}
	switch {
	case p == waiting:
		return x
	case k.command >= 0 && lane >= 0:
		l := &e.lanes.all[lane]
		x.At, x.Pointer = l.at, string(e.spine.pointer(l.path))
		return x
	}
	x.At, x.Pointer, x.Undeclared = st.at, string(e.spine.pointer(path)), st.undeclared
	if p == failed && k.permissive && st.value.end > st.value.start {
		x.Uncertain = e.uncertain(k, ast, x.Pointer, string(e.spine.pointer(st.value)))
	}
	if p == holds && !k.permissive && st.value.end > st.value.start {
		if found, ok := e.suspect(rule); ok {
			x.Readings = []string{found.Word + " (a word of the command)"}
			if found.Expands {
				x.Readings = []string{found.Word + " (a word of the command, which the shell may expand to such a file)"}
			}
			return x
		}
		if !e.commandAt(x.Pointer) {
			x.Readings = readingOf(ast.Spec, *k.env, string(e.spine.pointer(st.value)))
		}
	}
	return x
}

// spelt formats the literals of a matcher.
func spelt(s condition.Spec) string {
	if s.List != "" {
		return "in " + s.List
	}
	var values []string
	for _, v := range s.Values {
		values = append(values, v.JSON)
	}
	if len(values) == 1 && s.Kind != condition.Enum {
		return values[0]
	}
	return "[" + strings.Join(values, ", ") + "]"
}

// readingOf returns the reading of a path that satisfied a restrictive condition: the value as
// written if it does, else the first reading that is plain and satisfies the rule, else the first
// that satisfies it.
func readingOf(s condition.Spec, env condition.Env, value string) []string {
	text, err := match.Compile(s, condition.Target{Type: schema.String}, false, env)
	if err == nil && text.Match([]byte(value)) {
		return []string{value + " (" + pathform.Steps(0).String() + ")"}
	}
	m, err := match.Compile(s, condition.Target{Type: schema.String, Annotation: schema.Path}, true, env)
	if err != nil {
		return nil
	}
	list, _ := pathform.Readings(value, env, false)
	for _, plain := range []bool{true, false} {
		for _, r := range list {
			second, _ := pathform.Readings(r.Path, env, false)
			if (len(second) == 1 || !plain) && m.Match([]byte(r.Path)) {
				return []string{r.Path + " (" + r.Steps.String() + ")"}
			}
		}
	}
	return nil
}
