package match_test

import (
	"errors"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval/schema"
)

const (
	permissive  = false
	restrictive = true
)

var (
	project = match.Env{Root: "/srv/proj", Home: "/home/u"}
	nowhere = match.Env{}

	aString  = match.Target{Type: schema.String}
	aPath    = match.Target{Type: schema.String, Annotation: schema.Path}
	aCommand = match.Target{Type: schema.String, Annotation: schema.Command}
	aURL     = match.Target{Type: schema.String, Annotation: schema.URL}
	expands  = match.Target{Type: schema.String, Annotation: schema.Path, Expands: true}
)

func texts(values ...string) []match.Literal {
	var out []match.Literal
	for _, v := range values {
		out = append(out, match.Literal{Kind: match.LiteralString, Text: v})
	}
	return out
}

// spec returns a condition on strings; several values come from a list.
func spec(k match.Kind, values ...string) match.Spec {
	s := match.Spec{Kind: k, Values: texts(values...)}
	if len(values) > 1 {
		s.List = "list"
	}
	return s
}

func compile(tb testing.TB, s match.Spec, t match.Target, polarity bool, env match.Env) *match.Matcher {
	tb.Helper()
	m, err := match.Compile(s, t, polarity, env)
	if err != nil {
		tb.Fatalf("compile %v: %v", s, err)
	}
	return m
}

func specError(tb testing.TB, s match.Spec, t match.Target, polarity bool, env match.Env) *match.SpecError {
	tb.Helper()
	_, err := match.Compile(s, t, polarity, env)
	var bad *match.SpecError
	if !errors.As(err, &bad) {
		tb.Fatalf("compile %v: got %v, want a *SpecError", s, err)
	}
	return bad
}
