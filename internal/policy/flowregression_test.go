package policy_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

const deletePolicy = `version = 1
[tools.delete_repo]
effect = true
parameters.name = { type = "string", required = true }
policy.run = [
  { arg = "/name", from = "user", when = { says = '(?i)\bdelete\b' }, mode = "unattended" },
  { mode = "ask" },
]
`

// A message of the person that repeats a line of a result is no text of theirs, but ends what they said
// before: an untrusted text must not keep an earlier word in force.
func TestRepeatedMessageEndsWhatWasSaid(t *testing.T) {
	p := compiled(t, deletePolicy)
	const next = "Please look at the open issues of old-site now"
	for _, repeats := range []bool{false, true} {
		c := talk(t, p)
		c.user("delete old-site")
		want := stopgate.Unattended
		decided := func(when string) {
			t.Helper()
			if v, _ := decide(p, "delete_repo", `{"name":"old-site"}`, c.index.View()); v.Mode != want {
				t.Errorf("%s, repeats %t: %v, want %v", when, repeats, v, want)
			}
		}
		decided("said")
		if repeats {
			c.result("fetch", `{}`, next+"\n")
		}
		c.user(next)
		want = stopgate.Ask
		decided("after another message")
		c.Message(c.index, &flow.Message{Source: flow.User, Text: []byte("yes, delete it")})
		want = stopgate.Unattended
		decided("said again")
	}
}

// A policy that states another effect of a tool, or another set of tools, has another meaning: what was
// marked before, as what a tool wrote or what only reads, is not read under it.
func TestMeaningOfTextsHasTheEffectsOfTools(t *testing.T) {
	const rest = `
[sources.contacts]
tool = "find_*"
trusted = true
field = "/*/email"
[tools.t.policy]
run = [ { arg = "/to", from = ["contacts"], mode = "unattended" }, { mode = "ask" } ]
[tools.t.parameters]
to = { type = "string", as = "email" }
`
	seen := map[string]string{}
	for _, tables := range []string{
		"[tools.find_people]\n[tools.add]\n", "[tools.find_people]\neffect = true\n[tools.add]\n", "[tools.find_people]\n[tools.add]\neffect = true\n", "[tools.find_people]\n",
		"[tools.find_people]\nalso = [\"find_all\"]\n[tools.add]\n", "[tools.find_people]\n[tools.add]\n[tools.\"a*\"]\neffect = true\n",
	} {
		meaning := compiled(t, "version = 1\n"+tables+rest).Reader().Meaning()
		if other, ok := seen[meaning]; ok {
			t.Errorf("%q has the meaning of %q", tables, other)
		}
		seen[meaning] = tables
	}
	a := compiled(t, "version = 1\n[tools.find_people]\n[tools.add]\n"+rest).Reader().Meaning()
	if b := compiled(t, "version = 1\n[tools.add]\nsummary = \"adds\"\n[tools.find_people]\n"+rest).Reader().Meaning(); a != b {
		t.Error("the order of tables changes the meaning")
	}
}
