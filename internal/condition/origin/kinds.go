package origin

import (
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/weburl"
	"github.com/stopgate/stopgate/internal/schema"
)

// The rows of the table of kinds.
var (
	// From is the row of from.
	From = condition.Definition{Kind: condition.From, Types: condition.AnyType, Undeclared: asText, Values: condition.OneOrMany, Sources: true, Options: occurrence, Build: build,
		Doc: "The value occurs in texts of these sources."}
	// NotFrom is the row of not_from.
	NotFrom = condition.Definition{Kind: condition.NotFrom, Types: condition.AnyType, Undeclared: asText, Values: condition.OneOrMany, Sources: true, Excludes: true, Options: occurrence, Build: build,
		Doc: "The value occurs in no text of these sources."}
	// Carries is the row of carries.
	Carries = condition.Definition{Kind: condition.Carries, Types: condition.AnyType, Undeclared: asText, Values: condition.OneOrMany, Sources: true, Options: carried, Build: build,
		Doc: "The value holds a part of a text of these sources. Only in rules that restrict."}
)

var asText = []schema.Annotation{schema.None}

// The further keys of the conditions.
var (
	occurrence = []condition.Option{
		{Key: "relation", Kind: condition.LiteralString, Words: flow.Relations(), Doc: "How closely the value and the text must agree: the value itself, the host that was named, at or below the path that was named."},
		{Key: "weak", Kind: condition.LiteralBool, Doc: "Short values, small numbers and common words have an origin, too."},
		{Key: "segments", Kind: condition.LiteralBool, Doc: "The segments of owner/name are evaluated one by one."},
	}
	carried = []condition.Option{
		{Key: "tokens", Kind: condition.LiteralNumber, Doc: "The number of words in a row that count as a part of a text."},
		{Key: "unknown", Kind: condition.LiteralString, Words: []string{"ignore"}, Doc: "What counts where texts of the sources are not known: without it every value may carry them, with ignore none does."},
	}
)

// Tokens is the default of tokens, and maxTokens its limit.
const (
	Tokens    = 8
	maxTokens = 1000
)

// build compiles a condition. The values that it fits are those that can occur in a text.
func build(r condition.Request) (tests condition.Tests, err *condition.SpecError) {
	t := test{kind: r.Spec.Kind, restrictive: r.Restrictive}
	if err := t.read(&r); err != nil {
		return tests, err
	}
	tests.Fits = schema.String | schema.Number | schema.Integer | schema.Boolean
	switch {
	case r.Target.Annotation == schema.Command:
		if r.CheckOnly && !r.Restrictive && t.kind != condition.Carries {
			return tests, condition.Invalid(-1, "does not look at command lines in a rule that lets calls run", "name the commands that may run, with usage or prefix")
		}
		tests.Text = &lineTest{t}
	case !r.Restrictive && r.Target.Annotation == schema.Path:
		t.plain = plainPath(r)
		tests.Text = &t
	case !r.Restrictive && r.Target.Annotation == schema.URL:
		t.plain = weburl.IsPlainURL
		tests.Text = &t
	default:
		tests.Text = &t
	}
	return tests, nil
}

// read sets the query of a condition.
func (t *test) read(r *condition.Request) *condition.SpecError {
	q := &t.query
	q.Kind = kindOf(&r.Target)
	q.Sure = r.Restrictive == (t.kind == condition.NotFrom) // what is only suspected does not count
	for _, name := range r.Spec.Values {
		q.Sources = append(q.Sources, r.Env.Source(flow.Source(name.Text)))
	}
	for _, name := range strings.Split(r.Env.Trusted, "\n") {
		if name != "" {
			q.Trusted = append(q.Trusted, flow.Source(name))
		}
	}
	option := func(key string) string { v, _ := r.Spec.Option(key); return v.Text }
	for i, name := range flow.Relations() {
		if option("relation") == name {
			q.Relation = flow.Relation(i)
		}
	}
	t.known = option("unknown") == "ignore"
	q.Weak, q.Segments = option("weak") == "true", option("segments") == "true"
	if q.Tokens = Tokens; option("tokens") != "" {
		n, err := strconv.Atoi(option("tokens"))
		if err != nil || n < 1 || n > maxTokens {
			return condition.Invalid(-1, "has `tokens` that are no number from 1 to "+strconv.Itoa(maxTokens), "")
		}
		q.Tokens = n
	}
	if t.number, t.word = *q, *q; r.Target.As == flow.Text {
		t.number.Kind = flow.Number
	}
	t.word.Kind = flow.Text
	return nil
}

// kindOf returns how the strings of a target are compared: as the schema states, else as the reading
// of the string is.
func kindOf(t *condition.Target) flow.Kind {
	switch {
	case t.As != flow.Text:
		return t.As
	case t.Annotation == schema.Path:
		return flow.Path
	case t.Annotation == schema.URL:
		return flow.URL
	}
	return flow.Text
}

// plainPath returns the function that reports whether a path has one reading only.
func plainPath(r condition.Request) func(text []byte) bool {
	c := pathform.NewContext(*r.Env, r.Target.Expands, false)
	return c.Plain
}
