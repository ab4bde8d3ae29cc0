package gate_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// Where nobody can answer, a call of which it is not known which file it names is denied
// with that, and with what the model can do about it.
func TestPathNotKnownWithoutApprover(t *testing.T) {
	p, list := prove.Compile([]policy.Source{{Name: "p.toml", Trusted: true, Text: []byte("version = 1\n[tools.sh.parameters]\ncommand = { type = \"command\", required = true }\n" +
		"[tools.sh.policy]\nrun = \"unattended\"\n[[guard]]\non = \"path\"\nglob = \"**/.env\"\nmode = \"deny\"\nreason = \"secrets\"\n")}}, policy.Options{Root: "/srv/proj", RunLost: true})
	if p == nil {
		t.Fatal(list)
	}
	g, err := gate.New(p, gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	out := decide(t, g, "sh", `{"command":"cat src/a"}`)
	if out.Allowed() || out.Verdict.Code != stopgate.CodePathNotKnown || !strings.Contains(out.Verdict.Public, "write absolute paths") {
		t.Errorf("%+v", out.Verdict)
	}
	if out := decide(t, g, "sh", `{"command":"cat /srv/proj/src/a"}`); !out.Allowed() {
		t.Errorf("%+v", out.Verdict)
	}
}
