package syntax_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
)

// parse reads a policy that has no mistakes.
func parse(t testing.TB, text string) *syntax.File {
	t.Helper()
	p, diags := syntax.Parse("stopgate.toml", []byte(text))
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, text)
	}
	return p
}

// check reads a policy and returns all that is said about it, also by those who know
// what it means.
func check(name string, text []byte, o policy.Options) diag.List {
	p, list := syntax.Parse(name, text)
	if p != nil {
		list = append(list, policy.Check(p, o)...)
	}
	return list
}
