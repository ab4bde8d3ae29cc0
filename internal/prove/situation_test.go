package prove_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Proves K60, D25-39: check and diff report rules for some sessions correctly: a rule is dead
// after one with the same condition, and not after one with another.
func TestSessionsInAnalysis(t *testing.T) {
	const strict, lax = `when = { session = "/mode", const = "strict" }`, `when = { session = "/mode", const = "lax" }`
	file := func(rules string) string { return "version = 1\n[tools.t.policy]\nrun = [" + rules + "]\n" }
	for _, c := range []struct {
		name, rules string
		dead        bool
	}{
		{"the same", `{ ` + strict + `, mode = "deny" }, { ` + strict + `, mode = "ask" }, { mode = "skip" }`, true},
		{"another value", `{ ` + strict + `, mode = "deny" }, { ` + lax + `, mode = "ask" }, { mode = "skip" }`, false},
		{"everywhere, behind", `{ ` + strict + `, mode = "deny" }, { mode = "skip" }`, false},
		{"everywhere, above", `{ mode = "skip" }, { ` + strict + `, mode = "deny" }`, true},
		{"behind a permission", `{ ` + strict + `, mode = "unattended" }, { ` + strict + `, mode = "deny" }, { mode = "skip" }`, false},
	} {
		p, list := parser.Parse(kinds.Table(), "stopgate.toml", []byte(file(c.rules)))
		if p == nil || list.HasErrors() {
			t.Fatal(list)
		}
		dead := false
		for _, d := range prove.Check(p, policy.Options{}) {
			dead = dead || strings.Contains(d.Message, "can never match")
		}
		if dead != c.dead {
			t.Errorf("%s: dead %t, want %t", c.name, dead, c.dead)
		}
		for _, r := range prove.Reach(p, policy.Options{}) {
			if (r.Answer == regular.No) != (c.dead && r.Index == 1) {
				t.Errorf("%s: rule %d: %v", c.name, r.Index, r.Answer)
			}
		}
	}
}

// Proves K60, D25-28: mistakes in conditions on sessions are reported where they are.
func TestMistakesInSessionConditions(t *testing.T) {
	for _, c := range []struct{ when, want string }{
		{`{ session = "/mode" }`, "one matcher"},
		{`{ session = "mode", const = 1 }`, "not a JSON Pointer"},
		{`{ session = 7, const = 1 }`, "`session`"},
		{`{ session = "/mode", const = 1, minimum = 2 }`, "exactly one matcher"},
		{`{ session = "/mode", pattern = "(" }`, "not closed"},
		{`{ agent = "a", const = 1 }`, "const"},
		{`{ session = "/mode", const_in = "modes" }`, "no list"},
	} {
		_, err := compileOne("version = 1\n[[guard]]\nwhen = " + c.when + "\nmode = \"deny\"\n")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.when, err)
		}
	}
	one, _ := compileOne("version = 1\n[[guard]]\nwhen = { session = \"/a\", const = 1 }\nmode = \"deny\"\n")
	two, _ := compileOne("version = 1\n[[guard]]\nwhen = { session = \"/a\", const = 2 }\nmode = \"deny\"\n")
	if one == nil || two == nil || one.Hash() == two.Hash() {
		t.Error("the condition does not enter the hash")
	}
	const listed = "version = 1\n[lists]\nmodes = [\"a\", \"b\"]\n[[guard]]\non = \"path\"\nglob = \"x\"\nwhen = { agent = \"main\", session = \"/a\", const_in = \"modes\" }\nmode = \"deny\"\n"
	if p, err := compileOne(listed); p == nil || p.Hash() == one.Hash() {
		t.Error(err)
	}
}

func compileOne(text string) (*policy.Program, error) {
	p, list := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
	return p, list.Err()
}
