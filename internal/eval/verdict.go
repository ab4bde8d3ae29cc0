package eval

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
)

// decision is the verdict on the values so far: it combines the results of the lists with floors
// and errors.
type decision struct {
	state
	probing bool // no verdicts are wanted

	verdict      stopgate.Verdict
	basis        basis              // the basis of the verdict, if it is that of a list
	before       []stopgate.Verdict // earlier verdicts
	cause        string
	fault        fault
	floors       []stopgate.Floor
	unknownPaths condition.Unknown // reasons of the floor path_not_known
	origins      []foundOrigin     // that conditions evaluated
}

// fault is an integrity error of the arguments.
type fault struct {
	code    stopgate.Code
	pointer string
	cause   string
}

func (e *decision) reset(p *plan) {
	e.state.reset(p)
	e.verdict, e.before, e.basis = stopgate.Verdict{}, e.before[:0], basis{}
	e.fault, e.floors, e.unknownPaths = fault{}, nil, condition.Known
	e.origins = e.origins[:0]
}

// terminal reports whether the latest verdict ended the call. It is [stopgate.Verdict.Terminal]
// without a copy.
func (e *decision) terminal() bool { return e.verdict.Decided && e.verdict.Mode.Terminal() }

// reach moves to a later byte, after settling everything known so far. It reports whether that
// ended the call.
func (e *decision) reach(at int64) (terminal bool) {
	if at > e.at {
		if e.dirty && e.settle() {
			return true
		}
		e.at = at
	}
	return false
}

// fail records an integrity error, with details in cause, without values of the call. At one byte
// the first error counts, and integrity precedes everything else (K7, S30).
func (e *decision) fail(code stopgate.Code, pointer, cause string) {
	if e.fault.code == "" {
		e.fault = fault{code, pointer, cause}
		e.dirty = true
	}
}

// floor raises the verdict to at least a mode. It takes effect at its byte (K8).
func (e *decision) floor(mode stopgate.Mode, code stopgate.Code, pointer string) {
	e.floors = append(e.floors, stopgate.Floor{Mode: mode, Code: code, Pointer: pointer, At: e.at})
	e.dirty = true
}

// settle computes the verdict at the current byte. It reports whether it is final.
//
// The first terminal event in byte order wins: a list with the result deny or skip ends the call,
// whatever other lists may result in. At one byte integrity comes first, then floors, then the
// strictest list, guards before rules (K7, S30). Otherwise the verdict is decided when the
// strictest and the weakest possible outcome have the same mode.
func (e *decision) settle() (terminal bool) {
	e.dirty = false
	if e.probing {
		return false
	}
	if e.fault.code != "" {
		e.cause = e.fault.cause
		e.publish(&stopgate.Verdict{
			Mode: stopgate.Deny, Layer: stopgate.LayerIntegrity, Code: e.fault.code,
			Pointer: e.fault.pointer, Public: e.fault.public(),
		})
		return true
	}
	low := stopgate.Unattended
	for i := range e.floors {
		f := &e.floors[i]
		if f.Mode.Terminal() {
			e.publish(e.floorVerdict(f))
			return true
		}
		low = stopgate.Strictest(low, f.Mode)
	}
	high := low
	first, strictest := -1, stopgate.Unattended // among the decided lists
	for i := range e.lists {
		l := &e.lists[i]
		if l.dirty {
			e.walk(i)
		}
		low, high = stopgate.Strictest(low, l.low), stopgate.Strictest(high, l.high)
		if l.low == l.high && (first < 0 || l.low < strictest) && !l.abstains {
			first, strictest = i, l.low
		}
	}
	switch {
	case first >= 0 && strictest.Terminal():
		e.publishList(first)
		return true
	case low != high:
	case low == stopgate.Ask && e.unknownPaths != condition.Known && !(first >= 0 && (e.plan.lists[first].guard || e.plan.lists[first].session)):
		e.publish(e.floorVerdict(e.floorOf(stopgate.CodePathNotKnown)))
	case first >= 0 && strictest == low:
		e.publishList(first)
	case len(e.floors) > 0:
		e.publish(e.floorVerdict(&e.floors[0]))
	default: // no list applies: results without rules are delivered
		e.publish(&stopgate.Verdict{Mode: low, Layer: stopgate.LayerRules})
	}
	return false
}

// basis is the state of a list from which its verdict follows, without the texts.
type basis struct {
	list, floors int32
	uncovered    int32
	cursor, lane int32
	mode         stopgate.Mode
	holds        bool
}

// publishList publishes the verdict of a decided list, unless it is the latest one. If its first
// rule that has not failed holds, that rule decided; otherwise all rules that may turn out to have
// decided have the same mode (K9).
func (e *decision) publishList(i int) {
	l, st := &e.plan.lists[i], &e.lists[i]
	now := basis{list: int32(i + 1), floors: int32(len(e.floors)), uncovered: int32(len(e.uncovered)), cursor: st.cursor, lane: st.lane, mode: st.low, holds: st.holds}
	if e.basis == now {
		return
	}
	v := &e.verdict // in place if it is the first
	if v.Decided {
		v = new(stopgate.Verdict)
	}
	v.Mode, v.Layer, v.Code = st.low, l.layer, codeOf(st.low)
	leaf := e.lacksCover(i)
	switch {
	case leaf != nil:
		v.Layer, v.Code, v.Pointer = stopgate.LayerFloor, stopgate.CodeParameterNotCovered, leaf.pointer
		v.Public = notCovered(leaf.pointer)
	case st.cursor == l.end:
		v.Code, v.Public = l.code, l.reason
		if st.lane >= 0 { // the command that no rule matches
			if v.Segment = e.lanes.all[st.lane].shown(&e.spine); v.Segment != nil {
				v.Pointer = string(e.spine.pointer(e.lanes.all[st.lane].path))
			}
		}
	case st.holds:
		r := &e.plan.rules[st.cursor]
		v.Rule, v.Public = r.ref, r.public
		if l.session { // the conditions of `where` hold
			v.Rule, v.Code, v.Public = nil, l.code, l.reason
		}
		if e.limited(st.cursor) {
			v.Code, v.Public = stopgate.CodeMatcherBudget, stopgate.CodeMatcherBudget.Public()
		}
		if r.first < r.end { // it looks at a value
			v.Pointer, v.Segment = e.pointerOf(st.cursor, st.lane), e.segmentFor(st.cursor, st.lane)
		}
		if l.guard && e.expands(r) {
			v.Public += expansionHint
		}
	case e.unchanged(v):
		v.Candidates, v.Public = e.verdict.Candidates, e.verdict.Public
	default:
		v.Candidates, v.Public = e.candidates(i)
		if l.session {
			v.Candidates, v.Code, v.Public = nil, l.code, l.reason
		}
	}
	e.doubtful(i, v)
	if v.Public == "" || v.Public == v.Code.Public() {
		v.Public = unexplained(v)
		if v.Mode.Terminal() {
			v.Public = strings.TrimSpace(v.Public + " " + e.instead(v))
		}
	}
	e.publish(v)
	e.basis = now
}

// codeOf returns the code of a verdict that a rule decided.
func codeOf(m stopgate.Mode) stopgate.Code {
	if m == stopgate.Skip {
		return stopgate.CodeRuleSkipped
	}
	return stopgate.CodeRuleMatched
}

func (e *decision) floorVerdict(f *stopgate.Floor) *stopgate.Verdict {
	return &stopgate.Verdict{Mode: f.Mode, Layer: stopgate.LayerFloor, Code: f.Code, Pointer: f.Pointer, Public: e.floorPublic(f)}
}

// floorOf returns the floor of a code, the first one if none has it.
func (e *decision) floorOf(code stopgate.Code) *stopgate.Floor {
	for i := range e.floors {
		if e.floors[i].Code == code {
			return &e.floors[i]
		}
	}
	return &e.floors[0]
}

// unchanged reports whether a verdict without a rule equals the latest one, so that its candidates
// need not be listed again.
func (e *decision) unchanged(v *stopgate.Verdict) bool {
	last := &e.verdict
	return last.Decided && last.Mode == v.Mode && last.Layer == v.Layer && last.Code == v.Code && last.Rule == nil && len(last.Floors) == len(e.floors)
}

// pointerOf returns the pointer of the value that made a rule hold.
func (e *decision) pointerOf(r, lane int32) string {
	rule := &e.plan.rules[r]
	if rule.commands && lane >= 0 {
		return string(e.spine.pointer(e.lanes.all[lane].path))
	}
	c := rule.first
	var path span
	if rule.own < 0 {
		path = e.bundles[e.plan.conds[c].bundle].paths[rule.mode]
	} else if c = e.rules[rule.own].cond; c < 0 {
		return ""
	} else {
		path = e.conds[c].path
	}
	text := e.spine.pointer(path)
	if k := &e.plan.conds[c]; string(text) == k.pointer {
		return k.pointer // without an array: no allocation
	}
	return string(text)
}

// candidates returns the rules that may turn out to have decided a list, and their common reason if
// they have one.
func (e *decision) candidates(i int) (rules []int, public string) {
	l, lane := &e.plan.lists[i], e.lists[i].lane
	for r := e.lists[i].cursor; r < l.end; r++ {
		p := e.phaseOf(r, lane)
		switch {
		case p == failed:
			continue
		case len(rules) == 0:
			public = e.plan.rules[r].public
		case public != e.plan.rules[r].public:
			public = ""
		}
		rules = append(rules, e.plan.rules[r].ref.Index)
		if p == holds {
			return rules, public
		}
	}
	return append(rules, stopgate.ImplicitAsk), ""
}

// sameRule reports whether two verdicts name one rule, or none. A guard is in several lists, one
// for each view.
func sameRule(a, b *stopgate.RuleRef) bool { return a == b || a != nil && b != nil && *a == *b }

// publish makes a verdict the latest one if it differs. While the mode stays the same, so does the
// offset. The first verdict may already be in place.
func (e *decision) publish(v *stopgate.Verdict) {
	e.basis = basis{}
	v.Decided, v.DecidedAt, v.Floors = true, e.at, e.floors[:len(e.floors):len(e.floors)]
	last := &e.verdict
	if v == last {
		return
	}
	if last.Decided {
		if last.Mode == v.Mode {
			v.DecidedAt = last.DecidedAt
			if last.Layer == v.Layer && last.Code == v.Code && sameRule(last.Rule, v.Rule) && len(last.Floors) == len(v.Floors) {
				return
			}
		}
		e.before = append(e.before, *last)
	}
	*last = *v
}
