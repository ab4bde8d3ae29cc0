package eval_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// If a trusted file allows structured output, a recognised tool is exempt from its rules for all
// tools and from nothing else: guards, tables that name the tool, other files and untrusted ones
// apply.
func TestStructuredOutput(t *testing.T) {
	const passes = "version = 1\n[gate]\nstructured_output = \"unattended\"\n[tools.\"*\".policy]\nrun = \"ask\"\n"
	const asks = "version = 1\n[tools.\"*\".policy]\nrun = \"ask\"\n"
	const guard = "[[guard]]\non = \"path\"\nglob = \"**/.env\"\nmode = \"deny\"\n"
	const hands = "[[handoffs]]\ntool = \"transfer_to_*\"\nto = [\"*\"]\nmode = \"unattended\"\n"
	const output, transfer = "final_result", "transfer_to_billing"
	for _, c := range []struct {
		name, tool string
		files      []string // a file that begins with "#" is untrusted
		args       string
		want       stopgate.Mode
		note       string
	}{
		{"as before", output, []string{asks}, `{"answer":"x"}`, stopgate.Ask, "the rules decide"},
		{"passes", output, []string{passes}, `{"answer":"x"}`, stopgate.Unattended, "lets it pass"},
		{"not recognised", "final_report", []string{passes}, `{"answer":"x"}`, stopgate.Ask, ""},
		{"a denial for all tools", output, []string{strings.Replace(passes, `"ask"`, `"deny"`, 1)}, `{"answer":"x"}`, stopgate.Unattended, "lets it pass"},
		{"a guard", output, []string{passes + "[tools.\"*\".parameters]\nanswer = { type = \"path\" }\n" + guard}, `{"answer":"a/.env"}`, stopgate.Deny, "lets it pass"},
		{"a guard on what nobody declares", output, []string{passes + guard}, `{"answer":"a/.env"}`, stopgate.Deny, "lets it pass"},
		{"a table that names it", output, []string{passes + "[tools.final_result.policy]\nrun = \"deny\"\n"}, `{"answer":"x"}`, stopgate.Deny, "the rules decide"},
		{"a table of a pattern", output, []string{passes + "[tools.\"final_*\".policy]\nrun = \"deny\"\n"}, `{"answer":"x"}`, stopgate.Deny, "the rules decide"},
		{"another file", output, []string{passes, asks}, `{"answer":"x"}`, stopgate.Ask, "lets it pass"},
		{"arguments of another form", output, []string{passes}, `{"answer":1}`, stopgate.Deny, "lets it pass"},
		{"a handoff without an entry", transfer, []string{passes}, `{"answer":"x"}`, stopgate.Ask, "needs an entry"},
		{"a handoff", transfer, []string{passes + hands}, `{"answer":"x"}`, stopgate.Unattended, "lets it pass"},
		{"a handoff for another tool", transfer, []string{passes + strings.Replace(hands, "transfer_to_", "give_to_", 1)}, `{"answer":"x"}`, stopgate.Ask, "needs an entry"},
	} {
		var sources []policy.Source
		for _, text := range c.files {
			sources = append(sources, policy.Source{Name: "p.toml", Trusted: true, Text: []byte(text)})
		}
		p, list := prove.Compile(sources, policy.Options{Root: "/srv/app", Known: func(call stopgate.Call) (eval.KnownTool, bool) {
			return eval.KnownTool{Name: call.Tool, Output: call.Tool == output, Handoff: call.Tool == transfer}, true
		}})
		if p == nil {
			t.Fatal(c.name, list)
		}
		e := p.Bind(stopgate.Call{Tool: stopgate.ToolName(c.tool), Definition: &stopgate.ToolDefinition{
			Schema: []byte(`{"type":"object","properties":{"answer":{"type":"string"}}}`),
		}}).Evaluate()
		e.Feed([]byte(c.args))
		v := e.Close(stopgate.Ended)
		if note := e.Explain().Recognised; v.Mode != c.want || !strings.Contains(note, c.note) || (note == "") != (c.note == "") {
			t.Errorf("%s: %v %s, %q, want %v", c.name, v.Mode, v.Code, note, c.want)
		}
	}
}

// An untrusted file may have the setting, so that init can write it; it has no effect.
func TestStructuredOutputUntrusted(t *testing.T) {
	p, list := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte("version = 1\n[gate]\nstructured_output = \"unattended\"\n[tools.\"*\".policy]\nrun = \"ask\"\n")}}, policy.Options{
		Known: func(call stopgate.Call) (eval.KnownTool, bool) {
			return eval.KnownTool{Name: call.Tool, Output: true}, true
		},
	})
	if p == nil {
		t.Fatal(list)
	}
	e := p.Bind(stopgate.Call{Tool: "final_result", Definition: &stopgate.ToolDefinition{Schema: []byte(`{"type":"object"}`)}}).Evaluate()
	e.Feed([]byte("{}"))
	if v := e.Close(stopgate.Ended); v.Mode == stopgate.Unattended || e.Explain().Recognised == "" {
		t.Errorf("%+v", v)
	}
}
