package inclusion_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/schema"
)

const (
	permissive  = false
	restrictive = true
)

var (
	project = condition.Env{Root: "/srv/proj", Home: "/home/u"}
	nowhere = condition.Env{}

	aString  = condition.Target{Type: schema.String}
	aPath    = condition.Target{Type: schema.String, Annotation: schema.Path}
	aCommand = condition.Target{Type: schema.String, Annotation: schema.Command}
	aURL     = condition.Target{Type: schema.String, Annotation: schema.URL}
	expands  = condition.Target{Type: schema.String, Annotation: schema.Path, Expands: true}
)

func texts(values ...string) []condition.Literal {
	var out []condition.Literal
	for _, v := range values {
		out = append(out, condition.Literal{Kind: condition.LiteralString, Text: v})
	}
	return out
}

// spec returns a condition on strings; several values come from a list.
func spec(k condition.Kind, values ...string) condition.Spec {
	s := condition.Spec{Kind: k, Values: texts(values...)}
	if len(values) > 1 {
		s.List = "list"
	}
	return s
}

func compile(tb testing.TB, s condition.Spec, t condition.Target, polarity bool, env condition.Env) *match.Matcher {
	tb.Helper()
	m, err := tryCompile(s, t, polarity, env)
	if err != nil {
		tb.Fatalf("compile %v: %v", s, err)
	}
	return m
}

// tryCompile compiles a condition by the table of kinds.
func tryCompile(s condition.Spec, t condition.Target, polarity bool, env condition.Env) (*match.Matcher, error) {
	s.Definition = kinds.Table().Define(s.Kind)
	return match.Compile(s, t, polarity, env)
}

func number(k condition.Kind, values ...string) condition.Spec {
	s := condition.Spec{Kind: k}
	for _, v := range values {
		s.Values = append(s.Values, condition.Literal{Kind: condition.LiteralNumber, Text: v, JSON: v})
	}
	return s
}

var (
	aNumber   = condition.Target{Type: schema.Number}
	anInteger = condition.Target{Type: schema.Integer}
)
