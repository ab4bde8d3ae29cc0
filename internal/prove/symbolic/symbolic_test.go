package symbolic_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy/bind"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/schema"
)

// bound reads a policy for one tool, whose rules fit its parameters, and binds them.
func bound(t *testing.T, text string) (*schema.Schema, []*symbolic.Rule) {
	t.Helper()
	file, list := parser.Parse(kinds.Table(), "p.toml", []byte("version = 1\n"+text))
	if list.HasErrors() {
		t.Fatal(list)
	}
	s := file.Tools[0].Schema
	b := &bind.Binder{File: file}
	l := &bind.List{Owner: file.Tools[0], Tool: &bind.Tool{Name: file.Tools[0].Name, Schema: s}}
	var rules []*bind.Rule
	for _, r := range file.Tools[0].Run.Rules {
		out, ok := b.Rule(l, r)
		if !ok {
			t.Fatal(b.Found)
		}
		rules = append(rules, out)
	}
	return s, new(symbolic.Memory).Rules(rules)
}

// Proves D25-36, D25-39: a witness of a rule is arguments that fit the schema, with the
// parameters that it requires; no arguments are made up where none fit.
func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		name, parameters, rules string
		want                    []string // of each rule; "" if no call reaches it
	}{
		{"what is required beside", "s = { type = \"string\" }\nn = { type = \"integer\", required = true, minimum = 3 }",
			`{ arg = "/s", prefix = "ab", mode = "deny" }, { mode = "ask" }`, []string{`{"s":"ab","n":3}`, `{"n":3}`}},
		{"covered", `n = { type = "integer", required = true }`,
			`{ arg = "/n", minimum = 2, mode = "deny" }, { arg = "/n", const = 7, mode = "ask" }, { mode = "ask" }`, []string{`{"n":2}`, "", `{"n":0}`}},
		{"elements of an array", `l = { type = "array", items = { type = "string", enum = ["x", "y"] }, required = true, min_items = 2 }`,
			`{ arg = "/l", const = "x", mode = "unattended" }, { mode = "ask" }`, []string{`{"l":["x","x"]}`, `{"l":["y","y"]}`}},
		{"words of a command", `c = { type = "argv", required = true }`,
			`{ arg = "/c", prefix = "git log", mode = "deny" }, { mode = "ask" }`, []string{`{"c":["git","log"]}`, `{"c":[]}`}},
	} {
		s, rules := bound(t, "[tools.t.parameters]\n"+c.parameters+"\n[tools.t.policy]\nrun = [ "+c.rules+" ]\n")
		translation := symbolic.New(condition.Env{}, s)
		for i, f := range analysis.Reach(translation.List(rules), analysis.Budget{}) {
			text := ""
			if f.Answer == regular.Yes {
				args, ok := translation.Document(f.Witness)
				if !ok {
					t.Errorf("%s: rule %d: no document", c.name, i)
				}
				text = string(args)
			}
			if text != c.want[i] {
				t.Errorf("%s: rule %d: %s, want %s", c.name, i, text, c.want[i])
			}
		}
	}
}

// Proves K0c: the facts of a call that a rule needs are part of its witness.
func TestFacts(t *testing.T) {
	s, rules := bound(t, "[tools.t.parameters]\nx = { type = \"string\" }\n[tools.t.policy]\n"+
		"run = [ { when = { agent = \"triage\", server = \"git*\" }, mode = \"deny\" }, { when = { session = \"/mode\", const = 1 }, mode = \"unattended\" }, { mode = \"ask\" } ]\n")
	translation := symbolic.New(condition.Env{}, s)
	found := analysis.Reach(translation.List(rules), analysis.Budget{})
	var facts, other stopgate.Call
	translation.Facts(&facts, found[0].Witness)
	agent, surface, server, principal := string(facts.Agent), string(facts.Surface), string(facts.Server), string(facts.Principal)
	if agent != "triage" || surface != "" || server != "git" || principal != "" {
		t.Error(agent, surface, server, principal)
	}
	if translation.Facts(&other, found[2].Witness); other.Agent != "" {
		t.Errorf("the last rule needs agent %q", agent)
	}
	if met, not := translation.Situation(found[1].Witness), translation.Situation(found[2].Witness); met == not {
		t.Error("the session's data do not tell the rules apart")
	}
}
