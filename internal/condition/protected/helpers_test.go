package protected_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval/schema"
)

const restrictive = true

var (
	project = match.Env{Root: "/srv/proj", Home: "/home/u"}
	nowhere = match.Env{}
	expands = match.Target{Type: schema.String, Annotation: schema.Path, Expands: true}
)

// spec returns a condition with one literal.
func spec(k match.Kind, text string) match.Spec {
	return match.Spec{Kind: k, Values: []match.Literal{{Kind: match.LiteralString, Text: text}}}
}

func compile(tb testing.TB, s match.Spec, t match.Target, polarity bool, env match.Env) *match.Matcher {
	tb.Helper()
	m, err := match.Compile(s, t, polarity, env)
	if err != nil {
		tb.Fatalf("compile %v: %v", s, err)
	}
	return m
}
