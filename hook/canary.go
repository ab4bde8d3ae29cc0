package hook

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/jsonstream"
)

// CanaryCode is why the call of a [Host.Canary] is denied where the gate works.
const CanaryCode = stopgate.CodeProtectedTarget

// CanaryDenied reports whether what a hook said about a canary is a denial that comes
// from a policy, and not from a gate that denies everything because it cannot decide.
func CanaryDenied(said string) bool {
	for _, code := range []stopgate.Code{
		CanaryCode, stopgate.CodeRuleMatched, stopgate.CodeRuleSkipped, stopgate.CodeNoRuleMatched, stopgate.CodePolicyNotConfigured,
		stopgate.CodeNoApprover, stopgate.CodeApprovalPending, stopgate.CodeLockdown, stopgate.CodeDenialLimit,
	} {
		if strings.Contains(said, "("+string(code)+")") {
			return true
		}
	}
	return false
}

// Canary is the host's event about a call that every policy denies, because it starts
// a command of stopgate's own administration (DECISIONS S4): sent through the command
// line that is installed, it proves that a denial arrives (DECISIONS S51). id is the host's
// of the call: one that comes twice may be answered once.
func (h *Host) Canary(dir, id string) []byte {
	shell := "Bash"
	for _, t := range h.tools.Tools() {
		if len(t.Parameters) > 0 && t.Parameters[0].Name == "command" && t.Parameters[0].Kind != knowntools.Value && t.Parameters[0].Kind != knowntools.Patch {
			shell = t.Names[0]
			break
		}
	}
	return h.Proposes(stopgate.Call{
		Tool: stopgate.ToolName(shell), Args: []byte(`{"command":"stopgate approvals list"}`), ID: stopgate.CallID(id), Session: "doctor",
	}, dir)
}

// Blocks reports whether the host takes a reply for a denial. Where its documentation
// leaves something open, the answer is no.
func (h *Host) Blocks(r Reply) bool {
	switch h.Name {
	case "cline":
		root, err := jsonstream.Parse(r.Stdout, jsonstream.Options{ObjectRoot: true})
		if err != nil || r.Exit != 0 {
			return false
		}
		cancel, _ := root.Get("cancel")
		return cancel.Kind() == jsonstream.True
	case "copilot-cli":
		if r.Exit != 0 {
			return true // it fails closed
		}
		root, err := jsonstream.Parse(r.Stdout, jsonstream.Options{ObjectRoot: true})
		if err != nil {
			return false
		}
		decision, _ := root.Get("permissionDecision")
		reason, _ := root.Get("permissionDecisionReason")
		return decision.Text() == "deny" && reason.Text() != ""
	case "pi", "opencode":
		return r.Exit != 0 || strings.TrimSpace(string(r.Stdout)) != `{"block":false}`
	}
	return r.Exit == exitBlock && len(r.Stderr) > 0
}
