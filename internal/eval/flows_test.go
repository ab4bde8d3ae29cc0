package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/jsonstream"
)

// afterWeb is a session policy on texts of the source web, before calls of the tool t.
func afterWeb(more string) string {
	return mail + "[[session]]\ntype = \"flow\"\nafter = [\"web\"]\nbefore = [\"t\"]\n" + more + "[tools.t.policy]\nrun = \"unattended\"\n"
}

// A session policy on texts objects after they were read, by its mode, except where its conditions
// hold; without texts it objects, too.
func TestFlowPolicies(t *testing.T) {
	read := session()
	unread := &fakeView{texts: read.texts[:2]}
	const unless = "unless = [ { arg = \"*\", from = [\"user\"] } ]\n"
	for _, c := range []struct {
		policy, args string
		texts        flow.View
		want         string
		at           int
	}{
		{"mode = \"deny\"\n", `{"name":"ann"}`, read, "deny untrusted_text", 0},
		{"mode = \"ask\"\n", `{"name":"ann"}`, read, "ask untrusted_text", 0},
		{"", `{"name":"ann"}`, read, "deny untrusted_text", 0},
		{"mode = \"deny\"\n", `{"name":"ann"}`, unread, "unattended rule_matched rule 0", 0},
		{"mode = \"deny\"\n", `{"name":"ann"}`, nil, "deny untrusted_text", 0},
		{unless, `{"name":"ann"}`, read, "unattended rule_matched rule 0", 14},
		{unless, `{"name":"ann","n":1500}`, read, "unattended rule_matched rule 0", 24},
		{unless, `{"name":"eve"}`, read, "deny untrusted_text", 13},
		{unless, `{"name":"ann","to":["bob","eve"]}`, read, "deny untrusted_text", 31},
		{unless, `{"name":"ann","free":{"bob":{"x":1}}}`, read, "deny untrusted_text", 32},
		{unless, `{"name":"ann","free":{"eve":"bob"}}`, read, "deny untrusted_text", 27},
		{unless, `{"name":"ann"}`, inDoubt(flow.Unreported), "unattended rule_matched rule 0", 14},
		{unless, `{"name":"eve"}`, inDoubt(flow.Unreported), "deny origin_unknown", 13},
		{unless, `{"name":"ann","cc":""}`, read, "unattended rule_matched rule 0", 22},
		{unless, `{"name":"ann"}`, nil, "deny origin_unknown", 13},
		{"unless = [ { arg = \"/name\", from = [\"user\"] }, { arg = \"/cc\", from = [\"user\"] } ]\n", `{"name":"ann","n":7}`, read, "unattended rule_matched rule 0", 20},
		{"unless = [ { arg = \"/name\", from = [\"user\"] }, { arg = \"/n\", maximum = 5 } ]\n", `{"name":"ann","n":7}`, read, "deny untrusted_text", 20},
	} {
		v := with(t, compile(t, afterWeb(c.policy)), c.args, c.texts)
		if got := brief(v); got != c.want || c.want[:4] == "deny" && v.DecidedAt != int64(c.at) {
			t.Errorf("%s on %s: %s at %d, want %s at %d", c.policy, c.args, got, v.DecidedAt, c.want, c.at)
		}
		if v.Code == stopgate.CodeUntrustedText && v.Layer != stopgate.LayerSession {
			t.Errorf("layer %s", v.Layer)
		}
	}
}

// The objection has the reason of the policy, and is of the tools that it covers.
func TestFlowPoliciesCoverTools(t *testing.T) {
	text := `version = 1
[[session]]
type = "flow"
after = ["fetch"]
before = "effects"
reason = "A web page was read."
mode = "ask"
[tools.fetch.policy]
run = "unattended"
[tools.send]
effect = true
[tools.send.policy]
run = "unattended"
[tools.look]
effect = false
[tools.look.policy]
run = "unattended"
[tools."*".policy]
run = "unattended"
`
	p := compile(t, text)
	read := &fakeView{texts: []said{{source: flow.Tool, tool: "fetch", words: "x"}}}
	for tool, want := range map[stopgate.ToolName]string{
		"send": "ask untrusted_text", "look": "unattended rule_matched rule 0", "fetch": "unattended rule_matched rule 0", "other": "ask untrusted_text",
	} {
		call := stopgate.Call{Tool: tool, Definition: &stopgate.ToolDefinition{Name: tool, Schema: []byte(`{"type":"object"}`)}}
		for _, s := range []flow.View{read, nil} {
			v := final(t, p.BindUnder(call, eval.Circumstances{Situation: p.Situation(stopgate.Groups{}, noData, s)}), `{}`)
			if brief(v) != want {
				t.Errorf("%s: %s, want %s", tool, brief(v), want)
			}
			if v.Code == stopgate.CodeUntrustedText && v.Public != "A web page was read." {
				t.Errorf("public %q", v.Public)
			}
		}
		v := final(t, p.BindUnder(call, eval.Circumstances{Situation: p.Situation(stopgate.Groups{}, noData, &fakeView{})}), `{}`)
		if v.Mode != stopgate.Unattended {
			t.Errorf("%s before any page: %v", tool, v)
		}
	}
	if !p.LooksAtTexts() || !p.NeedsTexts() {
		t.Error("the policy needs no texts")
	}
}

// What the person said permits, and only that: without texts, or without the words, the rule is
// skipped.
func TestSays(t *testing.T) {
	p := compile(t, mail+`[tools.t.policy]
run = [ { when = { says = "(?i)delete" }, arg = "/name", from = ["user"], mode = "unattended" }, { mode = "ask" } ]
`)
	var key string
	for r := range p.Layers()[0].File.Rules() {
		if r.When != nil {
			key = r.When.Says.Key
		}
	}
	yes, no := session(), session()
	yes.match = map[string]bool{key: true}
	for _, c := range []struct {
		texts flow.View
		name  string
		want  stopgate.Mode
	}{{yes, "ann", stopgate.Unattended}, {yes, "eve", stopgate.Ask}, {no, "ann", stopgate.Ask}, {nil, "ann", stopgate.Ask}} {
		if v := with(t, p, fmt.Sprintf(`{"name":%q}`, c.name), c.texts); v.Mode != c.want {
			t.Errorf("%s: %v, want %s", c.name, v, c.want)
		}
	}
}

// With `where` a policy objects only to calls that fit, on suspicion: what is not known fits. `unless`
// is still a reason not to object.
func TestFlowPoliciesWhere(t *testing.T) {
	read := session()
	unread := &fakeView{texts: read.texts[:2]}
	const where = "where = [ { arg = \"/n\", minimum = 5 }, { arg = \"/name\", not_from = \"user\" } ]\nreason = \"why\"\n"
	for _, c := range []struct {
		policy, args string
		texts        flow.View
		want         string
		at           int
	}{
		{where, `{"n":7,"name":"eve"}`, read, "deny untrusted_text", 19},
		{where, `{"n":7,"name":"ann"}`, read, "unattended rule_matched rule 0", 0},
		{where, `{"n":4,"name":"eve"}`, read, "unattended rule_matched rule 0", 0},
		{where, `{"n":7,"name":"eve"}`, unread, "unattended rule_matched rule 0", 0},
		{where, `{"n":7,"name":"ann"}`, nil, "deny origin_unknown", 19},
		{where, `{"n":4,"name":"ann"}`, nil, "unattended rule_matched rule 0", 0},
		{where + "mode = \"ask\"\n", `{"n":7,"name":"eve"}`, read, "ask untrusted_text", 0},
		{where + "unless = { arg = \"/n\", maximum = 7 }\n", `{"n":7,"name":"eve"}`, read, "unattended rule_matched rule 0", 0},
		{where + "unless = { arg = \"/n\", maximum = 7 }\n", `{"n":8,"name":"eve"}`, read, "deny untrusted_text", 19},
		{"where = { arg = \"*\", from = \"web\" }\n", `{"n":7,"name":"x","to":["bob","mallory"]}`, read, "deny untrusted_text", 39},
		{"where = { arg = \"*\", from = \"web\" }\n", `{"n":7,"name":"ann","to":["bob"]}`, read, "unattended rule_matched rule 0", 0},
		{"where = { arg = \"/absent\", present = true }\n", `{"name":"eve"}`, read, "unattended rule_matched rule 0", 0},
	} {
		v := with(t, compile(t, afterWeb(c.policy)), c.args, c.texts)
		if got := brief(v); got != c.want || c.want[:4] == "deny" && v.DecidedAt != int64(c.at) {
			t.Errorf("%s on %s: %s at %d, want %s at %d", c.policy, c.args, got, v.DecidedAt, c.want, c.at)
		}
		if v.Code == stopgate.CodeUntrustedText && (v.Layer != stopgate.LayerSession || v.Rule != nil || (v.Public == "why") != strings.Contains(c.policy, "why") || v.Public == "") {
			t.Errorf("%s: layer %s, rule %v, %q", c.args, v.Layer, v.Rule, v.Public)
		}
	}
}

// A condition on the session's data limits a policy on texts; data that are not known do not.
func TestFlowPoliciesWithConditions(t *testing.T) {
	p := compile(t, afterWeb("when = { session = \"/strict\", const = true }\n"))
	for data, want := range map[string]stopgate.Mode{`{"strict":true}`: stopgate.Deny, `{"strict":false}`: stopgate.Unattended, `{}`: stopgate.Deny, ``: stopgate.Deny} {
		v, err := jsonstream.Parse([]byte(data), jsonstream.Options{})
		if err != nil && data != "" {
			t.Fatal(err)
		}
		b := p.BindUnder(stopgate.Call{Tool: "t"}, eval.Circumstances{Situation: p.Situation(stopgate.Groups{}, v, session())})
		if got := final(t, b, `{"name":"x"}`); got.Mode != want {
			t.Errorf("%q: %v, want %s", data, got, want)
		}
	}
}

// A project's file has its own sources: what it calls trusted is not trusted by the operator's
// rules, and a name that both declare is two sources.
func TestSourcesOfProjects(t *testing.T) {
	operator := `[sources.web]
tool = "fetch"
[sources.ours]
tool = "list"
trusted = true
[tools.list]
[tools.fetch]
[[guard]]
on = "string"
from = ["untrusted"]
mode = "deny"
[tools.t.parameters]
name = { type = "string" }
[tools.t.policy]
run = [ { arg = "/name", from = ["web"], mode = "ask" }, { mode = "unattended" } ]
`
	project := `project
[sources.web]
tool = "fetch"
trusted = true
[tools.fetch]
[tools.t.policy]
run = [ { arg = "/name", from = ["web"], mode = "skip" }, { mode = "unattended" } ]
`
	p := layers(t, condition.Env{}, operator, project)
	for name, want := range map[string]stopgate.Mode{"mallory": stopgate.Deny, "carl": stopgate.Skip, "dora": stopgate.Ask, "ann": stopgate.Unattended} {
		texts := &fakeView{texts: []said{
			{source: flow.Tool, tool: "fetch", words: "mallory", declared: []flow.Source{"web@1"}},
			{source: flow.Tool, tool: "fetch", words: "carl", declared: []flow.Source{"ours", "web@1"}},
			{source: flow.Tool, tool: "fetch", words: "dora", declared: []flow.Source{"web", "ours"}},
			{source: flow.User, words: "ann"},
		}}
		if v := with(t, p, fmt.Sprintf(`{"name":%q}`, name), texts); v.Mode != want {
			t.Errorf("%s: %v, want %s", name, v, want)
		}
	}
}

// Rules about results see the texts of the session, too, and fail closed without them.
func TestOriginsInResultRules(t *testing.T) {
	p := compile(t, mail+`[tools.t.policy]
run = "unattended"
result = [ { arg = "/name", from = ["web"], mode = "skip" }, { mode = "unattended" } ]
`)
	b := p.Bind(stopgate.Call{Tool: "t"})
	for _, c := range []struct {
		name  string
		texts flow.View
		want  stopgate.Mode
	}{{"mallory", session(), stopgate.Skip}, {"ann", session(), stopgate.Unattended}, {"ann", nil, stopgate.Skip}} {
		var doc jsonstream.Document
		if err := doc.Scan(fmt.Appendf(nil, `{"name":%q}`, c.name), jsonstream.Options{}); err != nil {
			t.Fatal(err)
		}
		if v := b.ResultModeWith(&doc, c.texts); v.Mode != c.want {
			t.Errorf("%s: %v, want %s", c.name, v, c.want)
		}
	}
}
