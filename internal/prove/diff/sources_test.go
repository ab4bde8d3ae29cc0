package diff_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/policy"
)

const flowFile = `version = 1
[sources.web]
tool = "fetch"
[sources.mail]
tool = "inbox"
[tools.fetch]
[tools.inbox]
[tools.send]
effect = true
parameters.to = { type = "string", as = "email", required = true }
parameters.for = { type = "string", as = "text", required = true }
policy.run = [
  { all = [ { arg = "/to", from = "user" }, { arg = "/for", from = ["user", "mail"] } ], mode = "unattended" },
  { mode = "ask" },
]
[[session]]
type = "flow"
name = "f"
after = "web"
before = ["effects", "fetch"]
unless = { arg = "*", from = "user" }
mode = "ask"
`

// No edit of sources, of conditions on them, or of a policy about them counts as no change: each is
// named, with its direction or as not decided.
func TestSourcesAreCompared(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{`from = "user" }`, `from = "user", weak = true }`, "send run ask->unattended loosened"},
		{`from = "user" }`, `from = "user", relation = "host" }`, "send run ask->unattended loosened"},
		{`["user", "mail"]`, `["user", "web"]`, "send run unattended->ask tightened"},
		{`} ], mode = "unattended"`, `} ], same_text = true, mode = "unattended"`, "open: `send`: whether the edit of rule 1 tightens"},
		{`mode = "unattended"`, `when = { says = "x" }, mode = "unattended"`, "send run unattended->ask tightened: 0 -> 1 {\"to\":\"ann1234@example.com\",\"for\":\"name1274\"} \ncomplete: true"},
		{`effect = true`, `effect = false`, "open: the effect of a tool or `flow` changes"},
		{`tool = "inbox"`, `tool = "inbox"` + "\ntrusted = true", "open: `sources.mail` changes"},
		{`after = "web"`, `after = ["web", "mail"]`, "session flow f after: web -> web, mail tightened"},
		{`after = "web"`, `after = "mail"`, "session flow f after: web -> mail \ncomplete: false"},
		{`["effects", "fetch"]`, `["fetch"]`, "session flow f before effects: true -> false loosened"},
		{`["effects", "fetch"]`, `["effects"]`, "session flow f before: fetch ->  loosened"},
		{`unless = { arg = "*", from = "user" }`, ``, "session flow f unless: arg = \"*\", from = [\"user\"] ->  tightened"},
		{`unless = { arg = "*", from = "user" }`, `where = { arg = "/to", const = "x" }`, "session flow f unless: arg = \"*\", from = [\"user\"] ->  tightened"},
		{`unless = { arg = "*", from = "user" }`, "unless = { arg = \"*\", from = \"user\" }\nwhere = { arg = \"/to\", const = \"x\" }", "session flow f where:  -> arg = \"/to\", const = [\"x\"] loosened"},
		{`unless = { arg = "*", from = "user" }`, `unless = [ { arg = "*", from = "user" }, { arg = "/to", from = "mail" } ]`, "tightened"},
		{"\nmode = \"ask\"\n", "\nmode = \"ask\"\nuntil = \"user\"\n", "session flow f until:  -> user loosened"},
	} {
		changed := strings.Replace(flowFile, test.old, test.new, 1)
		if changed == flowFile {
			t.Fatalf("no %q", test.old)
		}
		if got := changes(t, flowFile, changed, policy.Options{}); !strings.Contains(got, test.want) || strings.Contains(got, "complete: true") && strings.HasPrefix(test.want, "open") {
			t.Errorf("%s -> %s: %s\nwant %s", test.old, test.new, got, test.want)
		}
	}
}

// A condition implies the one that relation, weak or segments widen: an edit from one to the other is
// decided, in one direction, in both polarities.
func TestWidenedConditionsAreCompared(t *testing.T) {
	const file = "version = 1\n[tools.t.parameters]\nat = { type = \"string\", as = \"url\", required = true }\nfile = { type = \"path\", required = true }\nname = { type = \"string\", required = true }\n[tools.t.policy]\nrun = [ { CONDITION, mode = MODE }, { mode = \"ask\" } ]\n"
	for _, test := range []struct{ narrow, wide string }{
		{`arg = "/at", from = "user"`, `arg = "/at", from = "user", relation = "host"`},
		{`arg = "/file", from = "user"`, `arg = "/file", from = "user", relation = "below"`},
		{`arg = "/name", from = "user"`, `arg = "/name", from = "user", weak = true`},
		{`arg = "/name", from = "user"`, `arg = "/name", from = "user", segments = true`},
		{`arg = "/name", from = "user", weak = true`, `arg = "/name", from = ["user", "system"], weak = true, segments = true`},
		{`arg = "/at", from = "user", weak = true`, `arg = "/at", from = "user", weak = true, relation = "host"`},
		{`arg = "/name", not_from = "tool", weak = true`, `arg = "/name", not_from = "tool"`}, // it excludes less
		{`arg = "/at", not_from = "tool", relation = "host"`, `arg = "/at", not_from = "tool"`},
	} {
		for mode, wide := range map[string][2]string{`"unattended"`: {"loosened", "tightened"}, `"deny"`: {"tightened", "loosened"}} {
			of := func(condition string) string {
				return strings.NewReplacer("CONDITION", condition, "MODE", mode).Replace(file)
			}
			for i, pair := range [][2]string{{test.narrow, test.wide}, {test.wide, test.narrow}} {
				got := changes(t, of(pair[0]), of(pair[1]), policy.Options{})
				if !strings.Contains(got, wide[i]) || strings.Contains(got, wide[1-i]) || !strings.Contains(got, "complete: true") {
					t.Errorf("%s: %s -> %s: %s\nwant %s, decided", mode, pair[0], pair[1], got, wide[i])
				}
			}
		}
	}
	// Neither implies the other.
	got := changes(t, strings.NewReplacer("CONDITION", `arg = "/name", from = "user", weak = true`, "MODE", `"unattended"`).Replace(file),
		strings.NewReplacer("CONDITION", `arg = "/name", from = "user", segments = true`, "MODE", `"unattended"`).Replace(file), policy.Options{})
	if !strings.Contains(got, "loosened") || !strings.Contains(got, "tightened") {
		t.Errorf("weak -> segments: %s", got)
	}
}
