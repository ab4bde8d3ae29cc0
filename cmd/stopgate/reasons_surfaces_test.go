package main

import (
	"strings"
	"testing"
)

// Every reason is true on every surface: a path that is not known has a code and a sentence of
// its own and not the reason of a guard; two million harmless characters satisfy no guard; a
// command line that is too long to be examined is refused for that reason.
func TestReasonsAreTrueOnSurfaces(t *testing.T) {
	dir := liveIn(t, `version = 1
[gate]
denial_limit = 0
[approvals]
unary_timeout = "10ms"
[[guard]]
on = "string"
pattern = "AKIA[0-9A-Z]{16}"
mode = "deny"
reason = "no AWS keys"
[[guard]]
on = "path"
glob = "**/.env"
mode = "deny"
reason = "no secrets"
[tools.run.parameters]
text = { type = "string" }
command = { type = "command" }
[tools.run.policy]
run = "unattended"
[tools.files__run.parameters]
text = { type = "string" }
command = { type = "command" }
[tools.files__run.policy]
run = "unattended"
`)
	schema := `{"type":"object","properties":{"text":{"type":"string"},"command":{"type":"string"}}}`
	m := newLiveMCP(t, dir, "files", `[{"name":"run","inputSchema":`+schema+`}]`)
	g := newLiveGateway(t, dir)
	long := strings.Repeat("y", 2_000_000)
	for _, c := range []struct {
		name, args, status, code string
		says, not                string
	}{
		{"a path that is not known", `{"command":"rm -rf {a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u}"}`, "denied", "", "too many ways", "no secrets"},
		{"a secret", `{"command":"cat .env"}`, "denied", "rule_matched", "no secrets", "too many ways"},
		{"a long text", `{"text":"` + long + `"}`, "allowed", "rule_matched", "", "no AWS keys"},
		{"a key at the end of a long text", `{"text":"` + long + `AKIA0123456789ABCDEF"}`, "denied", "rule_matched", "no AWS keys", ""},
		{"a long command line", `{"command":"echo ` + long + `"}`, "denied", "matcher_budget", "too long to be examined", "no secrets"},
	} {
		for surface, p := range map[string]surfaced{"MCP gateway": m.calls(t, "run", c.args), "gateway": g.calls(t, "run", c.args, schema)} {
			if p.Status != c.status || c.code != "" && p.Code != c.code {
				t.Errorf("%s: %s: %s %s %s", surface, c.name, p.Status, p.Mode, p.Code)
			}
			if !strings.Contains(p.said, c.says) || c.not != "" && strings.Contains(p.said, c.not) {
				t.Errorf("%s: %s: says %.400s", surface, c.name, p.said)
			}
		}
	}
}
