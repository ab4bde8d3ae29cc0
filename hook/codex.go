package hook

import "github.com/stopgate/stopgate"

// codex speaks the hooks of Codex. It asks nobody on a hook's word and runs the tool
// where the answer is not one of the forms that it knows, so only two are ever used:
// the denial with its reason, and the allow with new input.
func codex() *Host {
	return &Host{
		Name: "codex", Title: "Codex", Rewrite: Replace, Results: true,
		Holes: []string{
			"a hook that crashes, is killed without its shell, or takes longer than its timeout lets the call run",
			"hooks outside of managed configuration run only after the user trusted them in Codex; until then nothing is gated",
			"tools that send no PreToolUse event (web search, built-in readers) are not seen",
			"the event does not say in which directory a command runs (workdir): its paths are read from the session's directory",
			otherHooks,
			"a hook cannot make Codex ask: what the policy wants asked is denied, or answered through stopgate approvals",
		},
		fields:    snake,
		events:    map[string]Kind{"PreToolUse": Before, "PermissionRequest": Before, "PostToolUse": After, "UserPromptSubmit": Prompt},
		prompting: "PermissionRequest",
		tools: &tools{[]tool{
			{names: "Bash shell local_shell exec_command", args: "command=argv cmd=argv workdir=dir timeout_ms description login shell tty prefix_rule yield_time_ms max_output_tokens justification sandbox_permissions with_escalated_permissions"},
			{names: "apply_patch", args: "command input patch", patch: "command input patch"},
			{names: "update_plan", args: "plan explanation", harmless: true},
			{names: "view_image", args: "path=path"},
			{names: "write_stdin", args: "session_id chars yield_time_ms max_output_tokens"},
			{names: "web_search", args: "query"},
			{names: "request_user_input", args: "questions", harmless: true},
			{names: "get_goal", harmless: true},
			{names: "create_goal update_goal", args: "objective token_budget status", harmless: true},
		}},
		mcp:    parts("mcp__", "__"),
		answer: codexAnswer,
	}
}

func codexAnswer(h *Host, e *Event, a Answer) Reply {
	if e.Name == h.prompting {
		return codexPermission(a)
	}
	if e.Kind == After && a.Action != Silent {
		// The reason stands in the place of the result. Any further member makes Codex take
		// the answer for a failure, and the result for what the model reads.
		return Reply{Stdout: new(members).str("decision", "block").str("reason", withheldText(a)).line()}
	}
	if a.Action == Allow && a.Input == nil && e.Kind == Before {
		return Reply{} // a bare allow is no answer to Codex
	}
	if e.Kind == Before {
		a.Stop = false // "continue" makes the whole answer invalid
	}
	return claudeAnswer(h, e, a)
}

// codexPermission answers where Codex is about to ask its user, often whether a call may
// leave the sandbox, which no rule was about: nothing takes that question away, and a
// denial comes before it. No new input is taken there.
func codexPermission(a Answer) Reply {
	switch {
	case a.Input != nil:
		a = Answer{Code: stopgate.CodeEnvelopeMismatch}
	case a.Action != Block:
		return Reply{}
	}
	decision := new(members).str("behavior", "deny").str("message", a.reason()).end()
	inner := new(members).str("hookEventName", "PermissionRequest").raw("decision", decision).end()
	return refusal(a, new(members).raw("hookSpecificOutput", inner))
}
