package prove_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/prove/diff"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

func groupFile(rules string) string {
	return "version = 1\n[tools.t.policy]\nrun = [" + rules + "]\n"
}

// Proves K60, D25-39: a rule for groups is unreachable if patterns above it include all of its own,
// whether or not the groups of a call are known.
func TestGroupsInAnalysis(t *testing.T) {
	group := func(names, mode string) string { return `{ when = { group = ` + names + ` }, mode = "` + mode + `" }` }
	for _, c := range []struct {
		name, rules string
		dead        int // index, -1 for none
	}{
		{"the same", group(`"a"`, "deny") + "," + group(`"a"`, "ask") + `, { mode = "skip" }`, 1},
		{"included", group(`"pay*"`, "deny") + "," + group(`"payments"`, "ask") + `, { mode = "skip" }`, 1},
		{"not included", group(`"payments"`, "deny") + "," + group(`"pay*"`, "ask") + `, { mode = "skip" }`, -1},
		{"a group has no slash for *", group(`"pay*"`, "deny") + "," + group(`"pay/roll"`, "ask") + `, { mode = "skip" }`, -1},
		{"one of several", group(`["a", "b"]`, "deny") + "," + group(`"b"`, "ask") + `, { mode = "skip" }`, 1},
		{"a principal has several groups", group(`"a"`, "deny") + "," + group(`"b"`, "ask") + `, { mode = "skip" }`, -1},
		{"without groups", group(`"*"`, "unattended") + `, { mode = "deny" }`, -1},
		// Groups that are not known permit nothing, and the rule below restricts then.
		{"restricts what is not known", group(`"a"`, "unattended") + "," + group(`"a"`, "deny") + `, { mode = "ask" }`, -1},
		{"permits what is not known", group(`"a"`, "deny") + "," + group(`"a"`, "unattended") + `, { mode = "ask" }`, 1},
	} {
		p, list := parser.Parse(kinds.Table(), "stopgate.toml", []byte(groupFile(c.rules)))
		if p == nil || list.HasErrors() {
			t.Fatal(list)
		}
		dead := slices.ContainsFunc(prove.Check(p, policy.Options{}), func(d diag.Diagnostic) bool { return strings.Contains(d.Message, "can never match") })
		if dead != (c.dead >= 0) {
			t.Errorf("%s: dead %t", c.name, dead)
		}
		for _, r := range prove.Reach(p, policy.Options{}) {
			if (r.Answer == regular.No) != (r.Index == c.dead) {
				t.Errorf("%s: rule %d: %v", c.name, r.Index, r.Answer)
			}
			if r.Answer == regular.Yes && r.Verdict.Decided && r.Verdict.Mode != r.Mode {
				t.Errorf("%s: rule %d: the witness in %q gets %v", c.name, r.Index, r.Witness.Groups.Names(), r.Verdict.Mode)
			}
		}
	}
}

// Proves K60: diff finds every change for callers of some groups, with a caller that shows it.
func TestGroupsInDiff(t *testing.T) {
	const base = `{ when = { group = "payments" }, mode = "unattended" }, { mode = "deny" }`
	for _, c := range []struct {
		name, before, after string
		want                []string
	}{
		{"equal", base, base, nil},
		{"wider", base, `{ when = { group = "pay*" }, mode = "unattended" }, { mode = "deny" }`, []string{"deny unattended pay"}},
		{"narrower", `{ when = { group = ["a", "b"] }, mode = "unattended" }, { mode = "deny" }`, `{ when = { group = "a" }, mode = "unattended" }, { mode = "deny" }`, []string{"unattended deny b"}},
		{"a member is asked", base, `{ when = { group = "payments" }, mode = "ask" }, { mode = "deny" }`, []string{"deny ask ?", "unattended ask payments"}},
		{"spelled otherwise", base, `{ when = { group = ["payments", "payments"] }, mode = "unattended" }, { mode = "deny" }`, nil},
		{"a restriction is gone", `{ when = { group = "interns" }, mode = "deny" }, { mode = "unattended" }`, `{ mode = "unattended" }`, []string{"deny unattended interns"}},
	} {
		source := func(text string) policy.Source {
			return policy.Source{Name: "stopgate.toml", Text: []byte(groupFile(text))}
		}
		d, old, new := diff.Files(source(c.before), source(c.after), policy.Options{}, nil)
		if d == nil {
			t.Fatal(old, new)
		}
		var got []string
		for _, change := range d.Changes {
			in := "?"
			if change.Witness.Groups.Known() {
				in = strings.Join(change.Witness.Groups.Names(), ",")
			}
			got = append(got, change.From.String()+" "+change.To.String()+" "+in)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) || !d.Complete {
			t.Errorf("%s: %q, want %q; complete %t, open %q", c.name, got, c.want, d.Complete, d.Open)
		}
	}
}

// Proves K60, D25-28: mistakes in conditions on groups are reported, and what they name is part of
// the policy's hash.
func TestMistakesInGroups(t *testing.T) {
	for _, c := range []struct{ when, want string }{
		{`{ group = [] }`, "`group`"},
		{`{ group = 7 }`, "`group`"},
		{`{ group = "a{" }`, "brace"},
		{`{ groups = "a" }`, "group"},
	} {
		for _, table := range []string{"[[guard]]\nmode = \"deny\"\n", "[[session]]\ntype = \"limit\"\ntools = [\"t\"]\nmax_calls = 1\n"} {
			_, err := compileOne("version = 1\n" + table + "when = " + c.when + "\n")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s in %s: %v", c.when, table[:9], err)
			}
		}
	}
	seen := make(map[string]bool)
	for _, when := range []string{`{ group = "a" }`, `{ group = "b" }`, `{ principal = "a" }`, `{ principal = "a", group = "a" }`, `{ session = "/a", const = 1, group = "a" }`, `[{ group = "a" }, { group = "b" }]`} {
		p, err := compileOne("version = 1\n[[session]]\ntype = \"limit\"\ntools = [\"t\"]\nmax_calls = 1\nwhen = " + when + "\n")
		if p == nil || seen[p.Hash()] {
			t.Errorf("%s: %v", when, err)
			continue
		}
		seen[p.Hash()] = true
	}
}
