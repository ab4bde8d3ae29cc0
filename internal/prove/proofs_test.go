package prove_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// proof is a list of rules over some parameters, with the expected findings: the rules that
// nothing reaches because of others, and those that hold for no value of the schema.
type proof struct {
	name, parameters, rules string
	dead, never             string // numbers of rules from 1
}

func (p proof) run(t *testing.T) {
	t.Helper()
	text := "version = 1\n[tools.t.parameters]\n" + p.parameters + "\n[tools.t.policy]\nrun = [\n" + p.rules + "\n]\n"
	file, list := parser.Parse(kinds.Table(), "p.toml", []byte(text))
	if file == nil || list.HasErrors() {
		t.Fatal(list)
	}
	first := 0
	for i, line := range strings.Split(text, "\n") {
		if line == "run = [" {
			first = i + 1
		}
	}
	var dead, never []string
	for _, d := range prove.Check(file, policy.Options{}) {
		number := fmt.Sprint(d.Start.Line - first)
		switch d.Code {
		case diag.Unreachable:
			dead = append(dead, number)
		case diag.NeverHolds:
			never = append(never, number)
		case diag.NotProven:
			t.Errorf("not proven: %s", d.Message)
		default:
			if d.Severity == diag.Error {
				t.Errorf("%s: %s", d.Code, d.Message)
			}
		}
	}
	if got := strings.Join(dead, " "); got != p.dead {
		t.Errorf("dead: %q, want %q", got, p.dead)
	}
	if got := strings.Join(never, " "); got != p.never {
		t.Errorf("never hold: %q, want %q", got, p.never)
	}
	program, _ := policy.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: true}}, unchecked)
	for _, r := range prove.Reach(file, policy.Options{}) {
		if r.Answer != regular.Yes {
			continue
		}
		if r.Witness.Args == nil {
			t.Errorf("rule %d has no witness", r.Index+1)
			continue
		}
		v := final(program.Bind(r.Witness), r.Witness.Args)
		if v.Rule == nil || v.Rule.Index != r.Index {
			t.Errorf("%s does not reach rule %d: %s %s", r.Witness.Args, r.Index+1, v.Mode, v.Code)
		}
	}
}

// unchecked compiles policies that Check refuses: the evaluator has to be right for rules that no
// arguments reach, too.
var unchecked = policy.Options{Checked: func(policy.Source) bool { return true }}

// final evaluates complete arguments.
func final(b *eval.Binding, args []byte) stopgate.Verdict {
	e := b.Evaluate()
	e.Feed(args)
	return e.Close(stopgate.Ended)
}

// Proves D25-33, D25-34, D25-35, D25-36, D25-37, D25-38, K47: the table of single rules, by
// kinds of matchers and across them.
func TestProofsOfPairs(t *testing.T) {
	const s, n, p = `s = { type = "string", required = true }`, `n = { type = "integer", required = true }`, `p = { type = "path", required = true }`
	for _, c := range []proof{
		{"a catch-all above", s, `{ mode = "ask" },` + "\n" + `{ arg = "/s", const = "a", mode = "deny" }`, "2", ""},
		{"prefix and prefix", s, `{ arg = "/s", prefix = "ab", mode = "ask" },` + "\n" + `{ arg = "/s", prefix = "abc", mode = "deny" },` + "\n" + `{ arg = "/s", prefix = "a", mode = "deny" }`, "2", ""},
		{"prefix and const", s, `{ arg = "/s", prefix = "ab", mode = "ask" },` + "\n" + `{ arg = "/s", const = "abx", mode = "deny" }`, "2", ""},
		{"prefix and enum", s, `{ arg = "/s", prefix = "ab", mode = "ask" },` + "\n" + `{ arg = "/s", enum = ["ab", "abx"], mode = "deny" },` + "\n" + `{ arg = "/s", enum = ["ab", "b"], mode = "deny" }`, "2", ""},
		{"prefix and pattern", s, `{ arg = "/s", prefix = "ab", mode = "ask" },` + "\n" + `{ arg = "/s", pattern = "^ab[0-9]$", mode = "deny" },` + "\n" + `{ arg = "/s", pattern = "ab[0-9]$", mode = "deny" }`, "2", ""},
		{"enum and const, numbers by value", n, `{ arg = "/n", enum = [1, 2], mode = "ask" },` + "\n" + `{ arg = "/n", const = 1.0, mode = "deny" }`, "2", ""},
		{"const and enum of one", s, `{ arg = "/s", const = "a", mode = "ask" },` + "\n" + `{ arg = "/s", enum = ["a"], mode = "deny" }`, "2", ""},
		{"ranges", n, `{ arg = "/n", minimum = 5, mode = "ask" },` + "\n" + `{ arg = "/n", exclusive_minimum = 4, mode = "deny" },` + "\n" + `{ arg = "/n", exclusive_maximum = 5, mode = "deny" },` + "\n" + `{ arg = "/n", const = 7, mode = "deny" }`, "2 4", ""},
		{"patterns", s, `{ arg = "/s", pattern = "^[a-z]", mode = "ask" },` + "\n" + `{ arg = "/s", pattern = "^a.*b$", mode = "deny" },` + "\n" + `{ arg = "/s", pattern = "b$", mode = "deny" }`, "2", ""},
		{"lookaround", s, `{ arg = "/s", pattern = "^(?!a)", mode = "ask" },` + "\n" + `{ arg = "/s", pattern = "^b", mode = "deny" },` + "\n" + `{ arg = "/s", pattern = "^a", mode = "deny" }`, "2", ""},
		{"globs of paths", p, `{ arg = "/p", glob = "src/**", mode = "ask" },` + "\n" + `{ arg = "/p", glob = "src/*.go", mode = "deny" },` + "\n" + `{ arg = "/p", prefix = "src/a", mode = "deny" },` + "\n" + `{ arg = "/p", glob = "**/*.go", mode = "deny" }`, "2 3", ""},
		{"paths by components, whatever the case", p, `{ arg = "/p", prefix = "src", mode = "ask" },` + "\n" + `{ arg = "/p", prefix = "src-old/", mode = "skip" },` + "\n" + `{ arg = "/p", const = "SRC/A", mode = "deny" }`, "3", ""},
		{"suffixes", s, `{ arg = "/s", suffix = ".go", mode = "ask" },` + "\n" + `{ arg = "/s", suffix = "_test.go", mode = "deny" }`, "2", ""},
		{"lengths", s, `{ arg = "/s", max_length = 3, mode = "unattended" },` + "\n" + `{ arg = "/s", const = "abc", mode = "ask" },` + "\n" + `{ arg = "/s", max_length = 4, mode = "ask" }`, "2", ""},
		{"hosts", `u = { type = "url", required = true }`, `{ arg = "/u", host = "*.example.com", mode = "ask" },` + "\n" + `{ arg = "/u", host = "a.example.com", mode = "deny" },` + "\n" + `{ arg = "/u", host = "example.com", mode = "deny" }`, "2", ""},
		{"networks", s, `{ arg = "/s", cidr = ["10.0.0.0/8", "fd00::/8"], mode = "ask" },` + "\n" + `{ arg = "/s", cidr = "10.1.0.0/16", mode = "deny" },` + "\n" + `{ arg = "/s", const = "fd12::1", mode = "deny" },` + "\n" + `{ arg = "/s", cidr = "11.0.0.0/8", mode = "deny" }`, "2 3", ""},
		{"networks of hosts", `u = { type = "url", required = true }`, `{ arg = "/u", cidr = "10.0.0.0/8", mode = "ask" },` + "\n" + `{ arg = "/u", cidr = "10.1.0.0/16", mode = "unattended" },` + "\n" + `{ arg = "/u", cidr = "11.0.0.0/8", mode = "unattended" }`, "2", ""},
		{"command lines", `c = { type = "command", required = true }`, `{ arg = "/c", prefix = "git", mode = "ask" },` + "\n" + `{ arg = "/c", prefix = "git log", mode = "deny" },` + "\n" + `{ arg = "/c", const = "git push", mode = "deny" }`, "2 3", ""},
		{"vectors", `v = { type = "argv", required = true, min_items = 1, default = ["x", "y z"] }`, `{ arg = "/v", prefix = "git", mode = "ask" },` + "\n" + `{ arg = "/v", prefix = "git log", mode = "deny" },` + "\n" + `{ arg = "/v", const = "ls -l", mode = "unattended" }`, "2", ""},
		{"objects", `o = { type = "object", required = true, additional_properties = true }`, `{ arg = "/o", const = { a = 1 }, mode = "ask" },` + "\n" + `{ arg = "/o", enum = [{ a = 1.0 }], mode = "deny" },` + "\n" + `{ arg = "/o", const = { a = 2 }, mode = "deny" }`, "2", ""},
	} {
		t.Run(c.name, c.run)
	}
}

// Proves D25-38, D25-39, K28, K5: rules that several rules cover together, by the union of
// patterns, of ranges, of both booleans, over several arguments, presence and compounds.
func TestProofsByUnion(t *testing.T) {
	const two = "a = { type = \"boolean\", required = true }\nb = { type = \"string\" }"
	for _, c := range []proof{
		{"patterns", `s = { type = "string", required = true }`, `{ arg = "/s", pattern = "^[a-m]", mode = "ask" },` + "\n" + `{ arg = "/s", pattern = "^[n-z]", mode = "ask" },` + "\n" + `{ arg = "/s", pattern = "^[a-z]+$", mode = "deny" }`, "3", ""},
		{"networks", `s = { type = "string", required = true }`, `{ arg = "/s", cidr = "10.0.0.0/9", mode = "ask" },` + "\n" + `{ arg = "/s", cidr = "10.128.0.0/9", mode = "ask" },` + "\n" + `{ arg = "/s", cidr = "10.0.0.0/8", mode = "deny" }`, "3", ""},
		{"ranges, and a set", `n = { type = "integer", required = true }`, `{ arg = "/n", maximum = 4, mode = "ask" },` + "\n" + `{ arg = "/n", minimum = 5, mode = "ask" },` + "\n" + `{ arg = "/n", enum = [3, 7], mode = "skip" }`, "3", ""},
		{"a hole in ranges of numbers", `n = { type = "number", required = true }`, `{ arg = "/n", maximum = 4, mode = "ask" },` + "\n" + `{ arg = "/n", minimum = 5, mode = "ask" },` + "\n" + `{ arg = "/n", exclusive_minimum = 4, mode = "skip" }`, "", ""},
		{"both booleans of a required argument", two, `{ arg = "/a", const = true, mode = "ask" },` + "\n" + `{ arg = "/a", const = false, mode = "ask" },` + "\n" + `{ arg = "/b", const = "x", mode = "deny" }`, "3", ""},
		{"both booleans of one that may be absent", strings.Replace(two, ", required = true", "", 1), `{ arg = "/a", const = true, mode = "ask" },` + "\n" + `{ arg = "/a", const = false, mode = "ask" },` + "\n" + `{ arg = "/b", const = "x", mode = "deny" }`, "", ""},
		{"presence and absence", two, `{ arg = "/b", present = true, mode = "unattended" },` + "\n" + `{ arg = "/b", present = false, mode = "unattended" },` + "\n" + `{ arg = "/a", const = true, mode = "deny" }`, "3", ""},
		{"a compound and its members", two, `{ arg = "/a", const = true, mode = "ask" },` + "\n" + `{ all = [ { arg = "/a", const = true }, { arg = "/b", prefix = "x" } ], mode = "deny" },` + "\n" + `{ all = [ { arg = "/a", const = false }, { arg = "/b", prefix = "x" } ], mode = "deny" }`, "2", ""},
		{"compounds that split an argument", two, `{ all = [ { arg = "/a", const = true }, { arg = "/b", prefix = "x" } ], mode = "ask" },` + "\n" + `{ all = [ { arg = "/a", const = false }, { arg = "/b", prefix = "x" } ], mode = "ask" },` + "\n" + `{ arg = "/b", const = "xy", mode = "deny" },` + "\n" + `{ arg = "/b", const = "y", mode = "deny" }`, "3", ""},
		{"a range in a compound", `n = { type = "integer", required = true }`, `{ arg = "/n", minimum = 3, mode = "ask" },` + "\n" + `{ all = [ { arg = "/n", minimum = 1 }, { arg = "/n", maximum = 3 } ], mode = "deny" },` + "\n" + `{ all = [ { arg = "/n", minimum = 1 }, { arg = "/n", maximum = 2 } ], mode = "skip" }`, "3", ""},
		{"members that exclude each other", `n = { type = "integer", required = true }`, `{ all = [ { arg = "/n", minimum = 5 }, { arg = "/n", maximum = 3 } ], mode = "deny" },` + "\n" + `{ mode = "ask" }`, "", "1"},
		{"a fact that a permissive rule needs", two, `{ when = { server = "?*" }, mode = "ask" },` + "\n" + `{ when = { server = "*" }, mode = "unattended" },` + "\n" + `{ when = { server = "*" }, arg = "/b", const = "x", mode = "deny" }`, "2", ""},
		{"a fact that calls lack", two, `{ when = { server = "*" }, mode = "unattended" },` + "\n" + `{ arg = "/b", const = "x", mode = "deny" }`, "", ""},
		{"a fact that calls have", two, `{ when = { server = "*" }, mode = "unattended" },` + "\n" + `{ when = { server = "?*" }, arg = "/b", const = "x", mode = "deny" }`, "2", ""},
		{"braces between wildcards", two, `{ when = { server = "*{get,list,read,search,find,show,view,describe,fetch,query,count,check,status,create,close,delete}*" }, mode = "ask" },` + "\n" + `{ when = { server = "*{get,list,read,search,find,show,view,describe,fetch,query,count,check,status,create,close}_x" }, mode = "deny" },` + "\n" + `{ when = { server = "*_x" }, mode = "deny" }`, "2", ""},
		{"facts of the call", two, `{ when = { agent = "a*" }, mode = "ask" },` + "\n" + `{ when = { agent = "ab" }, arg = "/b", const = "x", mode = "deny" },` + "\n" + `{ when = { agent = "b" }, arg = "/b", const = "x", mode = "deny" }`, "2", ""},
	} {
		t.Run(c.name, c.run)
	}
}

// Proves D25-38, K3: a rule covers another one only if their quantifiers allow it.
func TestProofsOfQuantifiers(t *testing.T) {
	const list = "l = { type = \"array\", required = true, items = { type = \"path\" } }"
	for _, c := range []proof{
		{"any covers any and all", list, `{ arg = "/l", prefix = "src", mode = "ask" },` + "\n" + `{ arg = "/l", prefix = "src/a", mode = "deny" },` + "\n" + `{ arg = "/l", prefix = "src/b", mode = "unattended" }`, "2 3", ""},
		{"all covers all, and no list that is mixed", list, `{ arg = "/l", prefix = "src", mode = "unattended" },` + "\n" + `{ arg = "/l", prefix = "src/a", mode = "unattended" },` + "\n" + `{ arg = "/l", prefix = "src/a", mode = "ask" }`, "2", ""},
		{"numbers of elements", "l = { type = \"array\", items = { type = \"string\" }, min_items = 1, max_items = 4 }", `{ arg = "/l", min_items = 2, mode = "ask" },` + "\n" + `{ arg = "/l", min_items = 3, mode = "deny" },` + "\n" + `{ arg = "/l", max_items = 1, mode = "skip" }`, "2", ""},
		{"elements of objects", "e = { type = \"array\", items = { type = \"object\", properties = { p = { type = \"path\" }, n = { type = \"integer\" } } } }", `{ arg = "/e/p", prefix = "src", mode = "ask" },` + "\n" + `{ arg = "/e/p", const = "src/a", mode = "deny" },` + "\n" + `{ arg = "/e/n", minimum = 1, mode = "deny" },` + "\n" + `{ arg = "/e/p", present = false, mode = "skip" }`, "2", ""},
		{"lists of lists", "g = { type = \"array\", items = { type = \"array\", items = { type = \"string\" } } }", `{ arg = "/g", prefix = "a", mode = "ask" },` + "\n" + `{ arg = "/g", const = "ab", mode = "deny" },` + "\n" + `{ arg = "/g", const = "b", mode = "unattended" },` + "\n" + `{ arg = "/g", present = false, mode = "deny" }`, "2", ""},
	} {
		t.Run(c.name, c.run)
	}
}

// Proves D25-38, K47: the restrictions of the schema count: enum, const, pattern,
// lengths, bounds, and defaults.
func TestProofsBySchema(t *testing.T) {
	for _, c := range []proof{
		{"an enum", `s = { type = "string", required = true, enum = ["a", "b"] }`, `{ arg = "/s", const = "a", mode = "ask" },` + "\n" + `{ arg = "/s", const = "b", mode = "ask" },` + "\n" + `{ arg = "/s", pattern = "^[ab]$", mode = "deny" },` + "\n" + `{ arg = "/s", pattern = "^c", mode = "deny" }`, "3", "4"},
		{"a const", `n = { type = "integer", required = true, const = 3 }`, `{ arg = "/n", minimum = 2, mode = "ask" },` + "\n" + `{ arg = "/n", maximum = 5, mode = "deny" },` + "\n" + `{ arg = "/n", minimum = 4, mode = "deny" }`, "2", "3"},
		{"a pattern", `s = { type = "string", required = true, pattern = "^[0-9]+$" }`, `{ arg = "/s", pattern = "^[0-4]", mode = "ask" },` + "\n" + `{ arg = "/s", pattern = "^[5-9]", mode = "ask" },` + "\n" + `{ arg = "/s", suffix = "7", mode = "deny" },` + "\n" + `{ arg = "/s", prefix = "a", mode = "deny" }`, "3", "4"},
		{"lengths", `s = { type = "string", required = true, min_length = 2, max_length = 3 }`, `{ arg = "/s", pattern = "^[^]{2}$", mode = "ask" },` + "\n" + `{ arg = "/s", pattern = "^[^]{3}$", mode = "ask" },` + "\n" + `{ arg = "/s", prefix = "a", mode = "deny" },` + "\n" + `{ arg = "/s", const = "abcd", mode = "deny" }`, "3", "4"},
		{"bounds", `n = { type = "number", required = true, minimum = 0, exclusive_maximum = 10 }`, `{ arg = "/n", minimum = 5, mode = "ask" },` + "\n" + `{ arg = "/n", exclusive_maximum = 5, mode = "ask" },` + "\n" + `{ arg = "/n", const = 3, mode = "deny" },` + "\n" + `{ arg = "/n", maximum = -1, mode = "deny" }`, "3", "4"},
		{"multiples", `n = { type = "integer", required = true, multiple_of = 5, minimum = 1, maximum = 12 }`, `{ arg = "/n", const = 5, mode = "ask" },` + "\n" + `{ arg = "/n", const = 10, mode = "ask" },` + "\n" + `{ arg = "/n", minimum = 1, mode = "deny" },` + "\n" + `{ arg = "/n", const = 7, mode = "deny" }`, "3", "4"},
		{"a default", `s = { type = "string", default = "x" }`, `{ arg = "/s", prefix = "x", mode = "unattended" },` + "\n" + `{ arg = "/s", const = "x", mode = "deny" },` + "\n" + `{ arg = "/s", const = "xy", mode = "deny" }`, "3", ""},
		{"what else is required", "s = { type = \"string\", required = true }\nu = { type = \"url\", required = true }\nq = { type = \"patch\", required = true }\nv = { type = \"argv\", required = true }\nk = { type = \"string\", required = true, min_length = 3, pattern = \"^q+$\" }\n" +
			"m = { type = \"string\", required = true, const = \"m\" }\nf = { type = \"boolean\", required = true }\nl = { type = \"array\", required = true, min_items = 2, items = { type = \"integer\", minimum = 3 } }\no = { type = \"object\", required = true, properties = { a = { type = \"null\", required = true } } }\nz = { type = \"string\", required = true, max_length = 0 }",
			`{ arg = "/s", const = "a", mode = "deny" }`, "", ""},
	} {
		t.Run(c.name, c.run)
	}
}
