package hook

import "github.com/stopgate/stopgate/jsonstream"

// untrustedFolder is a hole of hosts that can ask their user whether to trust a folder.
const untrustedFolder = "where folder trust is on, the settings of a project that is not trusted are not loaded, nor is a hook in them"

// geminiCLI speaks the hooks of Gemini CLI: BeforeTool, AfterTool, BeforeAgent.
func geminiCLI() *Host {
	return &Host{
		Name: "gemini-cli", Title: "Gemini CLI", Rewrite: Merge, Results: true,
		Holes: []string{
			"a hook that crashes, prints what is no JSON, or takes longer than its timeout lets the call run",
			"a hook cannot make Gemini CLI ask: what the policy wants asked is denied, or answered through stopgate approvals",
			otherHooks,
			"new arguments are merged: an edit that takes a member away is denied",
			untrustedFolder,
		},
		fields: snake,
		broke:  func(_, result jsonstream.Value) bool { return present(result, "error") },
		events: map[string]Kind{"BeforeTool": Before, "AfterTool": After, "BeforeAgent": Prompt},
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
			untrustedFolder,
		},
		fields: snake,
		events: map[string]Kind{
			"PreToolUse": Before, "BeforeTool": Before, "PostToolUse": After, "PostToolUseFailure": After, "AfterTool": After,
			"UserPromptSubmit": Prompt, "BeforeAgent": Prompt,
		},
		failures: map[string]bool{"PostToolUseFailure": true},
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
