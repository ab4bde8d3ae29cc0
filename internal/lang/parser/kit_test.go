package parser_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// parse parses a policy that must not have mistakes.
func parse(t testing.TB, text string) *syntax.File {
	t.Helper()
	p, diags := parser.Parse(kinds.Table(), "stopgate.toml", []byte(text))
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, text)
	}
	return p
}

// check returns the diagnostics of the parser and of the checker.
func findings(name string, text []byte, o policy.Options) diag.List {
	p, list := parser.Parse(kinds.Table(), name, text)
	if p != nil {
		list = append(list, prove.Check(p, o)...)
	}
	return list
}
