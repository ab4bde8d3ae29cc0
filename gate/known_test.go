package gate_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// Proves S2, G2-02, G2-08, G2-12, K35: a tool policy's Permit makes a tool known that no
// file knows; nothing else does, and it loosens nothing that a file says.
func TestAPolicyInGoKnowsATool(t *testing.T) {
	permit := gate.Decision{Kind: gate.Permit, Reason: "fine"}
	silent := gate.Decision{Kind: gate.NoOpinion}
	for _, c := range []struct {
		name   string
		file   string
		says   []gate.Decision
		args   string
		status stopgate.Status
		code   stopgate.Code
	}{
		{"permitted", ``, []gate.Decision{permit}, `{"a":1}`, stopgate.Allowed, "fine"},
		{"one of several", ``, []gate.Decision{silent, permit, silent}, `{}`, stopgate.Allowed, "fine"},
		{"no opinion", ``, []gate.Decision{silent}, `{}`, stopgate.Denied, stopgate.CodePolicyNotConfigured},
		{"nobody", ``, nil, `{}`, stopgate.Denied, stopgate.CodePolicyNotConfigured},
		{"forbidden behind a permit", ``, []gate.Decision{permit, {Kind: gate.Forbid, Reason: "no"}}, `{}`, stopgate.Denied, "no"},
		{"no answer behind a permit", ``, []gate.Decision{permit, {}}, `{}`, stopgate.Denied, stopgate.CodeInvalidPolicyResult},
		{"malformed", ``, []gate.Decision{permit}, `{"a":1,"a":2}`, stopgate.Denied, stopgate.CodeDuplicateKey},
		{"a guard", "[[guard]]\narg = \"/a\"\nconst = 1\nmode = \"deny\"\n", []gate.Decision{permit}, `{"a":1}`, stopgate.Denied, stopgate.CodeRuleMatched},
		{"a guard beside it", "[[guard]]\narg = \"/a\"\nconst = 1\nmode = \"deny\"\n", []gate.Decision{permit}, `{"a":2}`, stopgate.Allowed, "fine"},
		{"a table that asks", "[tools.tool.policy]\nrun = \"ask\"\n", []gate.Decision{permit}, `{}`, stopgate.Denied, stopgate.CodeNoApprover},
		{"a table for all that denies", "[tools.\"*\".policy]\nrun = \"deny\"\n", []gate.Decision{permit}, `{}`, stopgate.Denied, stopgate.CodeRuleMatched},
		{"a table for all does not know it", "[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n", []gate.Decision{silent}, `{}`, stopgate.Denied, stopgate.CodePolicyNotConfigured},
		{"a table for all and a permit", "[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n", []gate.Decision{permit}, `{}`, stopgate.Allowed, stopgate.CodeRuleMatched},
		{"unknown tools ask", "[gate]\nunknown_tool = \"ask\"\n", []gate.Decision{silent}, `{}`, stopgate.Denied, stopgate.CodeNoApprover},
		{"unknown tools ask, and a permit", "[gate]\nunknown_tool = \"ask\"\n", []gate.Decision{permit}, `{}`, stopgate.Allowed, "fine"},
		{"a known tool needs no permit", "[tools.tool.policy]\nrun = \"unattended\"\n", []gate.Decision{silent}, `{}`, stopgate.Allowed, stopgate.CodeRuleMatched},
	} {
		t.Run(c.name, func(t *testing.T) {
			var opts []gate.Option
			for i, d := range c.says {
				opts = append(opts, gate.WithToolPolicies(policyOf(string(rune('a'+i)), d)))
			}
			opts = append(opts, gate.WithLimits(gate.Limits{Policy: time.Minute}))
			g := fileGate(t, "version = 1\n"+c.file, opts...)
			out, err := g.Decide(ctx, stopgate.Call{Tool: "tool", Args: []byte(c.args)})
			want(t, out, c.status, c.code)
			if errors.Is(err, gate.ErrToolDenied) == out.Allowed() {
				t.Errorf("error %v", err)
			}
			if out.Allowed() && string(out.Args) != c.args {
				t.Errorf("runs %s", out.Args)
			}
		})
	}
}

// Proves S2, S16: a policy that comes into force while a call is open and does not know
// its tool any more refuses it, unless a policy in Go permitted it.
func TestAToolThatIsForgotten(t *testing.T) {
	for _, c := range []struct {
		name   string
		next   string
		says   gate.DecisionKind
		status stopgate.Status
		code   stopgate.Code
	}{
		{"forgotten", ``, gate.NoOpinion, stopgate.Denied, stopgate.CodePolicyNotConfigured},
		{"asked", "[gate]\nunknown_tool = \"ask\"\n", gate.NoOpinion, stopgate.Denied, stopgate.CodeApprovalStale},
		{"permitted", ``, gate.Permit, stopgate.Allowed, stopgate.CodeRuleMatched},
	} {
		t.Run(c.name, func(t *testing.T) {
			var g *gate.Gate
			swapping := ports.ToolPolicy{As: "go", Answer: func(context.Context, gate.Proposal) (gate.Decision, error) {
				if err := g.Swap(compile(t, "version = 1\n"+c.next)); err != nil {
					t.Error(err)
				}
				return gate.Decision{Kind: c.says, Reason: "fine"}, nil
			}}
			g = fileGate(t, "version = 1\n[tools.tool.policy]\nrun = \"unattended\"\n", gate.WithToolPolicies(swapping),
				gate.WithDenyMode(gate.DenyToolResult), gate.WithLimits(gate.Limits{Policy: time.Minute}))
			out, err := g.Decide(ctx, stopgate.Call{Tool: "tool", Args: []byte(`{}`)})
			if err != nil {
				t.Fatal(err)
			}
			want(t, out, c.status, c.code)
		})
	}
}
