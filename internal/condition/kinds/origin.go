package kinds

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
)

var (
	occurrence = []condition.Option{
		{Key: "relation", Kind: condition.LiteralString, Words: flow.Relations(), Doc: "How closely the value and the text must agree: the value itself, the host that was named, at or below the path that was named."},
		{Key: "weak", Kind: condition.LiteralBool, Doc: "Short values, small numbers and common words have an origin, too."},
		{Key: "segments", Kind: condition.LiteralBool, Doc: "The segments of owner/name are evaluated one by one."},
	}
	carried = []condition.Option{
		{Key: "tokens", Kind: condition.LiteralNumber, Doc: "The number of words in a row that count as a part of a text."},
	}
)

// buildOrigin compiles conditions on sources for a session without texts: nothing is known of the
// origin of a value.
func buildOrigin(r condition.Request) (condition.Tests, *condition.SpecError) {
	fits := schema.String.Intersect(r.Target.Types())
	if fits == 0 {
		return condition.Tests{}, condition.Invalid(-1, "looks at strings", "")
	}
	return condition.Tests{Fits: fits, Text: unknownOrigin(r.Restrictive)}, nil
}

// unknownOrigin holds in rules that restrict.
type unknownOrigin bool

func (u unknownOrigin) Match([]byte) bool { return bool(u) }
