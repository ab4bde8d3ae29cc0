package gate_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// Proves K60, K0c: rules and session policies see the groups of the call, the record names them, and
// a binding of one caller does not serve another. What is not known restricts and does not permit.
func TestGroupsOfACall(t *testing.T) {
	var rec ports.Recorder
	g := fileGate(t, `version = 1
[tools.deploy.policy]
run = [{ when = { group = "leads" }, mode = "unattended" }, { mode = "deny" }]
[tools.mail.policy]
run = "unattended"
[[session]]
type = "limit"
tools = "mail"
max_calls = 0
when = { group = "interns" }
[[session]]
type = "limit"
name = "bob"
tools = "mail"
max_calls = 0
when = { principal = "bob" }
`, gate.WithStore(mem.New()), gate.WithRecorder(&rec))
	of := func(names ...string) stopgate.Groups {
		groups, err := stopgate.GroupsOf(names...)
		if err != nil {
			t.Fatal(err)
		}
		return groups
	}
	for i, c := range []struct {
		tool      stopgate.ToolName
		principal stopgate.Principal
		groups    stopgate.Groups
		allowed   bool
	}{
		{"deploy", "ann", of("leads", "people"), true},
		{"deploy", "ann", of("people"), false},
		{"deploy", "ann", of(), false},
		{"deploy", "ann", stopgate.Groups{}, false},
		{"deploy", "ann", of("leads"), true},
		{"mail", "ann", of("people"), true},
		{"mail", "ann", of("interns"), false},
		{"mail", "ann", stopgate.Groups{}, false},
		{"mail", "bob", of("people"), false},
	} {
		out, err := g.Decide(ctx, stopgate.Call{Tool: c.tool, Session: "s", Principal: c.principal, Groups: c.groups, Args: []byte("{}")})
		if (err == nil) != c.allowed || out.Allowed() != c.allowed {
			t.Errorf("%d: %s of %s in %q: allowed %t: %v %v", i, c.tool, c.principal, c.groups.Names(), out.Allowed(), out.Verdict, err)
		}
		rows := rec.Decisions()
		if row := rows[len(rows)-1]; row.Groups != c.groups {
			t.Errorf("%d: the row has %q", i, row.Groups.Names())
		}
	}
}
