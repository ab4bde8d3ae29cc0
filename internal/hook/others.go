package hook

// copilotCLI supports the hooks of Copilot CLI and the Copilot cloud agent, in both forms:
// camelCase events with toolArgs, and PascalCase events with the members of Claude Code. A
// command that fails denies; a timeout always allows.
func copilotCLI() *Host {
	return &Host{
		Name: "copilot-cli", Title: "Copilot CLI", CanAsk: true, Rewrite: ReplaceArgs, WithholdsResults: true,
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

// cursor supports the hooks of Cursor. A reply without a permission may block or run the
// tool, so every reply has one. Abstain is "allow", which leaves the settings of the editor
// in force.
func cursor() *Host {
	return &Host{
		Name: "cursor", Title: "Cursor", CanAsk: true, Rewrite: NoRewrite,
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
		},
		events: map[string]Kind{
			"preToolUse": Before, "beforeShellExecution": Before, "beforeMCPExecution": Before, "beforeReadFile": Before,
			"postToolUse": After, "beforeSubmitPrompt": Prompt,
		},
		fixedTools: map[string]fixedTool{
			"beforeShellExecution": {"Shell", []string{"command"}},
			"beforeReadFile":       {"Read", []string{"file_path"}},
		},
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

// crush supports the hooks of crush. New arguments are merged member by member. Exit status
// 49 ends the turn.
func crush() *Host {
	return &Host{
		Name: "crush", Title: "crush", Rewrite: MergeArgs,
		Limitations: []string{
			"if a hook crashes, is killed without its shell, or exceeds its timeout, the call runs",
			"calls of its agents (agent, agentic_fetch) run no hook: only the call that starts an agent is evaluated",
			limitOtherHooks,
			"a hook cannot make crush ask: calls that need an approval are denied, or approved with stopgate approvals",
			"results cannot be withheld from the model, and there is no event after a tool ran: session policies that depend on results receive none",
		},
		fields: fields{
			event: []string{"event", "hook_event_name"}, tool: []string{"tool_name"}, input: []string{"tool_input"},
			id: []string{"tool_call_id", "tool_use_id"}, session: []string{"session_id"}, dir: []string{"cwd"},
		},
		events:   map[string]Kind{"PreToolUse": Before, "pre_tool_use": Before},
		splitMCP: splitPrefixed("mcp_", "_"),
		format:   crushReply,
	}
}

// exitHalt is the exit status that ends the turn.
const exitHalt = 49

func crushReply(_ *Host, _ *Event, a Decision) Reply {
	m := new(members).raw("version", []byte("1"))
	switch {
	case a.Action == Abstain:
		return Reply{}
	case a.Action == Allow:
		return Reply{Stdout: m.str("decision", "allow").raw("updated_input", a.Input).line()}
	}
	m.str("decision", "deny")
	if a.Stop {
		m.flag("halt", true)
	}
	r := denyReply(a, m.str("reason", a.reason()))
	if a.Stop {
		r.Exit = exitHalt
	}
	return r
}
