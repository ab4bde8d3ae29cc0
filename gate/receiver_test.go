package gate_test

import (
	"testing"

	"github.com/stopgate/stopgate"
)

// Proves S41, X15: a tool whose name says whom it hands over to is judged as that handoff.
func TestReceiverInTheNameOfATool(t *testing.T) {
	g := fileGate(t, `version = 1
gate.uncovered = "allow"
[tools."transfer_to_*"]
policy.run = "unattended"
[[handoffs]]
to = ["billing", "back_office"]
mode = "unattended"
tool = "transfer_to_*"
[[handoffs]]
to = "*"
mode = "deny"
reason = "Not to them."
`)
	for tool, code := range map[stopgate.ToolName]stopgate.Code{
		"transfer_to_billing": "", "transfer_to_back_office": "", "transfer_to_vault": stopgate.CodeRuleMatched,
		"transfer_to_": stopgate.CodePolicyNotConfigured, "transfer_to_billings": stopgate.CodeRuleMatched,
	} {
		out, _ := g.Decide(ctx, stopgate.Call{Tool: tool, Args: []byte(`{"to":"billing"}`)})
		if out.Allowed() != (code == "") || code != "" && out.Verdict.Code != code {
			t.Errorf("%s: %v", tool, out.Verdict)
		}
	}
}
