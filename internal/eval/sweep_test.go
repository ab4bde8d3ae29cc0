package eval_test

import (
	"testing"

	"github.com/stopgate/stopgate"
)

// Proves K0a, K8: a command that reads complete directories is asked about if a guard on paths
// could match a file below, unless the guard ignores them; a guard that matches a named path still
// denies.
func TestGuardedBelow(t *testing.T) {
	const tool = "version = 1\n[tools.sh.parameters]\ncommand = { type = \"command\", required = true }\n[tools.sh.policy]\nrun = [ { arg = \"/command\", prefix = \"grep\", mode = \"unattended\" }, { mode = \"ask\" } ]\n"
	for _, c := range []struct {
		guard, line string
		want        stopgate.Mode
		code        stopgate.Code
	}{
		{"", "grep -r k .", stopgate.Unattended, stopgate.CodeRuleMatched},
		{`on = "path"` + "\nglob = \"secrets/**\"", "grep -r k .", stopgate.Ask, stopgate.CodeGuardedBelow},
		{`on = "path"` + "\nglob = \"secrets/**\"", "grep -r k src", stopgate.Unattended, stopgate.CodeRuleMatched},
		{`on = "path"` + "\nglob = \"secrets/**\"", "grep -r k secrets", stopgate.Deny, stopgate.CodeRuleMatched},
		{`on = "path"` + "\nglob = \"secrets/**\"\nbelow = \"ignore\"", "grep -r k .", stopgate.Unattended, stopgate.CodeRuleMatched},
		{`on = "path"` + "\nglob = \"secrets/**\"\nbelow = \"ignore\"", "grep -r k secrets", stopgate.Deny, stopgate.CodeRuleMatched},
		{`on = "path"` + "\nglob = \"secrets/**\"\nbelow = \"ask\"\nwhen = { agent = \"x\" }", "grep -r k .", stopgate.Unattended, stopgate.CodeRuleMatched},
	} {
		text := tool
		if c.guard != "" {
			text += "[[guard]]\n" + c.guard + "\nmode = \"deny\"\n"
		}
		e := compile(t, text).Bind(stopgate.Call{Tool: "sh", Agent: "y"}).Evaluate()
		e.Feed([]byte(`{"command":"` + c.line + `"}`))
		v := e.Close(stopgate.Ended)
		if v.Mode != c.want || v.Code != c.code {
			t.Errorf("%q, %s: %v %s, want %v %s", c.guard, c.line, v.Mode, v.Code, c.want, c.code)
		}
	}
}
