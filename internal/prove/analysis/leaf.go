package analysis

import (
	"maps"

	"github.com/stopgate/stopgate/jsonstream"
)

// status is the result of a search.
type status uint8

// The zero status is unknown.
const (
	unknown status = iota
	found
	absent // proved: there is none
)

// blame is a set of rules that a proof rests on: of several lists, by a rule's
// index and the number of its list.
type blame map[ruleID]bool

type ruleID struct {
	list int
	rule int32
}

func (b blame) add(other blame) { maps.Copy(b, other) }

// taken is a column of earlier rules whose values are taken away: those below limit.
type taken struct {
	list   int
	column *column
	limit  int32
}

// leafQuery asks for a value of a variable that satisfies some conditions, none of
// others, and none of the rules in some columns.
type leafQuery struct {
	variable *Variable
	in       []*Condition
	out      []*Condition
	taken    []taken
	blame    blame // filled when there is none
}

// leaf searches a value.
func (s *solver) leaf(q *leafQuery) (Value, status) {
	q.blame = blame{}
	for _, k := range q.out {
		if k.Set.Every {
			return Value{}, absent
		}
	}
	for _, t := range q.taken {
		if c := t.column; c.every != none && c.every < t.limit {
			q.blame[ruleID{t.list, c.every}] = true
			return Value{}, absent
		}
	}
	d := &q.variable.Domain
	if d.Enum != nil {
		return s.listed(q, d.Enum)
	}
	result := absent
	var second *Value // a value that is not welcome
	for _, kind := range []struct {
		possible bool
		search   func(*leafQuery) (Value, status)
	}{{d.Text, s.text}, {d.Number, s.number}, {d.Boolean, s.boolean}, {d.Object, s.object}} {
		if !kind.possible {
			continue
		}
		switch v, st := kind.search(q); st {
		case found:
			if q.variable.welcomes(v) {
				return v, found
			}
			if second == nil {
				second = &v
			}
		case unknown:
			result = unknown
		}
	}
	if second != nil {
		return *second, found
	}
	return Value{}, result
}

func (v *Variable) admits(x Value) bool { return v.Domain.Admits == nil || v.Domain.Admits(x) }

func (v *Variable) welcomes(x Value) bool { return v.Domain.Welcome == nil || v.Domain.Welcome(x) }

// passes reports whether a value satisfies a query. Of a value that an earlier rule takes it
// notes the rule.
func (q *leafQuery) passes(v Value) bool {
	odd := q.variable.Domain.odd(v)
	for _, k := range q.in {
		if !k.has(v, odd) {
			return false
		}
	}
	for _, k := range q.out {
		if k.has(v, odd) {
			return false
		}
	}
	for _, t := range q.taken {
		if rule := t.column.first(v, odd, t.limit); rule != none {
			q.blame[ruleID{t.list, rule}] = true
			return false
		}
	}
	return q.variable.admits(v)
}

// listed tries every value of a list. If it holds all there are, none is a proof.
func (s *solver) listed(q *leafQuery, values []Value) (Value, status) {
	var second *Value
	for _, v := range values {
		if !q.passes(v) {
			continue
		}
		if q.variable.welcomes(v) {
			return v, found
		}
		if second == nil {
			second = &v
		}
	}
	if second != nil {
		return *second, found
	}
	return Value{}, absent
}

func (s *solver) boolean(q *leafQuery) (Value, status) {
	return s.listed(q, []Value{{Kind: Boolean}, {Kind: Boolean, True: true}})
}

// object tries the objects that conditions name and a few others; that there is no
// other one cannot be proved but by naming all.
func (s *solver) object(q *leafQuery) (Value, status) {
	var values []Value
	complete := false
	for _, k := range q.in {
		if k.Named.Every {
			continue
		}
		complete = true
		for _, text := range k.Named.Objects {
			values = append(values, Value{Kind: Object, Text: text})
		}
	}
	if !complete {
		for _, text := range []string{"{}", `{"x":1}`, `{"x":"q7"}`} {
			values = append(values, Value{Kind: Object, Text: text})
		}
	}
	v, st := s.listed(q, values)
	if st == absent && !complete {
		st = unknown
	}
	return v, st
}

// number searches by interval algebra: the numbers that the ranges leave, without the points.
func (s *solver) number(q *leafQuery) (Value, status) {
	left := []Interval{Everything}
	if q.variable.Domain.Intervals != nil {
		left = q.variable.Domain.Intervals
	}
	for _, k := range q.in {
		if !k.Named.Every {
			left = intersect(left, k.Named.Intervals)
		}
	}
	for _, k := range q.out {
		for _, in := range k.Set.Intervals {
			left = subtract(left, in)
		}
	}
	points := 0
	for _, t := range q.taken {
		left = s.withoutRanges(q, left, t)
		points += len(t.column.points)
	}
	complete := true
	for _, in := range left {
		var hit *Value
		tried := 0
		all := in.samples(q.variable.Domain.Whole, func(d jsonstream.Decimal) bool {
			v := Value{Kind: Number, Number: d}
			if q.passes(v) {
				hit = &v
				return false
			}
			tried++
			return tried < points+200
		})
		if hit != nil {
			return *hit, found
		}
		complete = complete && all
	}
	if complete {
		return Value{}, absent
	}
	return Value{}, unknown
}

// withoutRanges takes away the ranges of a column, and notes the rules that took
// something.
func (s *solver) withoutRanges(q *leafQuery, left []Interval, t taken) []Interval {
	take := func(rule int32, in Interval) {
		if len(intersect(left, []Interval{in})) > 0 {
			q.blame[ruleID{t.list, rule}] = true
			left = subtract(left, in)
		}
	}
	if e, ok := reach(t.column.ups, t.limit); ok {
		take(e.owner, Interval{e.cut, AboveAll})
	}
	if e, ok := reach(t.column.downs, t.limit); ok {
		take(e.owner, Interval{BelowAll, e.cut})
	}
	for _, e := range t.column.between {
		if e.rule >= t.limit {
			break
		}
		for _, in := range e.condition.Set.Intervals {
			take(e.rule, in)
		}
	}
	return left
}
