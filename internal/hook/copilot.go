package hook

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/jsonstream"
)

// copilotCLI supports the hooks of Copilot CLI and the Copilot cloud agent, in both forms:
// camelCase events with toolArgs, and PascalCase events with the members of Claude Code. A
// command that fails denies; a timeout always allows.
func copilotCLI() *Host {
	return &Host{
		Name: "copilot-cli", Title: "Copilot CLI", CanAsk: true, Rewrite: ReplaceArgs, WithholdsResults: true,
		Program: "copilot", Live: copilotLive,
		Settings: Settings{
			Form: Flat, User: ".copilot/hooks/stopgate.json", Project: ".github/hooks/stopgate.json", Moved: Move{Variable: "COPILOT_HOME", Replaces: ".copilot"},
			Version: "1", Events: []string{"PreToolUse", "PostToolUse", "UserPromptSubmit"}, Members: `"type": "command", "timeoutSec": 600`,
		},
		Limitations: []string{
			"if a hook exceeds its timeout, the call always runs",
			"VS Code reads the same file, may wait only 30 s, and does not document what follows; results cannot be withheld from the model there",
			limitOtherHooks,
			"the cloud agent has no user to ask: ask is a denial there",
			"hooks in .claude/settings.json run too: install one of the two",
		},
		fields: fields{
			event: []string{"hook_event_name", "hookEventName"}, tool: []string{"tool_name", "toolName"}, input: []string{"tool_input", "toolArgs"},
			id: []string{"tool_use_id", "toolCallId"}, session: []string{"session_id", "sessionId"}, dir: []string{"cwd"},
			result: []string{"tool_response", "toolResult", "tool_result"}, failed: []string{"error"},
			prompt: []string{"prompt"},
		},
		defaultEvent: "preToolUse", // camelCase events do not contain their name
		eventName:    copilotEvent,
		isFailedResult: func(_, result value) bool {
			kind, ok := result.Get("resultType")
			return ok && kind.Text() != "success"
		},
		events: map[string]Kind{
			"PreToolUse": Before, "preToolUse": Before, "PostToolUse": After, "postToolUse": After,
			"UserPromptSubmit": Prompt, "userPromptSubmitted": Prompt,
		},
		splitMCP: splitPrefixed("mcp__", "__"),
		format:   copilotReply,
		Reports:  flow.KnowsUser,
		blocks: func(r Reply) bool {
			if r.Exit != 0 {
				return true // the host fails closed
			}
			root, err := jsonstream.Parse(r.Stdout, jsonstream.Options{ObjectRoot: true})
			if err != nil {
				return false
			}
			decision, _ := root.Get("permissionDecision")
			reason, _ := root.Get("permissionDecisionReason")
			return decision.Text() == "deny" && reason.Text() != ""
		},
	}
}

func copilotLive(m Model) Live {
	return Live{
		Tool: "bash", Args: describedArgs,
		Words: []string{"--prompt", m.Prompt, "--model", m.Name, "--no-auto-update"},
		Env: []string{
			"COPILOT_ALLOW_ALL=true", "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + m.URL + "/v1", "COPILOT_PROVIDER_API_KEY=sk-test",
			"COPILOT_PROVIDER_WIRE_MODEL=" + m.Name, "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=100000", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS=4000",
		},
	}
}

// copilotEvent distinguishes the camelCase events, which do not contain their name: only a
// call that ran has a result, and only a prompt has a prompt and no tool.
func copilotEvent(root value) string {
	about := present(root, "toolName") || present(root, "toolArgs") || present(root, "tool_name") || present(root, "tool_input")
	switch {
	case present(root, "toolName") && present(root, "toolResult"):
		return "postToolUse"
	case !about && present(root, "prompt"):
		return "userPromptSubmitted"
	}
	return ""
}

func copilotReply(_ *Host, e *Event, a Decision) Reply {
	if e.Kind == After && a.Action != Abstain {
		inner := new(members).str("resultType", "success").str("textResultForLlm", withheldText(a))
		return Reply{Stdout: new(members).raw("modifiedResult", inner.end()).line()}
	}
	switch a.Action {
	case Abstain:
		return Reply{}
	case Allow:
		return Reply{Stdout: copilotDecision("allow", e, a).line()}
	case Ask:
		return Reply{Stdout: copilotDecision("ask", e, a).line()}
	}
	a.Input = nil
	// Copilot CLI shows the model the reason in the JSON, but not that of an exit status.
	return Reply{Stdout: copilotDecision("deny", e, a).line(), Stderr: []byte(a.reason() + "\n")}
}

// copilotDecision is the flat form of Copilot CLI. PascalCase events may come from VS Code,
// which reads the same configuration and accepts only the form of Claude Code. They get
// both forms.
func copilotDecision(decision string, e *Event, a Decision) *members {
	m := new(members).str("permissionDecision", decision).str("permissionDecisionReason", a.reason()).raw("modifiedArgs", a.Input)
	if e.Name == "PreToolUse" {
		m.raw("hookSpecificOutput", claudeSpecific(decision, a))
	}
	return m
}
