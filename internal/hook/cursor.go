package hook

import "github.com/stopgate/stopgate/flow"

// cursor supports the hooks of Cursor. A reply without a permission may block or run the
// tool, so every reply has one. Abstain is "allow", which leaves the settings of the editor
// in force.
func cursor() *Host {
	return &Host{
		Name: "cursor", Title: "Cursor", CanAsk: true, Rewrite: NoRewrite,
		Program: "cursor-agent", ProjectVariable: "CURSOR_PROJECT_DIR",
		NotLive: "Cursor runs with an account and with its own models only, so doctor cannot put a scripted one in their place",
		Settings: Settings{
			Form: Flat, User: ".cursor/hooks.json", Project: ".cursor/hooks.json", Version: "1",
			Events:  []string{"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "postToolUse", "beforeSubmitPrompt"},
			Members: `"timeout": 600, "failClosed": true`,
		},
		Limitations: []string{
			"without failClosed, which install sets, the call runs if a hook fails",
			"some versions send no preToolUse for reading files; beforeReadFile, which install also sets, covers them",
			"edits of files send preToolUse only; older versions report them afterwards",
			"a denied subagentStart is ignored, and cloud agents load only the hooks of the repository",
			"hooks in .claude/settings.json may run too: install one of the two",
			"ask works only in beforeShellExecution and beforeMCPExecution; preToolUse, which install also sets and which comes first, denies calls that need an approval, or waits for stopgate approvals",
			"results cannot be withheld from the model",
		},
		fields: fields{
			event: []string{"hook_event_name"}, tool: []string{"tool_name"}, input: []string{"tool_input"},
			id: []string{"tool_use_id"}, session: []string{"conversation_id"}, dir: []string{"cwd"}, roots: []string{"workspace_roots"}, turn: []string{"generation_id"},
			result: []string{"result_json", "tool_output", "output"}, failed: []string{"error"},
			prompt: []string{"prompt"},
		},
		events: map[string]Kind{
			"preToolUse": Before, "beforeShellExecution": Before, "beforeMCPExecution": Before, "beforeReadFile": Before,
			"postToolUse": After, "beforeSubmitPrompt": Prompt,
		},
		fixedTools: map[string]fixedTool{
			"beforeShellExecution": {"Shell", []string{"command"}},
			"beforeReadFile":       {"Read", []string{"file_path"}},
		},
		Reports:    flow.KnowsUser,
		toolPrefix: map[string]string{"beforeMCPExecution": "MCP:"}, // as in preToolUse, so that no MCP tool is named Read or Shell
		format:     cursorReply,
	}
}

func cursorReply(_ *Host, e *Event, a Decision) Reply {
	if e.Kind == After || e.Kind == Other {
		return Reply{}
	}
	if e.Kind == Prompt {
		return Reply{Stdout: new(members).flag("continue", true).line()}
	}
	m := new(members)
	switch {
	case a.Action == Abstain, a.Action == Allow:
		return Reply{Stdout: m.str("permission", "allow").line()}
	case a.Action == Ask && (e.Name == "beforeShellExecution" || e.Name == "beforeMCPExecution"):
		return Reply{Stdout: m.str("permission", "ask").str("user_message", a.reason()).str("agent_message", a.reason()).line()}
	}
	return denyReply(a, m.str("permission", "deny").str("user_message", a.reason()).str("agent_message", a.reason()))
}
