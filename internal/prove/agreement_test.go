package prove_test

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/testkit/golden"
)

// Proves D25-32: check and the evaluator agree about which rules fit a schema. A policy
// that check accepts for its tools is never invalid for them when a call comes.
func TestCheckAndBindAgree(t *testing.T) {
	names, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"host": `version = 1
[tools.fetch.policy]
run = [ { arg = "/url", host = "example.com", mode = "unattended" }, { arg = "/url", scheme = "http", mode = "deny" }, { mode = "ask" } ]
`}
	tools := map[string][]stopgate.ToolDefinition{}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = golden.Part(archive, "policy.toml")
		tools[name] = definitions(t, golden.Part(archive, "tools.json"))
	}
	judged := 0
	for name, text := range texts {
		program, list := prove.Compile([]policy.Source{{Name: name, Text: []byte(text), Trusted: true}}, policy.Options{Definitions: tools[name]})
		if list.HasErrors() {
			continue
		}
		calls := []stopgate.Call{}
		for i := range tools[name] {
			calls = append(calls, stopgate.Call{Tool: tools[name][i].Name, Definition: &tools[name][i]})
		}
		file, _ := parser.Parse(kinds.Table(), name, []byte(text))
		for _, table := range file.Tools {
			calls = append(calls, stopgate.Call{Tool: stopgate.ToolName(table.Name)})
		}
		for _, call := range calls {
			judged++
			if v := program.Bind(call).Evaluate().Verdict(); v.Code == stopgate.CodePolicyInvalidForSchema {
				t.Errorf("%s: check accepts what the evaluator refuses for %s", name, call.Tool)
			}
		}
	}
	if judged < 10 {
		t.Errorf("only %d calls were judged", judged)
	}
}

// Proves D25-33: a file in which only a proof finds a mistake needs one, so that a program without
// proofs leaves it to another one.
func TestNeedsProof(t *testing.T) {
	names, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{`version = 1
[tools.t.parameters]
x = { type = "string", enum = ["a"] }
[tools.t.policy]
run = [ { arg = "/x", const = "b", mode = "ask" } ]
`, `version = 1
[tools.t.policy]
result = [ { mode = "ask" }, { mode = "deny" } ]
`}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, golden.Part(archive, "policy.toml"))
	}
	found := 0
	for _, text := range texts {
		s := policy.Source{Name: "stopgate.toml", Text: []byte(text), Trusted: true}
		_, proved := prove.Compile([]policy.Source{s}, policy.Options{})
		_, unproved := policy.Compile([]policy.Source{s}, policy.Options{})
		if proved.HasErrors() && !unproved.HasErrors() {
			found++
			if !policy.NeedsProof(s) {
				t.Errorf("no proof is needed to find %v in\n%s", proved.Errors(), text)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d files have mistakes that a proof finds", found)
	}
	if alone := []byte("version = 1\n[tools.t]\npolicy.run = \"ask\"\n"); policy.NeedsProof(policy.Source{Name: "stopgate.toml", Text: alone}) {
		t.Error("a rule for everything needs a proof")
	}
}
