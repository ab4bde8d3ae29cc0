package origin

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
)

// test is one condition on values that are no command lines.
type test struct {
	kind        condition.Kind
	restrictive bool
	// query is that of strings, number that of numbers, word that of booleans and of the words of
	// command lines.
	query, number, word flow.Query
	// known is set if a text that is not known carries nothing.
	known bool
	// plain, if set, reports whether a string has one reading only: a permissive condition needs it.
	plain func(text []byte) bool
}

var _ condition.OriginTest = (*test)(nil)

// Match evaluates a value of which no texts are known.
func (t *test) Match([]byte) bool { return t.restrictive && !t.known }

// Judge evaluates a string.
func (t *test) Judge(v *condition.Value) bool { return t.Origin(v, schema.String).Holds }

// Query implements [condition.OriginTest].
func (t *test) Query() (sources []flow.Source, not bool) {
	return t.query.Sources, t.kind == condition.NotFrom
}

// Origin implements [condition.OriginTest].
func (t *test) Origin(v *condition.Value, of schema.Type) condition.Origin {
	if t.plain != nil && of == schema.String && !t.plain(v.Text()) {
		return condition.Origin{}
	}
	f := t.find(v.Texts(), v.Text(), t.queryFor(of))
	return t.result(&f)
}

// First implements [condition.OriginTest].
func (t *test) First(v *condition.Value, of schema.Type) flow.Ref {
	if v.Texts() == nil {
		return flow.Ref{}
	}
	return v.Texts().Origin(v.Text(), t.queryFor(of).Kind)
}

// queryFor returns the query of values of a type.
func (t *test) queryFor(of schema.Type) *flow.Query {
	switch of {
	case schema.String:
		return &t.query
	case schema.Boolean:
		return &t.word
	}
	return &t.number
}

// unknown is the finding where no texts are known.
var unknown = flow.Finding{Possible: true, Doubt: flow.Unreported}

// find returns where a text occurs, or of which texts it carries a part.
func (t *test) find(texts flow.View, value []byte, q *flow.Query) flow.Finding {
	if texts == nil {
		return unknown
	}
	var f flow.Finding
	if t.kind == condition.Carries {
		f = texts.Carries(value, q)
	} else {
		f = texts.Find(value, q)
	}
	f.Possible = f.Possible || f.Certain || f.Doubt != 0
	return f
}

// result is the result of the condition for a finding.
func (t *test) result(f *flow.Finding) condition.Origin {
	out := condition.Origin{Texts: f.Texts, Ref: f.First}
	sure := false // the result does not follow from a doubt
	switch {
	case t.kind == condition.NotFrom && t.restrictive:
		out.Holds, sure = !f.Certain, f.Certain
	case t.kind == condition.NotFrom:
		out.Holds, sure = !f.Possible, f.First.Number > 0
	case t.restrictive && t.known:
		sure = f.Certain || f.First.Number > 0
		out.Holds = sure || f.Possible && f.Doubt&flow.Unreported == 0
	case t.restrictive:
		out.Holds, sure = f.Possible, f.Certain || f.First.Number > 0
	default:
		out.Holds, sure = f.Certain, f.Certain
	}
	if !sure {
		out.Doubt = f.Doubt
	}
	return out
}
