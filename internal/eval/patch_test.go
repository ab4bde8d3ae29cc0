package eval_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

const patchTool = `version = 1
[tools.apply_patch.parameters]
input = { type = "patch", required = true }
[tools.apply_patch.policy]
run = [ { arg = "/input", prefix = "src", mode = "unattended" }, { mode = "ask" } ]
[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"
`

// Proves S40: rules and guards on paths evaluate the files of a patch, so does the protected list,
// and a patch that cannot be parsed is asked about.
func TestPatchParameters(t *testing.T) {
	p := compile(t, patchTool)
	file := func(name string) string {
		return "*** Begin Patch\n*** Update File: " + name + "\n@@\n-a\n+b\n*** End Patch"
	}
	for _, c := range []struct {
		patch string
		want  stopgate.Mode
		code  stopgate.Code
	}{
		{file("src/a"), stopgate.Unattended, stopgate.CodeRuleMatched},
		{file("lib/a"), stopgate.Ask, stopgate.CodeRuleMatched},
		{file("src/.env"), stopgate.Deny, stopgate.CodeRuleMatched},
		{file("src/.git/hooks/x"), stopgate.Ask, stopgate.CodeProtectedTarget},
		{file("/run/stopgate/x"), stopgate.Deny, stopgate.CodeProtectedTarget},
		{"--- a/src/x\n+++ b/src/x\n@@ -1 +1 @@\n-a\n+b\n", stopgate.Unattended, stopgate.CodeRuleMatched},
		{"src/a", stopgate.Ask, stopgate.CodeRuleMatched},
		{"--- a/src/x\n", stopgate.Ask, stopgate.CodeRuleMatched},
	} {
		e := p.Bind(stopgate.Call{Tool: "apply_patch"}).Evaluate()
		e.Feed(append(append([]byte(`{"input":`), jsonstream.AppendQuote(nil, c.patch)...), '}'))
		if v := e.Close(stopgate.Ended); v.Mode != c.want || v.Code != c.code {
			t.Errorf("%q: %v %s, want %v %s", c.patch, v.Mode, v.Code, c.want, c.code)
		}
	}
	free := compile(t, "version = 1\n[tools.apply_patch.parameters]\ninput = { type = \"patch\" }\n[tools.apply_patch.policy]\nrun = \"unattended\"\n")
	e := free.Bind(stopgate.Call{Tool: "apply_patch"}).Evaluate()
	e.Feed([]byte(`{"input":"rm -rf /"}`))
	if v := e.Close(stopgate.Ended); v.Mode != stopgate.Ask || v.Code != stopgate.CodePatchNotReadable {
		t.Errorf("what is no patch: %v %s", v.Mode, v.Code)
	}
}
