package hook

import "github.com/stopgate/stopgate/jsonstream"

// geminiCLI speaks the hooks of Gemini CLI: BeforeTool, AfterTool, BeforeAgent.
func geminiCLI() *Host {
	return &Host{
		Name: "gemini-cli", Title: "Gemini CLI", Rewrite: Merge, Results: true,
		Holes: []string{
			"a hook that crashes, prints what is no JSON, or takes longer than its timeout lets the call run",
			"a hook cannot make Gemini CLI ask: what the policy wants asked is denied, or answered through stopgate approvals",
			otherHooks,
			"new arguments are merged: an edit that takes a member away is denied",
		},
		fields: snake,
		broke:  func(_, result jsonstream.Value) bool { return present(result, "error") },
		events: map[string]Kind{"BeforeTool": Before, "AfterTool": After, "BeforeAgent": Prompt},
		tools:  geminiTools(),
		answer: geminiAnswer,
	}
}

func geminiAnswer(_ *Host, e *Event, a Answer) Reply {
	switch {
	case a.Action == Silent:
		return Reply{}
	case e.Kind == After:
		return Reply{Stdout: new(members).str("decision", "deny").str("reason", withheldText(a)).line()}
	case a.Action == Allow && a.Input == nil:
		return Reply{Stdout: new(members).str("decision", "allow").line()}
	case a.Action == Allow:
		inner := new(members).str("hookEventName", "BeforeTool").raw("tool_input", a.Input)
		return Reply{Stdout: new(members).str("decision", "allow").raw("hookSpecificOutput", inner.end()).line()}
	}
	m := new(members).str("decision", "deny").str("reason", a.reason())
	if a.Stop {
		m.flag("continue", false).str("stopReason", a.reason())
	}
	return refusal(a, m)
}

// withheldText is what stands in the place of a result.
func withheldText(a Answer) string {
	if len(a.Output) > 0 {
		return string(a.Output)
	}
	return a.reason()
}

func geminiTools() *tools {
	return &tools{[]tool{
		{names: "run_shell_command", args: "command=command description directory=dir dir_path=dir is_background delay_ms timeout"},
		{names: "read_file", args: "file_path=path absolute_path=path offset limit start_line end_line"},
		{names: "read_many_files", args: "paths=globs include=globs exclude recursive useDefaultExcludes file_filtering_options"},
		{names: "write_file", args: "file_path=path content"},
		{names: "replace edit", args: "file_path=path old_string new_string instruction expected_replacements replace_all allow_multiple"},
		{names: "list_directory", args: "path=path dir_path=path ignore respect_git_ignore file_filtering_options"},
		{names: "glob", args: "pattern=glob path=folder dir_path=folder case_sensitive respect_git_ignore respect_gemini_ignore"},
		{names: "search_file_content grep_search grep", args: "pattern path=folder dir_path=folder include=filter glob=filter limit include_pattern=filter exclude_pattern names_only max_matches_per_file total_max_matches context after before no_ignore fixed_strings case_sensitive"},
		{names: "web_fetch", args: "prompt url=url"},
		{names: "google_web_search web_search", args: "query"},
		{names: "save_memory", args: "fact scope"},
		{names: "write_todos todo_write", args: "todos", harmless: true},
		{names: "ask_user", args: "questions", harmless: true},
		{names: "enter_plan_mode exit_plan_mode", args: "reason plan_path=path plan", harmless: true},
		{names: "activate_skill skill", args: "name skill args"},
		{names: "notebook_edit", args: "notebook_path=path cell_id new_source cell_type edit_mode"},
		{names: "invoke_agent agent", args: "agent_name prompt description subagent_type fork_turns fork_tools fork_profile run_in_background isolation working_dir=path"},
		{names: "tool_call", args: "name arguments"},
		{names: "update_topic", args: "title summary strategic_intent", harmless: true},
		{names: "list_background_processes list_agents get_goal", harmless: true},
		{names: "read_background_output", args: "pid lines delay_ms", harmless: true},
		{names: "tool_search", args: "query max_results", harmless: true},
		{names: "update_goal", args: "status reason blockerKind", harmless: true},
	}}
}

// qwenCode speaks the hooks of Qwen Code, which took over Claude Code's events and
// answers and kept Gemini CLI's tools. It asks its user on a hook's word since July 2026;
// before, and where nobody sits in front of it, it denies.
func qwenCode() *Host {
	return &Host{
		Name: "qwen-code", Title: "Qwen Code", Asks: true, Rewrite: Fixed,
		Holes: []string{
			"a hook that crashes, is killed without its shell, or takes longer than its timeout lets the call run",
			"where nobody can be asked (--prompt, agents in the background, versions before 0.19.7) Qwen Code denies what the policy wants asked",
			"results cannot be kept from the model",
		},
		fields: snake,
		events: map[string]Kind{
			"PreToolUse": Before, "BeforeTool": Before, "PostToolUse": After, "PostToolUseFailure": After, "AfterTool": After,
			"UserPromptSubmit": Prompt, "BeforeAgent": Prompt,
		},
		failures: map[string]bool{"PostToolUseFailure": true},
		tools:    geminiTools(),
		mcp:      parts("mcp__", "__"),
		answer:   qwenAnswer,
	}
}

func qwenAnswer(h *Host, e *Event, a Answer) Reply {
	if a.Action == Ask && e.Name == "PreToolUse" {
		return Reply{Stdout: claudeDecision("ask", a).line()}
	}
	return plainAnswer(h, e, a)
}
