package prove_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// A source that is known to have no mistakes is not checked; all others are, and one that
// cannot be parsed stays an error.
func TestCompileLeavesOutWhatIsChecked(t *testing.T) {
	// The second rule is one that nothing reaches: a mistake in a strict file, and harmless.
	never := policy.Source{Name: "a.toml", Trusted: true, Text: []byte("version = 1\n[gate]\nstrict = true\n[tools.t]\nparameters.n = { type = \"string\" }\n[tools.t.policy]\n" +
		"run = [{ arg = \"/n\", prefix = \"a\", mode = \"unattended\" }, { arg = \"/n\", prefix = \"ab\", mode = \"unattended\" }]\n")}
	broken := policy.Source{Name: "b.toml", Trusted: true, Text: []byte("version = 1\n[tools.t\n")}
	if p, mistakes := prove.Compile([]policy.Source{never}, policy.Options{}); p != nil || !mistakes.HasErrors() {
		t.Fatalf("the policy of this test has no mistake: %v", mistakes)
	}
	if file, mistakes := parser.Parse(kinds.Table(), never.Name, never.Text); file == nil || mistakes.HasErrors() {
		t.Fatalf("its text cannot be read: %v", mistakes)
	}
	asked := 0
	known := policy.Options{Checked: func(policy.Source) bool { asked++; return true }}
	if p, mistakes := prove.Compile([]policy.Source{broken}, known); p != nil || !mistakes.HasErrors() {
		t.Error("a text that cannot be read was compiled")
	}
	if asked != 0 {
		t.Error("asked about a text that cannot be read")
	}
	if p, mistakes := prove.Compile([]policy.Source{never}, known); p == nil || mistakes.HasErrors() || asked != 1 {
		t.Errorf("a policy that is known is checked: %v, asked %d times", mistakes, asked)
	}
	no := policy.Options{Checked: func(policy.Source) bool { return false }}
	if p, _ := prove.Compile([]policy.Source{never}, no); p != nil {
		t.Error("a policy that is not known is not checked")
	}
}
