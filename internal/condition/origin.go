package condition

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/schema"
)

// Source returns the name of a source of a file in this environment, as texts and queries have it.
// Built-in sources are the same for all files.
func (e *Env) Source(name flow.Source) flow.Source {
	switch name {
	case flow.User, flow.System, flow.Tool, flow.Hidden, flow.Untrusted:
		return name
	}
	return name + flow.Source(e.Scope)
}

// OriginTest evaluates where a complete value comes from, by the texts of its session.
type OriginTest interface {
	ValueTest
	// Origin evaluates a value of a type: the text of a string, the JSON text of a number or a
	// boolean.
	Origin(v *Value, t schema.Type) Origin
	// First returns the first text of any source that has the value, for explanations.
	First(v *Value, t schema.Type) flow.Ref
	// Query returns the sources that the condition names, and whether the value must be from none of
	// them.
	Query() (sources []flow.Source, not bool)
}

// Origin is the result of a condition on the origin of a value.
type Origin struct {
	Holds bool
	// Doubt is why the result follows from a text that is not known, 0 if it follows from those that
	// are.
	Doubt flow.Doubt
	// Texts are the numbers of the texts that certainly have the value; there may be others.
	Texts []int
	// Ref is the first text of the sources that has the value.
	Ref flow.Ref
}
