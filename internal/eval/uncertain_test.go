package eval_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
)

// An explanation states why a permissive condition is uncertain, and a type for the parameter, also
// in a table for all tools, makes it certain.
func TestUncertain(t *testing.T) {
	rules := func(parameters, condition string) string {
		return "version = 1\n" + parameters + "[tools.\"*\".policy]\nrun = [{ arg = \"/url\", " + condition + ", mode = \"unattended\" }, { mode = \"ask\" }]\n"
	}
	typed := func(name string) string { return "[tools.\"*\".parameters]\nurl = { type = \"" + name + "\" }\n" }
	const pattern, web = `pattern = "^https?://example\\.com/"`, "http://example.com/a"
	for _, c := range []struct{ name, policy, value, want, why string }{
		{"no type", rules("", pattern), web, "ask", `counts as a path too, and as one it does not plainly match; declare it with type = "string" or "url"`},
		{"a string", rules(typed("string"), pattern), web, "unattended", ""},
		{"a url", rules(typed("url"), pattern), web, "unattended", ""},
		{"another url", rules("", pattern), "http://example.org/a", "ask", ""},
		{"a path in disguise", rules(typed("path"), `prefix = "src"`), "src/%61", "ask", "the path can be read in several ways: src/%61 (as written); src/a (percent-decoded)"},
		{"a path elsewhere", rules(typed("path"), `prefix = "src"`), "lib/a", "ask", ""},
		{"a url in disguise", rules(typed("url"), `host = "example.com"`), `http://example.com\\@a`, "ask", "parsers read the URL differently"},
	} {
		call := stopgate.Call{Tool: "fetch", Definition: &stopgate.ToolDefinition{Name: "fetch", Schema: []byte(`{"type":"object"}`)}}
		e := compile(t, c.policy).Bind(call).Evaluate()
		e.Feed([]byte(`{"url":"` + c.value + `"}`))
		v := e.Close(stopgate.Ended)
		why := ""
		for _, l := range e.Explain().Lists {
			for _, r := range l.Rules {
				for _, k := range r.Conditions {
					why += k.Uncertain
				}
			}
		}
		if v.Mode.String() != c.want || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: %s, uncertain %q; want %s, %q", c.name, spell(v), why, c.want, c.why)
		}
	}
	// The same without a schema of the tool.
	e := compile(t, strings.Replace(rules("", pattern), `"*"`, "fetch", 1)).Bind(stopgate.Call{Tool: "fetch"}).Evaluate()
	e.Feed([]byte(`{"url":"` + web + `"}`))
	e.Close(stopgate.Ended)
	if why := e.Explain().Lists[0].Rules[0].Conditions[0].Uncertain; !strings.Contains(why, "counts as a path too") {
		t.Errorf("without a schema: uncertain %q", why)
	}
}
