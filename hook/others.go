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
		tools: &tools{append([]tool{
			{names: "bash powershell shell", args: "command=command description timeout sessionId async initial_wait mode detach shellId"},
			{names: "view", args: "path=path view_range forceReadLargeFiles"},
			{names: "create", args: "path=path file_text"},
			{names: "edit str_replace_editor", args: "path=path old_str new_str command view_range insert_line file_text"},
			{names: "apply_patch", args: "input command patch", patch: "input command patch"},
			{names: "glob", args: "pattern=glob path=folder paths=folder"},
			{names: "grep rg", args: "pattern path=folder paths=folder glob=filter type output_mode -A -B -C -n -i head_limit multiline"},
			{names: "web_fetch fetch", args: "url=url max_length start_index raw"},
			{names: "task", args: "agent_type description prompt name model mode reasoning_effort context_tier"},
			{names: "skill", args: "skill"},
			{names: "sql session_store_sql", args: "description query source"},
			{names: "write_agent", args: "agent_id agent_ids scope message"},
			{names: "report_intent", args: "intent", harmless: true},
			{names: "fetch_copilot_cli_documentation", harmless: true},
			{names: "read_agent list_agents", args: "agent_id wait timeout since_turn include_completed scope", harmless: true},
			{names: "update_todo", args: "todos", harmless: true},
			{names: "read_bash read_powershell stop_bash stop_powershell list_bash", args: "sessionId shellId delay", harmless: true},
		}, claudeTools().list...)},
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
		tools: &tools{append([]tool{
			{names: "Shell", args: "command=command working_directory=dir cwd=dir timeout description block_until_ms is_background required_permissions"},
			{names: "Read ReadFile", args: "file_path=path path=path target_file=path offset limit content"},
			{names: "Write", args: "file_path=path path=path content contents"},
			{names: "StrReplace", args: "path=path file_path=path old_string new_string replace_all"},
			{names: "Delete", args: "path=path file_path=path"},
			{names: "LS", args: "path=path target_directory=path ignore_globs"},
			{names: "Glob", args: "glob_pattern=glob pattern=glob target_directory=folder path=folder"},
		}, claudeTools().list...)},
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
		tools: &tools{[]tool{
			{names: "bash", args: "command=command description working_dir=dir timeout run_in_background"},
			{names: "view", args: "file_path=path offset limit"},
			{names: "write", args: "file_path=path content"},
			{names: "edit", args: "file_path=path old_string new_string replace_all"},
			{names: "multiedit", args: "file_path=path edits"},
			{names: "ls", args: "path=path ignore depth"},
			{names: "glob", args: "pattern=glob path=folder"},
			{names: "grep", args: "pattern path=folder include=filter literal_text"},
			{names: "fetch web_fetch", args: "url=url format timeout"},
			{names: "download", args: "url=url file_path=path timeout"},
			{names: "agentic_fetch", args: "url=url prompt"},
			{names: "sourcegraph web_search", args: "query count context_window timeout max_results"},
			{names: "agent", args: "prompt"},
			{names: "todos", args: "todos", harmless: true},
			{names: "job_output job_kill", args: "shell_id wait", harmless: true},
			{names: "lsp_diagnostics diagnostics lsp_references references", args: "file_path=path path=path symbol", harmless: true},
		}},
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
