package prove_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// Proves S40, D25-38: check knows patches: a guard on paths applies to them, and no rule on a
// patch is reported as unreachable that is reached.
func TestCheckKnowsPatches(t *testing.T) {
	for _, text := range []string{
		"version = 1\n[tools.p.parameters]\ninput = { type = \"patch\", required = true }\n[tools.p.policy]\nrun = [ { arg = \"/input\", prefix = \"src\", mode = \"unattended\" }, { mode = \"ask\" } ]\n" +
			"[[guard]]\non = \"path\"\nglob = \"**/.env*\"\nmode = \"deny\"\n",
		"version = 1\n[tools.p.parameters]\ninput = { type = \"patch\" }\n[tools.p.policy]\nrun = [ { arg = \"/input\", glob = \"**/*.pem\", mode = \"deny\" }, " +
			"{ arg = \"/input\", prefix = \"src\", mode = \"unattended\" }, { arg = \"/input\", const = \"a\", mode = \"unattended\" }, { mode = \"ask\" } ]\n",
	} {
		_, list := prove.Compile([]policy.Source{{Name: "p", Text: []byte(text), Trusted: true}}, policy.Options{})
		for _, d := range list {
			if d.Severity != diag.Note {
				t.Errorf("%v", d)
			}
		}
	}
}

// Proves S40, D25-15: rules apply to a vector, not to its words; proofs about rules on command
// lines hold for vectors too, and their witnesses are vectors.
func TestCheckKnowsVectors(t *testing.T) {
	text := `version = 1
[tools.t.parameters]
command = { type = "argv", required = true }
[tools.t.policy]
run = [
  { arg = "/command", prefix = "git", mode = "ask" },
  { arg = "/command", prefix = "git log", mode = "deny" },
  { arg = "/command", usage = "ls [-l] **", mode = "unattended" },
  { mode = "ask" },
]
[[guard]]
on = "path"
glob = "**/.env"
mode = "deny"
`
	file, _ := parser.Parse(kinds.Table(), "p", []byte(text))
	list := prove.Check(file, policy.Options{})
	var errors []string
	for _, d := range list {
		if d.Severity == diag.Note {
			continue
		}
		errors = append(errors, d.Message)
	}
	if len(errors) != 1 || !strings.HasPrefix(errors[0], "rule 2 can never match") {
		t.Errorf("%q", errors)
	}
	for _, r := range prove.Reach(file, policy.Options{}) {
		switch r.Index {
		case 0:
			if string(r.Witness.Args) != `{"command":["git"]}` {
				t.Errorf("witness of rule 1: %s", r.Witness.Args)
			}
		case 2:
			if string(r.Witness.Args) != `{"command":["ls"]}` {
				t.Errorf("witness of rule 3: %s", r.Witness.Args)
			}
		}
	}
	_, list = prove.Compile([]policy.Source{{Name: "p", Text: []byte(strings.Replace(text, `"/command", prefix = "git"`, `"/command/*", prefix = "git"`, 1)), Trusted: true}}, policy.Options{})
	if !list.HasErrors() || !strings.Contains(list[0].Message, "the words of an argument vector are one command") {
		t.Errorf("a rule on words: %v", list)
	}
}

// Proves that `below` is for guards on paths only.
func TestBelowIsForPaths(t *testing.T) {
	for _, guard := range []string{"on = \"url\"\nhost = \"x\"\nbelow = \"ask\"", "on = \"path\"\nglob = \"x\"\nbelow = \"deny\""} {
		_, list := prove.Compile([]policy.Source{{Name: "p", Text: []byte("version = 1\n[[guard]]\n" + guard + "\nmode = \"deny\"\n"), Trusted: true}}, policy.Options{})
		if !list.HasErrors() {
			t.Errorf("%s: no error", guard)
		}
	}
}
