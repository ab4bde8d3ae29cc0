package hook

// copilotCLI speaks the hooks of Copilot CLI and the Copilot cloud agent, in both of
// their spellings: camelCase events with toolArgs, PascalCase ones with Claude Code's
// members. Only a command that fails denies there by itself; a timeout always allows.
func copilotCLI() *Host {
	return &Host{
		Name: "copilot-cli", Title: "Copilot CLI", Asks: true, Rewrite: Replace, Results: true,
		Holes: []string{
			"a hook that takes longer than its timeout always lets the call run",
			"VS Code reads the same file, may wait 30 s only, and does not say what it does then; there results cannot be kept from the model",
			otherHooks,
			"in the cloud agent nobody can be asked: ask is a denial there",
			"hooks in .claude/settings.json run too: install one of the two",
		},
		fields: fields{
			event: []string{"hook_event_name", "hookEventName"}, tool: []string{"tool_name", "toolName"}, input: []string{"tool_input", "toolArgs"},
			id: []string{"tool_use_id", "toolCallId"}, session: []string{"session_id", "sessionId"}, dir: []string{"cwd"},
			result: []string{"tool_response", "toolResult", "tool_result"}, failed: []string{"error"},
		},
		event:   "preToolUse", // the camelCase form does not name its event
		unnamed: copilotEvent,
		broke: func(_, result value) bool {
			kind, ok := result.Get("resultType")
			return ok && kind.Text() != "success"
		},
		events: map[string]Kind{
			"PreToolUse": Before, "preToolUse": Before, "PostToolUse": After, "postToolUse": After,
			"UserPromptSubmit": Prompt, "userPromptSubmitted": Prompt,
		},
		mcp:    parts("mcp__", "__"),
		answer: copilotAnswer,
	}
}

// copilotEvent tells the camelCase events apart, which do not say what they are: only
// a call that ran has a result, and only what the user says has a prompt and no tool.
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

func copilotAnswer(_ *Host, e *Event, a Answer) Reply {
	if e.Kind == After && a.Action != Silent {
		inner := new(members).str("resultType", "success").str("textResultForLlm", withheldText(a))
		return Reply{Stdout: new(members).raw("modifiedResult", inner.end()).line()}
	}
	switch a.Action {
	case Silent:
		return Reply{}
	case Allow:
		return Reply{Stdout: copilotDecision("allow", e, a).line()}
	case Ask:
		return Reply{Stdout: copilotDecision("ask", e, a).line()}
	}
	a.Input = nil
	// Copilot CLI tells the model what the JSON says, but not where the exit status denies.
	return Reply{Stdout: copilotDecision("deny", e, a).line(), Stderr: []byte(a.reason() + "\n")}
}

// copilotDecision is the flat form of Copilot CLI. The events with names in PascalCase
// may come from VS Code, which reads the same files and only takes Claude Code's form:
// they get both.
func copilotDecision(decision string, e *Event, a Answer) *members {
	m := new(members).str("permissionDecision", decision).str("permissionDecisionReason", a.reason()).raw("modifiedArgs", a.Input)
	if e.Name == "PreToolUse" {
		m.raw("hookSpecificOutput", claudeSpecific(decision, a))
	}
	return m
}

// cursor speaks the hooks of Cursor. An answer without a permission may block or may
// run the tool, so there is always one: silence is "allow" there, which leaves the
// settings of the editor in force.
func cursor() *Host {
	return &Host{
		Name: "cursor", Title: "Cursor", Asks: true, Rewrite: Fixed,
		Holes: []string{
			"without failClosed, which install sets, a hook that fails lets the call run",
			"some versions send no preToolUse for reading files; beforeReadFile, which install sets too, sees them",
			"edits of files are seen by preToolUse only; older versions report them when they are done",
			"a denied subagentStart is ignored, and cloud agents load only the hooks of the repository",
			"hooks in .claude/settings.json may run too: install one of the two",
			"ask works in beforeShellExecution and beforeMCPExecution alone; preToolUse, which install sets too and which comes first, denies what the policy wants asked, or waits for stopgate approvals",
			"results cannot be kept from the model",
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
		fixed: map[string]fixedTool{
			"beforeShellExecution": {"Shell", []string{"command"}},
			"beforeReadFile":       {"Read", []string{"file_path"}},
		},
		prefix: map[string]string{"beforeMCPExecution": "MCP:"}, // as preToolUse calls them: no MCP tool is Read or Shell
		answer: cursorAnswer,
	}
}

func cursorAnswer(_ *Host, e *Event, a Answer) Reply {
	if e.Kind == After || e.Kind == Other {
		return Reply{}
	}
	if e.Kind == Prompt {
		return Reply{Stdout: new(members).flag("continue", true).line()}
	}
	m := new(members)
	switch {
	case a.Action == Silent, a.Action == Allow:
		return Reply{Stdout: m.str("permission", "allow").line()}
	case a.Action == Ask && (e.Name == "beforeShellExecution" || e.Name == "beforeMCPExecution"):
		return Reply{Stdout: m.str("permission", "ask").str("user_message", a.reason()).str("agent_message", a.reason()).line()}
	}
	return refusal(a, m.str("permission", "deny").str("user_message", a.reason()).str("agent_message", a.reason()))
}

// crush speaks the hooks of crush. New arguments are merged member by member; exit
// status 49 ends the turn.
func crush() *Host {
	return &Host{
		Name: "crush", Title: "crush", Rewrite: Merge,
		Holes: []string{
			"a hook that crashes, is killed without its shell, or takes longer than its timeout lets the call run",
			"what its agents (agent, agentic_fetch) do passes no hook: only the call that starts one is decided",
			otherHooks,
			"a hook cannot make crush ask: what the policy wants asked is denied, or answered through stopgate approvals",
			"results cannot be kept from the model, and there is no event after a tool ran: session policies that wait for results do not see any",
		},
		fields: fields{
			event: []string{"event", "hook_event_name"}, tool: []string{"tool_name"}, input: []string{"tool_input"},
			id: []string{"tool_call_id", "tool_use_id"}, session: []string{"session_id"}, dir: []string{"cwd"},
		},
		events: map[string]Kind{"PreToolUse": Before, "pre_tool_use": Before},
		mcp:    parts("mcp_", "_"),
		answer: crushAnswer,
	}
}

// exitHalt makes crush end the turn.
const exitHalt = 49

func crushAnswer(_ *Host, _ *Event, a Answer) Reply {
	m := new(members).raw("version", []byte("1"))
	switch {
	case a.Action == Silent:
		return Reply{}
	case a.Action == Allow:
		return Reply{Stdout: m.str("decision", "allow").raw("updated_input", a.Input).line()}
	}
	m.str("decision", "deny")
	if a.Stop {
		m.flag("halt", true)
	}
	r := refusal(a, m.str("reason", a.reason()))
	if a.Stop {
		r.Exit = exitHalt
	}
	return r
}
