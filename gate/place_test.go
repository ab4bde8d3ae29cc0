package gate_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// Proves H12: calls of one session that begin in different directories, as those of a
// hook do, know files and not names, and a link is the file that it leads to now.
func TestThreatH12OneSessionInSeveralPlaces(t *testing.T) {
	const text = `version = 1
[gate]
deny_mode = "tool_result"
[tools.read_file.policy]
run = "unattended"
[tools.write_file.policy]
run = "unattended"
[tools.sign.policy]
run = "unattended"
[tools.ship.policy]
run = "unattended"
[[session]]
type = "read_before_write"
[[session]]
type = "require"
before = "ship"
requires = "sign"
key = "/file"
key_type = "path"
`
	target := "/srv/p/src/a"
	store := &ports.Store{Memory: true}
	call := func(dir string, tool stopgate.ToolName, args string, code stopgate.Code) {
		t.Helper()
		program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: true}}, policy.Options{
			Root: "/srv/p", Dir: dir, Links: &condition.Links{Real: func(name string) (string, bool) {
				if name == "/srv/p/link" {
					name = target
				}
				return name, true
			}},
		})
		if mistakes.HasErrors() {
			t.Fatal(mistakes)
		}
		g, err := gate.New(program, gate.WithStore(store))
		if err != nil {
			t.Fatal(err)
		}
		owner := session.Owner{Session: "s"}
		out, err := g.Decide(ctx, stopgate.Call{Tool: tool, Session: owner.Session, Args: []byte(args)})
		if err != nil || out.Allowed() != (code == "") || code != "" && out.Verdict.Code != code {
			t.Errorf("%s %s in %s: %v %v, want %q", tool, args, dir, out.Verdict, err, code)
		}
		if out.Allowed() && tool != "write_file" {
			if _, err := g.Observe(ctx, stopgate.Result{Proposal: out.Proposal, Session: owner.Session, Tool: tool, Observed: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	call("/srv/p/conf", "read_file", `{"path":"a"}`, "")
	call("/srv/p/src", "write_file", `{"path":"a"}`, stopgate.CodeReadRequired)
	call("/srv/p", "write_file", `{"path":"conf/a"}`, "")
	call("/srv/p", "read_file", `{"path":"link"}`, "")
	call("/srv/p/src", "write_file", `{"path":"a"}`, "")
	call("/srv/p", "write_file", `{"path":"link"}`, "")
	call("/srv/p/conf", "sign", `{"file":"b"}`, "")
	call("/srv/p/src", "ship", `{"file":"b"}`, stopgate.CodePrerequisiteMissing)
	call("/srv/p", "ship", `{"file":"conf/b"}`, "")
	target = "/srv/p/.env"
	call("/srv/p", "write_file", `{"path":"link"}`, stopgate.CodeReadRequired)
}
