package protected_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/schema"
)

const restrictive = true

var (
	project = condition.Env{Root: "/srv/proj", Home: "/home/u"}
	nowhere = condition.Env{}
	expands = condition.Target{Type: schema.String, Annotation: schema.Path, Expands: true}
)

// spec returns a condition with one literal.
func spec(k condition.Kind, text string) condition.Spec {
	return condition.Spec{Kind: k, Values: []condition.Literal{{Kind: condition.LiteralString, Text: text}}}
}

func compile(tb testing.TB, s condition.Spec, t condition.Target, polarity bool, env condition.Env) *match.Matcher {
	tb.Helper()
	s.Definition = kinds.Table().Define(s.Kind)
	m, err := match.Compile(s, t, polarity, env)
	if err != nil {
		tb.Fatalf("compile %v: %v", s, err)
	}
	return m
}
