package policy_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/policy/syntax"
)

// Proves S24: check says which requirement waits for a success that nothing tells.
func TestSuccessUnknown(t *testing.T) {
	const rest = "version = 1\n[tools.deploy.policy]\nrun = \"ask\"\n[[session]]\ntype = \"require\"\nbefore = \"deploy\"\n"
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"nothing says it", rest + "requires = [\"test\", \"lint\", \"test\"]\n", 2},
		{"one says it", rest + "requires = [\"test\", \"lint\"]\n[tools.test]\nsuccess = { exit_code = \"/exit_code\" }\n", 1},
		{"a glob says it", rest + "requires = \"ci_test\"\n[tools.\"ci_*\"]\nsuccess = { pattern = \"^ok$\" }\n", 0},
		{"it does not matter", rest + "requires = \"test\"\naccept_unknown = true\n", 0},
		{"people say it", rest + "approvals = [\"deploy\"]\n", 0},
	} {
		p, mistakes := syntax.Parse("p.toml", []byte(c.text))
		if mistakes.HasErrors() {
			t.Fatalf("%s: %v", c.name, mistakes)
		}
		found := 0
		for _, d := range policy.Check(p, policy.Options{}) {
			if d.Code == diag.SuccessUnknown {
				found++
				if d.Code.Severity() != diag.Note || d.Range.Start.Line != 4 || !strings.Contains(d.Hint, "accept_unknown") {
					t.Errorf("%s: %+v", c.name, d)
				}
			}
		}
		if found != c.want {
			t.Errorf("%s: %d notes, want %d", c.name, found, c.want)
		}
	}
}

// Proves I10: a session policy of an unknown type hides no other mistake.
func TestUnknownSessionTypeHidesNothing(t *testing.T) {
	_, mistakes := syntax.Parse("p.toml", []byte(`version = 1
[[session]]
type = "requires"
name = 3
within = "soon"
befor = "deploy"
before = "deploy"
requires = "test"
max_calls = 1
[[session]]
when = 1
`))
	var lines []int
	for _, d := range mistakes {
		lines = append(lines, d.Range.Start.Line)
	}
	for _, want := range []int{3, 4, 5, 6, 10, 11} {
		found := false
		for _, line := range lines {
			found = found || line == want
		}
		if !found {
			t.Errorf("no mistake in line %d: %v", want, mistakes)
		}
	}
	if len(lines) != 6 {
		t.Errorf("%d mistakes: %v", len(lines), mistakes)
	}
}
