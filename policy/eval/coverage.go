package eval

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/syntax"
	"github.com/stopgate/stopgate/schema"
)

// A permit covers a string, list or object of a call if a parameter table declares it, if
// the permit looks at it or ignores it, or if a rule before it that restricts looks at it.
// Schemas of requests and servers cover nothing: who writes a request chooses the names in
// it. A permit that does not cover all of a call does not run it; see [syntax.File].

// uncoveredLeaf is a value that some permit does not cover.
type uncoveredLeaf struct {
	shape   *shape
	view    *view
	pointer string
}

// leafTime says when it is known that a value is one that needs cover.
type leafTime uint8

const (
	leafElsewhere leafTime = iota // what it holds is looked at, or nothing needs cover
	leafByKey                     // the schema allows strings, lists and objects only
	leafByValue                   // it may also be a number, a boolean or null
	leafIfString                  // members and elements are looked at one by one
)

// cover says whether the permits of a list need cover.
func (l *list) cover(v *Voice, kind syntax.ListKind, w *view) {
	l.view = w
	switch {
	case kind != syntax.RunList || v.Uncovered == syntax.ParamAllow || w.schema == nil:
	case v.Uncovered == syntax.ParamDeny:
		l.coverage, l.uncovered = true, stopgate.Deny
	default:
		l.coverage, l.uncovered = true, stopgate.Ask
	}
}

// many reports whether a list was not written for one tool by an operator who named it.
func many(v *Voice, table string) bool {
	return !v.Trusted || v.Embedded || syntax.IsGlob(table)
}

// cover says whether a rule needs cover. One without conditions in the table that an
// operator wrote for this tool permits the tool, whatever its parameters are.
func (r *rule) cover(l *list, ast *syntax.Rule, v *Voice, many bool) {
	r.covering = l.coverage && r.mode.Permissive() && (many || len(ast.Conditions) > 0)
	r.ignores = ast.Ignores
}

// covers finds the shapes whose values some permit does not cover.
func (g *grapher) covers() {
	tabled := make(map[*schema.Place]bool)
	for _, s := range g.order {
		if s == g.view.root || s.place.Tabled() {
			continue
		}
		types := typesOf(s.place.Types())
		inside := types&objectType != 0 && (len(s.deeper) > 0 || holdsTabled(s.place, tabled)) ||
			types&arrayType != 0 && !s.vector && (len(s.under) > 0 || holdsTabled(s.place, tabled))
		switch {
		case types&(stringType|objectType|arrayType) == 0 || !g.uncovered(s):
		case inside:
			s.leaf = leafIfString
		case types&^(stringType|objectType|arrayType) == 0:
			s.leaf = leafByKey
		default:
			s.leaf = leafByValue
		}
	}
}

// holdsTabled reports whether a parameter table declares something below a place.
func holdsTabled(p *schema.Place, known map[*schema.Place]bool) bool {
	if is, ok := known[p]; ok {
		return is
	}
	known[p] = false
	if p.Unknown() {
		return false
	}
	below := []*schema.Place{p.Items(), p.Others().Place}
	for _, d := range p.Properties() {
		below = append(below, d.Place)
	}
	known[p] = slices.ContainsFunc(below, func(q *schema.Place) bool { return q.Tabled() || holdsTabled(q, known) })
	return known[p]
}

// uncovered reports whether some permit does not cover the values of a shape.
func (g *grapher) uncovered(s *shape) bool {
	for i := range g.plan.lists {
		l := &g.plan.lists[i]
		if !l.coverage || l.view != g.view {
			continue
		}
		for r := l.first; r < l.end; r++ {
			if !g.plan.covered(r, s) {
				return true
			}
		}
	}
	return false
}

// covered reports whether a rule covers the values of a shape.
func (p *plan) covered(r int32, s *shape) bool {
	rule := &p.rules[r]
	if !rule.covering {
		return true
	}
	for i := range s.tests {
		t := &s.tests[i]
		k := &p.conds[t.cond]
		switch {
		case t.suspicion != nil || t.present || k.on != "" || t.fits&(stringType|objectType) == 0:
		case t.cond >= rule.first && t.cond < rule.end:
			return true
		case p.lists[k.list].guard && !k.permissive:
			return true
		case k.list != rule.list || k.permissive:
		case k.bundle >= 0 && p.bundles[k.bundle].rules[0] < r, k.bundle < 0 && k.rule < r:
			return true
		}
	}
	return false
}

// keyed takes a key whose value needs cover whatever it is.
func (w *walker) keyed(e *Evaluation, f *frame, s *shape) {
	w.named = f.cover
	if s != nil && s.leaf == leafByKey && !f.cover {
		w.named = true
		e.lack(w.view, s)
	}
}

// told reports whether the value that begins needs no further look, and forgets the key.
func (w *walker) told() bool {
	if n := len(w.frames); n > 0 && w.frames[n-1].array {
		return w.frames[n-1].cover
	}
	told := w.named
	w.named = false
	return told
}

// spelled takes a string that begins.
func (w *walker) spelled(e *Evaluation, s *shape) {
	if !w.told() && s.leaf != leafElsewhere {
		e.lack(w.view, s)
	}
}

// contained takes a list or object that begins, and reports whether nothing in it needs
// cover of its own.
func (w *walker) contained(e *Evaluation, s *shape) bool {
	if w.told() {
		return true
	}
	switch s.leaf {
	case leafByKey, leafByValue:
		e.lack(w.view, s)
		return true
	}
	return s.place.Tabled()
}

// lack notes a value that some permit does not cover.
func (e *Evaluation) lack(w *view, s *shape) {
	if e.probing {
		return
	}
	e.uncovered = append(e.uncovered, uncoveredLeaf{s, w, e.here()})
	for i := range e.plan.lists {
		if l := &e.plan.lists[i]; l.coverage && l.view == w {
			e.lists[i].dirty, e.dirty = true, true
		}
	}
}

// lacking is the first value of the call that a rule does not cover, nil if there is none.
func (s *state) lacking(r int32) *uncoveredLeaf {
	rule := &s.plan.rules[r]
	if !rule.covering {
		return nil
	}
	for i := range s.uncovered {
		u := &s.uncovered[i]
		if u.view == s.plan.lists[rule.list].view && !s.plan.covered(r, u.shape) && !ignored(rule.ignores, u.pointer) {
			return u
		}
	}
	return nil
}

// ignored reports whether one of some pointers of a rule leads to a value or above it.
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

// modeOf is what a rule answers, given what it does not cover.
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
	st.end = st.cursor
	for st.end < l.end && s.phaseOf(st.end, noLane) != holds {
		st.end++
	}
	st.holds = st.cursor < l.end && st.cursor == st.end
}

// lacksCover is the value for which the list's verdict is not that of its permit.
func (e *Evaluation) lacksCover(i int) *uncoveredLeaf {
	l, st := &e.plan.lists[i], &e.lists[i]
	if len(e.uncovered) == 0 || !l.coverage || st.low != l.uncovered || st.cursor >= l.end {
		return nil
	}
	return e.lacking(st.cursor)
}

// notCovered is the sentence for a parameter without cover.
func notCovered(pointer string) string {
	if !plain(pointer) {
		return stopgate.CodeParameterNotCovered.Public()
	}
	return detailed(stopgate.CodeParameterNotCovered, pointer)
}
