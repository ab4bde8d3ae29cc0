package eval

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/condition/match"
)

// segment is one simple command of a value that has several, to be named in a verdict (K29). The
// zero segment is none.
type segment struct {
	index, of int32
	at        int64 // the byte that completed the value
	text      span
}

// segment returns a command of the value that has just ended.
func (e *leafTests) segment(n int) segment {
	line := e.line()
	if line.Commands() < 2 {
		return segment{}
	}
	e.object = line.AppendCommand(e.object[:0], n)
	return segment{int32(n), int32(line.Commands()), e.at, e.spine.keep(e.object)}
}

// condSegment is the command that decided a condition, the first rule of a mode in a bundle, or a rule
// in a bundle that is evaluated command by command.
type condSegment struct {
	cond, of int32
	segment
}

// decidedBy returns the command that decided a condition.
func (s *state) decidedBy(c, of int32) segment {
	for _, n := range slices.Backward(s.segments) { // an earlier rule may have come later
		if n.cond == c && n.of == of {
			return n.segment
		}
	}
	return segment{}
}

// segmentOf records the first command of the value for which a condition holds by the words of the
// command alone, if there is one.
func (e *leafTests) segmentOf(c, of int32, m *match.Matcher) {
	v := e.stringValue()
	for n := range e.line().Commands() {
		if m.NamesCommand(v, n) {
			e.segments = append(e.segments, condSegment{c, of, e.segment(n)})
			return
		}
	}
}

// names records the first command for which a restrictive condition holds on its own, of a bundle that
// of a rule: restrictive conditions also evaluate the line as written, which is the same for all.
func (e *leafTests) names(c, of int32, m *match.Matcher, v *condition.Value, n int) {
	if e.lanes.segment.of > 0 && !e.plan.conds[c].permissive && !slices.ContainsFunc(e.segments, func(g condSegment) bool { return g.cond == c && g.of == of && g.at == e.at }) &&
		m.NamesCommand(v, n) {
		e.segments = append(e.segments, condSegment{c, of, e.lanes.segment})
	}
}

// bundleSegments records which commands satisfied the rules of a bundle.
func (e *leafTests) bundleSegments(x *textTest) {
	if e.conds[x.test.cond].at != e.at {
		return
	}
	b := &e.bundles[e.plan.conds[x.test.cond].bundle]
	for mode, r := range e.hits.Of() {
		if r == literal.None || b.hit.Of()[mode] != r {
			continue
		}
		if m := x.index.Single(r); m != nil && m.JudgesCommands() {
			e.segmentOf(x.test.cond, int32(mode), m)
		}
	}
}

// segmentFor returns the command that made a rule hold, nil if its value has no others.
func (e *decision) segmentFor(r, lane int32) *stopgate.Segment {
	rule := &e.plan.rules[r]
	var of segment
	switch {
	case rule.commands && lane >= 0:
		of = e.lanes.all[lane].segment
		for i := range e.segments {
			if own := &e.segments[i]; rule.end-rule.first == 1 && own.cond == rule.first && (rule.own >= 0 || own.of == r) && own.at == of.at {
				of = own.segment
			}
		}
	case rule.own < 0:
		of = e.decidedBy(rule.first, int32(rule.mode))
	case rule.end > rule.first:
		of = e.decidedBy(rule.first, 0)
	}
	return of.shown(&e.spine)
}

// shown converts the segment to the form in verdicts, nil if there is none.
func (g segment) shown(p *spine) *stopgate.Segment {
	if g.of == 0 {
		return nil
	}
	return &stopgate.Segment{Index: int(g.index), Of: int(g.of), Text: string(p.pointer(g.text))}
}
