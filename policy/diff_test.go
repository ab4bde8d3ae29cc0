package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/policy"
)

// changes renders a difference for a comparison.
func changes(t *testing.T, old, new string, o policy.Options) string {
	t.Helper()
	d, a, b := policy.Diff(policy.Source{Name: "old.toml", Text: []byte(old)}, policy.Source{Name: "new.toml", Text: []byte(new)}, o)
	if d == nil {
		t.Fatal(a, b)
	}
	var out strings.Builder
	for _, c := range d.Changes {
		index := func(p *policy.RulePlace) string {
			switch {
			case p == nil:
				return "-"
			case p.Guard:
				return fmt.Sprintf("guard %d", p.Index)
			}
			return fmt.Sprint(p.Index)
		}
		fmt.Fprintf(&out, "%s %s %s->%s %s: %s -> %s %s %s\n", c.Tool, c.List, c.From, c.To, c.Direction, index(c.Old), index(c.New), c.Witness.Args, c.Note)
	}
	for _, o := range d.Open {
		fmt.Fprintf(&out, "open: %s\n", o)
	}
	fmt.Fprintf(&out, "complete: %v\n", d.Complete)
	return out.String()
}

const diffTool = `version = 1
[tools.t.parameters]
path = { type = "path", required = true }
n = { type = "integer" }
list = { type = "array", items = { type = "path" } }
[tools.t.policy]
`

// Proves W-diff: every pair of rules between which a call moves to another mode is
// listed once, with a call that both evaluators confirm.
func TestDiff(t *testing.T) {
	for _, test := range []struct{ name, old, new, want string }{
		{"same", diffTool + `run = [{ arg = "/path", prefix = "src", mode = "unattended", ignores = ["/list"] }, { mode = "ask" }]`,
			diffTool + `run = [{ arg = "/path", prefix = "src", mode = "unattended", ignores = ["/list"] }]`,
			"complete: true\n"},
		{"wider prefix", diffTool + `run = [{ arg = "/path", prefix = "src/lib", mode = "unattended" }, { mode = "ask" }]`,
			diffTool + `run = [{ arg = "/path", prefix = "src", mode = "unattended" }, { mode = "ask" }]`,
			"t run ask->unattended loosened: 1 -> 0 {\"path\":\"src\"} \ncomplete: true\n"},
		{"order", diffTool + `run = [{ arg = "/path", glob = "**/*.go", mode = "unattended" }, { arg = "/path", prefix = "gen", mode = "deny" }, { mode = "ask" }]`,
			diffTool + `run = [{ arg = "/path", prefix = "gen", mode = "deny" }, { arg = "/path", glob = "**/*.go", mode = "unattended" }, { mode = "ask" }]`,
			"t run unattended->deny tightened: 0 -> 0 {\"path\":\"gen/.go\"} \ncomplete: true\n"},
		{"guard", diffTool + `run = [{ mode = "unattended" }]`,
			diffTool + "run = [{ mode = \"unattended\" }]\n[[guard]]\non = \"path\"\nglob = \"**/*.pem\"\nmode = \"deny\"\n",
			"t run unattended->deny tightened: 0 -> guard 0 {\"path\":\".pem\"} \ncomplete: true\n"},
		{"number", diffTool + `run = [{ arg = "/n", maximum = 10, mode = "unattended" }, { mode = "ask" }]`,
			diffTool + `run = [{ arg = "/n", maximum = 20, mode = "unattended" }, { mode = "ask" }]`,
			"t run ask->unattended loosened: 1 -> 0 {\"n\":11,\"path\":\"x\"} \ncomplete: true\n"},
		{"result", diffTool + "run = \"ask\"\nresult = [{ arg = \"/path\", prefix = \"secrets\", mode = \"skip\" }, { mode = \"unattended\" }]",
			diffTool + "run = \"ask\"",
			"t result skip->unattended loosened: 0 -> -1 {\"path\":\"secrets\"} \ncomplete: true\n"},
		{"new tool", "version = 1\n[tools.a.policy]\nrun = \"ask\"\n", "version = 1\n[tools.a.policy]\nrun = \"ask\"\n[tools.b.policy]\nrun = \"unattended\"\n",
			"b run deny->unattended loosened: - -> 0 {} tool unknown before\ncomplete: true\n"},
		{"glob", "version = 1\n[tools.\"gh__*\".policy]\nrun = \"ask\"\n", "version = 1\n[tools.\"gh__*\".policy]\nrun = \"ask\"\n[tools.\"gh__read*\".policy]\nrun = \"unattended\"\n",
			"gh__read run ask->unattended loosened: 0 -> 0 {} \ncomplete: true\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, changes(t, test.old, test.new, policy.Options{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// asPolicy writes rules as a policy over the schema of the reachability tests.
func asPolicy(rules []naiveRule) string {
	var b strings.Builder
	b.WriteString("version = 1\n" + reachSchema + "run = [\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "%s,\n", r)
	}
	return b.String() + "]\n"
}

// modeOf is what a list of the tiny evaluator answers at an index.
func modeOf(rules []naiveRule, i int) string {
	if i < 0 {
		return "ask"
	}
	return rules[i].mode
}

// Proves W-diff: held against a search through all small documents, no pair of rules
// with a changed mode is missed by a difference that calls itself complete, and equal
// policies have none.
func TestDiffIsExact(t *testing.T) {
	complete, changed := 0, 0
	for seed := range cases(40, 150, 20_000) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 3))}
		used := []*shape{&shapes[g.IntN(len(shapes))], &shapes[g.IntN(len(shapes))]}
		if used[0] == used[1] {
			used = used[:1]
		}
		before := g.rules(used, g.IntN(2) == 0)
		after := slices.Clone(before)
		switch i := g.IntN(len(after)); g.IntN(4) {
		case 0:
			after = slices.Delete(after, i, i+1)
		case 1:
			after = slices.Insert(after, i, g.rules(used, false)[0])
		case 2:
			after[i].mode = pick(g, []string{"unattended", "ask", "deny"})
		default:
			after = g.rules(used, false)
		}
		d, old, new := policy.Diff(policy.Source{Name: "old.toml", Text: []byte(asPolicy(before))},
			policy.Source{Name: "new.toml", Text: []byte(asPolicy(after))}, policy.Options{})
		if d == nil {
			if hasOnly(old, diag.NeverHolds) && hasOnly(new, diag.NeverHolds) {
				continue // a condition that contradicts itself
			}
			t.Fatal(old, new)
		}
		if d.Complete {
			complete++
		}
		found := make(map[[2]int]bool)
		for _, c := range d.Changes {
			found[[2]int{c.Old.Index, c.New.Index}] = true
			changed++
		}
		eachSmallDocument(slices.Concat(before, after), used, 2, func(doc map[string]leaves) {
			i, j := firstMatch(before, doc), firstMatch(after, doc)
			if d.Complete && modeOf(before, i) != modeOf(after, j) && !found[[2]int{i, j}] {
				t.Fatalf("seed %d: rules %d and %d differ on %v\nold\n%snew\n%s%v", seed, i, j, doc, show(before), show(after), d)
			}
		})
	}
	if complete == 0 || changed == 0 {
		t.Error("nothing was compared")
	}
	t.Logf("%d complete, %d changes", complete, changed)
}

func hasOnly(list diag.List, code diag.Code) bool {
	return !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Severity == diag.Error && d.Code != code })
}
