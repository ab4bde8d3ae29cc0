package prove_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
)

const commandTool = `version = 1
[tools.t.parameters]
c = { type = "command" }
d = { type = "command" }
cs = { type = "array", items = { type = "command" } }
e = { type = "command", enum = ["a; b", "c"] }
[lists]
x = ["x"]
xy = ["x", "y **"]
[tools.t.policy]
`

// covering lists the diagnostics of check about rules that cover others.
func covering(t *testing.T, text string) []string {
	t.Helper()
	list := []string{}
	for _, d := range findings("commands.toml", []byte(text), policy.Options{}) {
		switch {
		case d.Code < diag.Unreachable && d.Code != diag.NeverHolds && d.Code != diag.PathsOnly:
			t.Fatal(d)
		case d.Code <= diag.ShadowedPlain && d.Code != diag.NoCatchAll:
			list = append(list, fmt.Sprintf("%s line %d", d.Code.Name(), d.Start.Line))
		}
	}
	return list
}

// Proves I25, K29: a rule is reported as covered only if the rules above it decide every
// command line that it matches.
func TestReachabilityOfCommands(t *testing.T) {
	const first = 12 // the line of the first rule
	at := func(name string, rule int) string { return fmt.Sprintf("%s line %d", name, first+rule) }
	for _, test := range []struct {
		name  string
		rules []string
		want  []string
	}{
		{"a redirection that only the second rule judges", []string{
			`{ arg = "/c", usage_in = "x", mode = "unattended" }`,
			`{ all = [{ arg = "/c", usage_in = "x" }, { arg = "/c", reads = "**" }], mode = "unattended" }`}, nil},
		{"one that writes", []string{
			`{ arg = "/c", const = "x", mode = "unattended" }`,
			`{ all = [{ arg = "/c", const = "x" }, { arg = "/c", writes = "out/*" }], mode = "unattended" }`}, nil},
		{"a pattern", []string{
			`{ arg = "/c", pattern = "^x$", mode = "unattended" }`,
			`{ all = [{ arg = "/c", pattern = "^x$" }, { arg = "/c", writes = "out/*" }], mode = "unattended" }`}, nil},
		{"the same", []string{
			`{ arg = "/c", usage_in = "xy", mode = "unattended" }`, `{ arg = "/c", usage_in = "x", mode = "unattended" }`},
			[]string{at("unreachable", 1)}},
		{"suspicion covers redirections", []string{
			`{ arg = "/c", prefix = "x", mode = "ask" }`,
			`{ all = [{ arg = "/c", const = "x" }, { arg = "/c", reads = "**" }], mode = "unattended" }`},
			[]string{at("unreachable", 1)}},
		{"a restrictive rule after a permissive one", []string{`{ arg = "/c", prefix = "git", mode = "unattended" }`, `{ arg = "/c", prefix = "git push", mode = "deny" }`},
			[]string{at("shadowed_if_plain", 1)}},
		{"suspicion in front", []string{`{ arg = "/c", prefix = "git push", mode = "deny" }`, `{ arg = "/c", prefix = "git", mode = "unattended" }`}, nil},
		{"words of a longer command", []string{`{ arg = "/c", prefix = "git", mode = "ask" }`, `{ arg = "/c", const = "git push", mode = "deny" }`},
			[]string{at("unreachable", 1)}},
		{"several commands in one literal", []string{`{ arg = "/c", prefix = "b", mode = "ask" }`, `{ arg = "/c", const = "a; b", mode = "deny" }`}, nil},
		{"no file is read", []string{
			`{ arg = "/c", reads = "secret/**", mode = "deny" }`,
			`{ all = [{ arg = "/c", usage = "ls" }, { arg = "/c", reads = "secret/**" }], mode = "unattended" }`}, nil},
		{"the length of a line", []string{`{ arg = "/c", max_length = 5, mode = "unattended" }`, `{ arg = "/c", const = "ls", mode = "unattended" }`}, []string{at("not_proven", 1)}},
		{"conditions on files only", []string{`{ arg = "/c", reads = "**", mode = "unattended" }`, `{ arg = "/c", const = "x", mode = "unattended" }`},
			[]string{at("paths_alone", 0)}},
		{"two command lines in one rule", []string{`{ all = [{ arg = "/c", prefix = "x" }, { arg = "/d", prefix = "y" }], mode = "deny" }`},
			[]string{at("never_holds", 0)}},
		{"the presence of one of two command lines", []string{
			`{ arg = "/c", present = false, mode = "deny" }`, `{ arg = "/c", prefix = "x", mode = "ask" }`, `{ arg = "/d", prefix = "rm", mode = "deny" }`, `{ arg = "/d", prefix = "rm x", mode = "ask" }`},
			[]string{at("not_proven", 1)}},
		{"every command of a list of lines", []string{
			`{ arg = "/cs", prefix = "x", match = "all", mode = "ask" }`, `{ arg = "/cs", prefix = "x y", match = "any", mode = "deny" }`},
			[]string{at("unreachable", 1)}},
		{"a schema with lines of several commands", []string{`{ arg = "/e", prefix = "b", mode = "ask" }`, `{ arg = "/e", prefix = "a", mode = "deny" }`}, []string{at("not_proven", 1)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := commandTool + "run = [\n" + strings.Join(test.rules, ",\n") + ",\n{ mode = \"ask\" },\n]\n"
			if test.want == nil {
				test.want = []string{}
			}
			if diff := cmp.Diff(test.want, covering(t, text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// commandRules writes rules over the one command line of a tool.
func (g generator) commandRules() []string {
	words := []string{"a", "a b", "b", "a x/y", "timeout 5 a", "timeout", "nice a", "cat", "a; b"}
	usages := []string{"a", "a **", "a [-n *] b", "b **", "timeout * <command>", "cat **", "{a,b} *"}
	globs := []string{"**", "x/**", "x/y", "*"}
	var written []string
	condition := func() string {
		if len(written) > 0 && g.IntN(3) == 0 {
			return pick(g, written)
		}
		kind := pick(g, []string{"prefix", "prefix", "const", "usage", "usage", "reads", "writes", "glob", "pattern", "max_length"})
		value := fmt.Sprintf("%q", pick(g, words))
		switch kind {
		case "usage":
			value = fmt.Sprintf("%q", pick(g, usages))
		case "reads", "writes":
			value = fmt.Sprintf("%q", pick(g, globs))
		case "glob":
			value = fmt.Sprintf("%q", pick(g, []string{"a*", "*", "a b", "timeout *"}))
		case "pattern":
			value = fmt.Sprintf("%q", pick(g, []string{"^a( b)?$", "b", "^(a|b)$", "^timeout"}))
		case "max_length":
			value = fmt.Sprint(pick(g, []int{1, 3, 9}))
		}
		written = append(written, fmt.Sprintf(`arg = "/c", %s = %s`, kind, value))
		return written[len(written)-1]
	}
	var rules []string
	for range 2 + g.IntN(4) {
		mode := pick(g, []string{"unattended", "unattended", "ask", "deny"})
		if g.IntN(3) > 0 {
			rules = append(rules, fmt.Sprintf("{ %s, mode = %q }", condition(), mode))
			continue
		}
		rules = append(rules, fmt.Sprintf("{ all = [ { %s }, { %s } ], mode = %q }", condition(), condition(), mode))
	}
	return rules
}

// lines are command lines that tell those rules apart. Names of programs are written as the
// rules write them: restrictive rules also match other spellings, which permissive rules do
// not cover (K47).
func lines() []string {
	simple := []string{"a", "a b", "b", "b a", "a x/y", "a -n 3 b", "cat x/y", "cat z", "timeout 5 a", "timeout 5 b", "nice a", "nice timeout 5 a b", "a b c", "x"}
	list := slices.Clone(simple)
	for _, one := range simple {
		for _, with := range []string{" < x/y", " > z", " 2>&1", " > /dev/null", "; b", " && a b", " | cat x/y", " $v", " 'b'"} {
			list = append(list, one+with)
		}
		list = append(list, "v=1 "+one, "( "+one+" )", "echo $("+one+")", "cd x; "+one, "'"+one+"'", one+" # b")
	}
	return append(list, "", "#", "a; b", "a ';' b", `"a;" b`)
}

// Proves I25, K29: no rule that is reported as unreachable decides a command line of any form,
// and every witness is decided by its rule.
func TestReachabilityOfCommandsHolds(t *testing.T) {
	all := lines()
	dead, confirmed := 0, 0
	for seed := range property.Cases(40, 150, 5_000) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 11))}
		text := "version = 1\n[tools.t.parameters]\nc = { type = \"command\", required = true }\n[tools.t.policy]\nrun = [\n" +
			strings.Join(g.commandRules(), ",\n") + ",\n{ mode = \"ask\" },\n]\n"
		parsed, mistakes := parser.Parse(kinds.Table(), "commands.toml", []byte(text))
		if mistakes.HasErrors() {
			t.Fatal(mistakes)
		}
		if len(prove.Check(parsed, policy.Options{}).Errors()) > 0 && misfits(prove.Check(parsed, policy.Options{})) {
			continue
		}
		program, _ := policy.Compile([]policy.Source{{Name: "commands.toml", Text: []byte(text), Trusted: true}}, unchecked)
		unreachable := make(map[int]bool)
		for _, r := range prove.Reach(parsed, policy.Options{}) {
			switch {
			case r.Answer == regular.No:
				unreachable[r.Index] = true
				dead++
			case r.Answer == regular.Yes && r.Witness.Args != nil:
				confirmed++
				// Of a line with several commands a stricter answer to another one counts.
				var args struct{ C string }
				if err := json.Unmarshal(r.Witness.Args, &args); err != nil {
					t.Fatal(err)
				}
				several := len(commandline.Analyse(args.C).Simple) > 1
				if v := final(program.Bind(r.Witness), r.Witness.Args); v.Rule != nil && v.Rule.Index != r.Index && !several {
					t.Fatalf("seed %d: %s does not reach rule %d but %v\n%s", seed, r.Witness.Args, r.Index, v.Rule, text)
				}
			}
		}
		if len(unreachable) == 0 {
			continue
		}
		b := program.Bind(stopgate.Call{Tool: "t"})
		for _, line := range all {
			args := string(jsonstream.AppendQuote([]byte(`{"c":`), line)) + "}"
			if v := final(b, []byte(args)); v.Rule != nil && unreachable[v.Rule.Index] {
				t.Fatalf("seed %d: %s reaches rule %d, which is called unreachable\n%s", seed, args, v.Rule.Index, text)
			}
		}
	}
	if dead == 0 || confirmed == 0 {
		t.Errorf("%d unreachable, %d confirmed", dead, confirmed)
	}
	t.Logf("%d unreachable, %d witnesses confirmed", dead, confirmed)
}

// misfits reports mistakes that leave rules out of the analysis.
func misfits(list diag.List) bool {
	return slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error && d.Code < diag.Unreachable && d.Code != diag.PathsOnly && d.Code != diag.NeverHolds
	})
}
