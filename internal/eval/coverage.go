package eval

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// A permit covers a string, list or object of a call if a parameter table declares it or a value
// that contains it, if the permit tests or ignores it, or if an earlier restrictive rule tests it.
// Schemas of requests and servers do not cover values, since the author of a request chooses the
// names in it. A permit that does not cover all of a call does not run it; see [syntax.File].

// uncoveredLeaf is a value that some permit does not cover.
type uncoveredLeaf struct {
	shape     *shape // nil: beyond maxUncovered
	view      *view
	container bool // a list or an object
	pointer   string
}

// maxUncovered is the maximum number of recorded values. No permit covers further ones.
const maxUncovered = 1000

// leafTime is when a value is known to need cover.
type leafTime uint8

const (
	leafElsewhere leafTime = iota // all permits cover it, or it needs no cover
	leafByKey                     // the schema allows strings, lists and objects only
	leafByValue                   // it may also be a number, a boolean or null
)

// containers are the values that need cover in addition to strings: an empty list may mean all
// files.
const containers = objectType | arrayType

// cover determines whether the permits of a list need cover.
func (l *list) cover(v *ToolPolicy, kind syntax.ListKind, w *view) {
	l.view, l.tables = w, v.Tables
	if kind != syntax.RunList || v.Uncovered == syntax.ParamAllow {
		return
	}
	if l.coverage, l.uncovered = true, stopgate.Ask; v.Uncovered == syntax.ParamDeny {
		l.uncovered = stopgate.Deny
	}
}

// cover determines whether the current rule needs cover. A rule without conditions in an operator's
// table for this tool permits the tool with any parameters, unless the table itself sets `uncovered`.
func (r *rule) cover(l *list, ast *syntax.Rule, v *ToolPolicy, table string) {
	named := v.Trusted && (!v.Embedded || v.passes) && !syntax.IsGlob(table) && !v.Covers(table)
	r.covering = l.coverage && r.mode.Permissive() && (!named || len(ast.Conditions) > 0)
	r.ignores = ast.Ignores
}

// looks is the set of rules of a view that test a location, as far as it covers permits.
type looks struct {
	guard bool    // a guard tests it
	first []int32 // by list: the first restrictive rule
	own   []int32 // permits, in order
}

// add records that a condition tests the location. first is the first of its rules that does.
func (k *looks) add(p *plan, c, first int32) {
	cond := &p.conds[c]
	switch {
	case cond.permissive && cond.bundle >= 0:
		k.own = append(k.own, p.bundles[cond.bundle].rules...)
	case cond.permissive:
		k.own = append(k.own, cond.rule)
	case first == literal.None:
	case p.lists[cond.list].guard:
		k.guard = true
	default:
		for len(k.first) <= int(cond.list) {
			k.first = append(k.first, literal.None)
		}
		k.first[cond.list] = min(k.first[cond.list], first)
	}
}

// covers reports whether a rule is covered.
func (k *looks) covers(p *plan, r int32) bool {
	rule := &p.rules[r]
	if !rule.covering || k.guard || int(rule.list) < len(k.first) && k.first[rule.list] < r {
		return true
	}
	_, own := slices.BinarySearch(k.own, r)
	return own
}

// covers finds the shapes whose values some permit does not cover: neither it nor a guard or an
// earlier restrictive rule tests them. For a list or an object it is enough that one of them tests
// some part of it.
func (g *grapher) covers() {
	if !slices.ContainsFunc(g.plan.rules, func(r rule) bool { return r.covering && g.plan.lists[r.list].view == g.view }) {
		return
	}
	for _, s := range g.order {
		types := typesOf(s.location.Types())
		if s.simple = len(s.deeper) == 0; s.location.Tabled() || types&(stringType|containers) == 0 {
			continue
		}
		for i := range s.tests {
			if t := &s.tests[i]; !t.present && g.plan.conds[t.cond].on == "" {
				s.simple = s.simple && t.first != literal.None
				s.complete.add(g.plan, t.cond, t.first)
				s.partly.add(g.plan, t.cond, g.plan.firstOf(t.cond))
			}
		}
		for _, site := range s.deeper {
			if c := g.plan.sites[site]; g.plan.conds[c].on == "" && g.plan.conds[c].kind != condition.Present && !counts(g.plan.conds[c].kind) {
				s.partly.add(g.plan, c, g.plan.firstOf(c))
			}
		}
		slices.Sort(s.complete.own)
		slices.Sort(s.partly.own)
		switch {
		case !g.uncovered(s):
		case s.simple && types&^(stringType|containers) == 0:
			s.leaf = leafByKey
		default:
			s.leaf = leafByValue
		}
	}
}

// uncovered reports whether some permit does not cover the values of a shape.
func (g *grapher) uncovered(s *shape) bool {
	for i := range g.plan.lists {
		l := &g.plan.lists[i]
		if !l.coverage || l.view != g.view {
			continue
		}
		for r := l.first; r < l.end; r++ {
			if !s.complete.covers(g.plan, r) || !s.partly.covers(g.plan, r) {
				return true
			}
		}
	}
	return false
}

// covered reports whether a rule covers a value.
func (u *uncoveredLeaf) covered(p *plan, r int32) bool {
	switch {
	case u.shape == nil:
		return false
	case u.container:
		return u.shape.partly.covers(p, r)
	}
	return u.shape.complete.covers(p, r)
}

// firstOf returns the first rule of a condition.
func (p *plan) firstOf(c int32) int32 {
	if b := p.conds[c].bundle; b >= 0 {
		return p.bundles[b].rules[0]
	}
	return p.conds[c].rule
}

// keyed takes a key whose value needs cover, whatever the value is.
func (w *walker) keyed(e *leafTests, f *frame, s *shape) {
	w.coverDecided = f.covered
	if !w.coverDecided && s != nil && s.leaf == leafByKey {
		w.coverDecided = true
		e.lack(w.view, s, false)
	}
}

// settled reports whether cover of the value that begins is already decided.
func (w *walker) settled() bool {
	if n := len(w.frames); n > 0 && w.frames[n-1].array {
		return w.frames[n-1].covered
	}
	return w.coverDecided
}

// spelled takes the start of a string.
func (w *walker) spelled(e *leafTests, s *shape) {
	if s.leaf != leafElsewhere && !w.settled() {
		e.lack(w.view, s, false)
	}
}

// contained takes the start of a list or object, and reports whether its content needs no cover of
// its own. One of another type than the schema's is never permitted.
func (w *walker) contained(e *leafTests, s *shape, wrong bool) bool {
	switch {
	case len(w.frames) == 0:
		return false // the arguments themselves
	case w.settled() || wrong || s.location.Tabled():
		return true
	}
	if s.leaf != leafElsewhere {
		e.lack(w.view, s, true)
	}
	return s.simple
}

// lack records a value that some permit does not cover.
func (e *decision) lack(w *view, s *shape, container bool) {
	if e.probing || len(e.uncovered) > maxUncovered {
		return
	}
	if len(e.uncovered) == maxUncovered {
		s = nil
	}
	e.uncovered = append(e.uncovered, uncoveredLeaf{s, w, container, e.here()})
	for i := range e.plan.lists {
		if l := &e.plan.lists[i]; l.coverage && (l.view == w || s == nil) {
			e.lists[i].dirty, e.dirty = true, true
		}
	}
}

// lacking returns the first value of the call that a rule does not cover, nil if there is none.
func (s *state) lacking(r int32) *uncoveredLeaf {
	rule := &s.plan.rules[r]
	if !rule.covering {
		return nil
	}
	for i := range s.uncovered {
		u := &s.uncovered[i]
		if u.shape == nil || u.view == s.plan.lists[rule.list].view && !u.covered(s.plan, r) && !ignored(rule.ignores, u.pointer) && !s.plan.lists[rule.list].declares(u.pointer) {
			return u
		}
	}
	return nil
}

// declares reports whether a table of the list's file that applies to the tool, also by glob,
// declares the parameter that a pointer leads to or into.
func (l *list) declares(pointer string) bool {
	at, err := jsonstream.ParsePointer(pointer)
	return err == nil && len(at) > 0 && slices.ContainsFunc(l.tables, func(t *syntax.ToolTable) bool {
		return t.Schema != nil && t.Schema.Location().Member([]byte(at[0])).Kind == schema.DeclaredName
	})
}

// ignored reports whether a pointer in a rule's ignores leads to a value or a container of it.
func ignored(ignores []jsonstream.Pointer, pointer string) bool {
	at, err := jsonstream.ParsePointer(pointer)
	return err == nil && slices.ContainsFunc(ignores, func(p jsonstream.Pointer) bool {
		if len(p) > len(at) {
			return false
		}
		for i, token := range p {
			if token != at[i] && token != "*" {
				return false
			}
		}
		return true
	})
}

// modeOf returns the mode of a rule, given the values that it does not cover.
func (s *state) modeOf(r int32) stopgate.Mode {
	if len(s.uncovered) > 0 && s.lacking(r) != nil {
		return s.plan.lists[s.plan.rules[r].list].uncovered
	}
	return s.plan.rules[r].mode
}

// walkUncovered is walk for a list of which some permits do not cover the call.
func (s *state) walkUncovered(i int) {
	l, st := &s.plan.lists[i], &s.lists[i]
	st.low, st.high = s.possible(l, l.first, noLane)
	for st.cursor = l.first; st.cursor < l.end && s.phaseOf(st.cursor, noLane) == failed; {
		st.cursor++
	}
	for st.end = st.cursor; st.end < l.end && s.phaseOf(st.end, noLane) != holds; {
		st.end++
	}
	st.holds = st.cursor < l.end && st.cursor == st.end
}

// lacksCover returns the value because of which the list's verdict is not that of its permit.
func (e *decision) lacksCover(i int) *uncoveredLeaf {
	l, st := &e.plan.lists[i], &e.lists[i]
	if len(e.uncovered) == 0 || !l.coverage || st.low != l.uncovered || st.cursor >= l.end {
		return nil
	}
	return e.lacking(st.cursor)
}

// notCovered is the public text for a parameter without cover, with the remedy.
func notCovered(pointer string) string {
	if !plain(pointer) {
		return stopgate.CodeParameterNotCovered.Public()
	}
	name, _, _ := strings.Cut(pointer[1:], "/")
	return "No rule looks at " + pointer + " and no table declares it; leave it out, or declare it (parameters." + name +
		` = { type = "path" }, or what it is), write a rule for it, or name it in ignores.`
}
