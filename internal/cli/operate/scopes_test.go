package operate

import (
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// Proves H10: at the start each session policy says how many tools it governs, and one
// that governs none says that too.
func TestScopes(t *testing.T) {
	const text = `version = 1
[tools.deploy_eu.policy]
run = "ask"
[tools.deploy_us.policy]
run = "ask"
[tools.test.policy]
run = "ask"
[[session]]
type = "require"
name = "ship"
before = "deploy_*"
requires = "test"
[[session]]
type = "limit"
name = "misspelt"
tools = "deplyo"
max_calls = 1
[[session]]
type = "limit"
name = "one"
tools = "test"
max_calls = 1
`
	program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
	if mistakes.HasErrors() {
		t.Fatal(mistakes)
	}
	want := []string{
		"session policy ship governs 3 tools of the policy file",
		"session policy misspelt governs 0 tools of the policy file",
		"session policy one governs 1 tool of the policy file",
	}
	if got := scopes(program); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
