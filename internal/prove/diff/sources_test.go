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
