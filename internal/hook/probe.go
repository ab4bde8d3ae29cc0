package hook

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/knowntools"
)

// ProbeCode is the code of the denial of a [Host.Probe] event if the gate works.
const ProbeCode = stopgate.CodeProtectedTarget

// IsPolicyDenial reports whether the output of a hook for a probe is a denial by a policy,
// and not by a gate that denies because it cannot decide.
func IsPolicyDenial(output string) bool {
	for _, code := range []stopgate.Code{
		ProbeCode, stopgate.CodeRuleMatched, stopgate.CodeRuleSkipped, stopgate.CodeNoRuleMatched, stopgate.CodePolicyNotConfigured,
		stopgate.CodeNoApprover, stopgate.CodeApprovalPending, stopgate.CodeLockdown, stopgate.CodeDenialLimit,
	} {
		if strings.Contains(output, "("+string(code)+")") {
			return true
		}
	}
	return false
}

// Probe returns the host's event for a call that every policy denies, because it starts an
// administrative command of stopgate (S4). Sent through the installed command line, it
// shows whether denials arrive (S51). id is the host's id of the call; it must be unique,
// because a repeated call may get the earlier decision.
func (h *Host) Probe(dir, id string) []byte {
	shell := "Bash"
	for _, t := range h.tools().Tools() {
		if len(t.Parameters) > 0 && t.Parameters[0].Name == "command" && t.Parameters[0].Kind != knowntools.Value && t.Parameters[0].Kind != knowntools.Patch {
			shell = t.Names[0]
			break
		}
	}
	return h.BuildEvent(stopgate.Call{
		Tool: stopgate.ToolName(shell), Args: []byte(`{"command":"stopgate approvals list"}`), ID: stopgate.CallID(id), Session: "doctor",
	}, dir)
}

// Blocks reports whether the host treats a reply as a denial. If the host's documentation
// is unclear, it returns false.
func (h *Host) Blocks(r Reply) bool {
	if h.blocks != nil {
		return h.blocks(r)
	}
	return r.Exit == exitBlock && len(r.Stderr) > 0
}
