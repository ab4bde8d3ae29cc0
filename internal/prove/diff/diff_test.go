package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
)

// changes renders a difference for a comparison.
func changes(t *testing.T, old, new string, o policy.Options) string {
	t.Helper()
	d, a, b := diff.Files(policy.Source{Name: "old.toml", Text: []byte(old)}, policy.Source{Name: "new.toml", Text: []byte(new)}, o, nil)
	if d == nil {
		t.Fatal(a, b)
	}
	var out strings.Builder
	for _, c := range d.Changes {
		index := func(p *diff.RulePlace) string {
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
	for _, s := range d.Sessions {
		fmt.Fprintf(&out, "session %s %s: %s -> %s %s\n", s.Policy, s.Field, s.Old, s.New, s.Direction)
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

const nullTool = `version = 1
[tools.t.parameters]
n = { type = ["integer", "null"] }
[tools.t.policy]
`

// Proves I25: every pair of rules between which a call moves to another mode is
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
		{"null", nullTool + `run = [{ arg = "/n", present = true, mode = "deny" }, { mode = "ask" }]`,
			nullTool + `run = [{ arg = "/n", present = "value", mode = "deny" }, { mode = "ask" }]`,
			"t run deny->ask loosened: 0 -> 1 {\"n\":null} \ncomplete: true\n"},
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

// Proves I25, K29: what is not looked at is not called equal. Guards on paths look into
// commands, and whether a line is understood depends on all rules.
func TestDiffOfCommands(t *testing.T) {
	const tool = "version = 1\n[tools.t.parameters]\nc = { type = \"command\" }\nn = { type = \"integer\" }\n[tools.t.policy]\n"
	const guard = "\n[[guard]]\non = \"path\"\nglob = \"**\"\nmode = \"deny\"\n"
	for _, test := range []struct {
		name, old, new string
		open, changes  bool
	}{
		{"nothing", tool + `run = [{ arg = "/c", prefix = "ls", mode = "unattended" }, { mode = "ask" }]` + guard,
			tool + `run = [{ arg = "/c", prefix = "ls", mode = "unattended" }, { mode = "ask" }]` + guard, false, false},
		{"a guard on paths", tool + `run = [{ mode = "ask" }]`, tool + `run = [{ mode = "ask" }]` + guard, false, true},
		{"a rule under a guard on paths", tool + `run = [{ mode = "ask" }]` + guard, tool + `run = [{ mode = "unattended" }]` + guard, false, true},
		{"a line that is understood no more", tool + `run = [{ arg = "/c", const = "rm", mode = "unattended" }, { mode = "unattended" }]`,
			tool + `run = [{ mode = "unattended" }]`, false, true},
		{"a redirection that is judged", tool + `run = [{ arg = "/c", usage = "x", mode = "unattended" }, { mode = "ask" }]`,
			tool + `run = [{ arg = "/c", usage = "x", mode = "unattended" }, { all = [{ arg = "/c", usage = "x" }, { arg = "/c", reads = "**" }], mode = "unattended" }, { mode = "ask" }]`, false, true},
		{"another parameter", tool + `run = [{ arg = "/n", minimum = 3, mode = "ask" }, { arg = "/c", prefix = "ls", mode = "ask" }]`,
			tool + `run = [{ arg = "/n", minimum = 4, mode = "ask" }, { arg = "/c", prefix = "ls", mode = "ask" }]`, false, false},
		{"a new tool", "version = 1\n", tool + `run = [{ arg = "/c", const = "rm", mode = "unattended" }, { mode = "deny" }]`, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := changes(t, test.old, test.new, policy.Options{})
			if open := strings.Contains(text, "complete: false"); open != test.open || open != strings.Contains(text, "open: `t`") {
				t.Error(text)
			}
			if found := strings.Contains(text, "->"); found != test.changes {
				t.Error(text)
			}
		})
	}
}

// Proves I25: rules that are written alike and rest on other lists are not one rule, and
// what decides beside rules is never called equal.
func TestDiffOfOthers(t *testing.T) {
	list := func(value string) string {
		return diffTool + "run = [{ arg = \"/path\", const_in = \"names\", mode = \"unattended\", ignores = [\"/list\"] }, { mode = \"ask\" }]\n[lists]\nnames = [\"" + value + "\"]\n"
	}
	session := func(most int) string {
		return diffTool + fmt.Sprintf("run = \"ask\"\n[[session]]\nname = \"few\"\ntype = \"limit\"\ntools = [\"t\"]\nmax_calls = %d\n", most)
	}
	for _, test := range []struct{ name, old, new, want string }{
		{"lists", list("a"), list("b"), "t run unattended->ask tightened: 0 -> 1 {\"path\":\"a\"} \nt run ask->unattended loosened: 1 -> 0 {\"path\":\"b\"} \ncomplete: true\n"},
		{"the same session policy", session(3), session(3), "complete: true\n"},
		{"a looser limit", session(3), session(4), "session limit few max_calls: 3 -> 4 loosened\ncomplete: true\n"},
		{"a stricter limit", session(3), session(2), "session limit few max_calls: 3 -> 2 tightened\ncomplete: true\n"},
		{"a session policy that is gone", session(3), diffTool + "run = \"ask\"\n", "session limit few : limit ->  loosened\ncomplete: true\n"},
		{"a session policy with another key", session(3), session(3) + "key = [\"/path\"]\n", "session limit few key: [] -> [/path] \ncomplete: false\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, changes(t, test.old, test.new, policy.Options{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A guard also reads the strings that only a request declares, so an edit of it changes what
// becomes of calls that have them; what a table declares it leaves alone.
func TestDiffOfSuspicion(t *testing.T) {
	const old = "version = 1\n[tools.t]\nparameters.title = { type = \"string\" }\npolicy.run = \"ask\"\n"
	o := policy.Options{Definitions: []stopgate.ToolDefinition{{Name: "t", Schema: []byte(`{"type":"object","properties":{"title":{"type":"string"},"target_file":{"type":"string"}}}`)}}}
	for guard, want := range map[string]string{
		"on = \"path\"\nglob = \"**/*.pem\"\n":    "t run ask->deny tightened: 0 -> guard 0 {\"target_file\":\".pem\"} \ncomplete: true\n",
		"on = \"command\"\nusage = \"reboot\"\n":  "t run ask->deny tightened: 0 -> guard 0 {\"target_file\":\"reboot\"} \ncomplete: true\n",
		"on = \"url\"\nhost = \"evil.example\"\n": "t run ask->deny tightened: 0 -> guard 0 {\"target_file\":\"https://evil.example\"} \ncomplete: true\n",
		"on = \"string\"\nprefix = \"AKIA\"\n":    "",
		"arg = \"/title\"\nprefix = \"AKIA\"\n":   "",
	} {
		got := changes(t, old, old+"[[guard]]\nmode = \"deny\"\n"+guard, o)
		if want != "" && got != want {
			t.Errorf("%s\n%s", guard, got)
		}
		if strings.Contains(got, "title") != (want == "") {
			t.Errorf("%s\n%s", guard, got)
		}
	}
}

// Sources, effects and session policies on texts change what rules see: a difference names them, and
// is not complete where it cannot compare them.
func TestDiffOfSources(t *testing.T) {
	const tools = "version = 1\n[sources.a]\ntool = \"r\"\nfield = \"/x\"\ntrusted = true\n[tools.r]\n[tools.t]\neffect = true\nparameters.p = { type = \"string\", required = true, as = \"email\" }\n"
	const rules = "policy.run = [ { arg = \"/p\", from = [\"user\", \"a\"], mode = \"unattended\" }, { mode = \"ask\" } ]\n"
	const flow = "[[session]]\ntype = \"flow\"\nafter = \"untrusted\"\nbefore = \"effects\"\nmode = \"ask\"\n"
	for _, c := range []struct{ old, new, want string }{
		{tools + rules, strings.Replace(tools+rules, "/x", "/y", 1), "open: `sources.a` changes, which no pair of rules shows\ncomplete: false\n"},
		{tools + rules, strings.Replace(tools+rules, "effect = true\n", "", 1), "open: the effect of a tool or `flow` changes, which no pair of rules shows\ncomplete: false\n"},
		{tools + rules, strings.Replace(tools+rules, `, "a"]`, "]", 1), `t run unattended->ask tightened: 0 -> 1 {"p":"ann1234@example.com"} ` + "\ncomplete: true\n"},
		{tools + rules + flow, tools + rules + flow + "until = \"user\"\n", "session flow 1 until:  -> user loosened\ncomplete: true\n"},
		{tools + rules + flow, tools + rules + flow + "unless = { arg = \"*\", from = \"user\" }\n", "session flow 1 unless:  -> arg = \"*\", from = [\"user\"] loosened\ncomplete: true\n"},
		{tools + rules + flow, strings.Replace(tools+rules+flow, `"effects"`, `["t"]`, 1), "session flow 1 before:  -> t tightened\nsession flow 1 before effects: true -> false loosened\ncomplete: true\n"},
	} {
		if got := changes(t, c.old, c.new, policy.Options{}); got != c.want {
			t.Errorf("got\n%swant\n%s", got, c.want)
		}
	}
}
