package hook_test

import (
	"encoding/json"

	"github.com/stopgate/stopgate/internal/hook"
)

// A model of how a host handles a reply, from the hosts' documentation, and pessimistic where that
// is unclear: a reply that is not documented to block runs the tool.
const (
	runs   = "runs"   // without a question of the gate
	asks   = "asks"   // the host asks its user
	blocks = "blocks" // the tool does not run
)

func hostDoes(host string, r hook.Reply) string {
	var out struct {
		Permission         string
		PermissionDecision string
		Decision, Reason   string
		ErrorMessage       string
		Cancel, Block      bool
		PermissionReason   string `json:"permissionDecisionReason"`
		Hook               struct {
			HookEventName            string
			PermissionDecision       string
			PermissionDecisionReason string
			UpdatedInput             json.RawMessage
		} `json:"hookSpecificOutput"`
	}
	valid := json.Unmarshal(r.Stdout, &out) == nil
	replied := len(r.Stderr) > 0
	switch host {
	case "claude-code":
		switch {
		case r.Exit == 2 && replied:
			return blocks
		case r.Exit == 0 && valid && out.Hook.HookEventName == "PreToolUse" && out.Hook.PermissionDecision == "deny":
			return blocks
		case r.Exit == 0 && valid && out.Hook.PermissionDecision == "ask":
			return asks
		}
	case "codex":
		switch {
		case r.Exit == 2 && replied:
			return blocks
		case r.Exit == 0 && valid && out.Hook.PermissionDecision == "deny" && out.Hook.PermissionDecisionReason != "":
			return blocks
		}
	case "gemini-cli":
		if r.Exit == 2 && replied || valid && (out.Decision == "deny" || out.Decision == "block") {
			return blocks
		}
	case "cursor":
		switch {
		case r.Exit == 2, valid && out.Permission == "deny":
			return blocks
		case r.Exit == 0 && valid && out.Permission == "ask":
			return asks
		}
	case "copilot-cli":
		switch {
		case r.Exit != 0, valid && out.PermissionDecision == "deny" && out.PermissionReason != "":
			return blocks
		case valid && out.PermissionDecision == "ask":
			return asks
		}
	case "crush":
		if (r.Exit == 2 || r.Exit == 49) && replied || r.Exit == 0 && valid && out.Decision == "deny" {
			return blocks
		}
	case "cline":
		if r.Exit == 0 && valid && out.Cancel && out.ErrorMessage != "" {
			return blocks
		}
	case "pi", "opencode", "kilo": // stopgate's own extensions
		if !(r.Exit == 0 && valid && !out.Block && string(r.Stdout) == "{\"block\":false}\n") {
			return blocks
		}
	case "qwen-code": // 0.24.4, with a user who can be asked; it denies otherwise
		switch {
		case r.Exit == 2 && replied:
			return blocks
		case r.Exit == 0 && valid && out.Hook.PermissionDecision == "ask":
			return asks
		}
	default: // generic
		if r.Exit == 2 && replied {
			return blocks
		}
	}
	return runs
}
