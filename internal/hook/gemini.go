package hook

import "github.com/stopgate/stopgate/jsonstream"

// limitUntrustedFolder is a limitation of hosts that ask their user whether to trust a
// folder.
const limitUntrustedFolder = "with folder trust enabled, the settings of an untrusted project are not loaded, including its hooks"

// geminiCLI supports the hooks of Gemini CLI: BeforeTool, AfterTool, BeforeAgent.
func geminiCLI() *Host {
	return &Host{
		Name: "gemini-cli", Title: "Gemini CLI", Rewrite: MergeArgs, WithholdsResults: true,
		Limitations: []string{
			"if a hook crashes, prints invalid JSON, or exceeds its timeout, the call runs",
			"a hook cannot make Gemini CLI ask: calls that need an approval are denied, or approved with stopgate approvals",
			limitOtherHooks,
			"new arguments are merged: an edit that removes a member is denied",
			limitUntrustedFolder,
		},
		fields:         snakeCase,
		isFailedResult: func(_, result jsonstream.Value) bool { return present(result, "error") },
		events:         map[string]Kind{"BeforeTool": Before, "AfterTool": After, "BeforeAgent": Prompt},
		format:         geminiReply,
	}
}

func geminiReply(_ *Host, e *Event, a Decision) Reply {
	switch {
	case a.Action == Abstain:
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
	return denyReply(a, m)
}

// withheldText returns the text that replaces a result.
func withheldText(a Decision) string {
	if len(a.Output) > 0 {
		return string(a.Output)
	}
	return a.reason()
}

// qwenCode supports the hooks of Qwen Code, which uses the events and replies of Claude
// Code and the tools of Gemini CLI. Since July 2026 a hook can make it ask its user;
// earlier versions, and sessions without a user, deny instead.
func qwenCode() *Host {
	return &Host{
		Name: "qwen-code", Title: "Qwen Code", CanAsk: true, Rewrite: NoRewrite,
		Limitations: []string{
			"if a hook crashes, is killed without its shell, or exceeds its timeout, the call runs",
			"without a user to ask (--prompt, background agents, versions before 0.19.7) Qwen Code denies calls that need an approval",
			"results cannot be withheld from the model",
			limitUntrustedFolder,
		},
		fields: snakeCase,
		events: map[string]Kind{
			"PreToolUse": Before, "BeforeTool": Before, "PostToolUse": After, "PostToolUseFailure": After, "AfterTool": After,
			"UserPromptSubmit": Prompt, "BeforeAgent": Prompt,
		},
		failures: map[string]bool{"PostToolUseFailure": true},
		splitMCP: splitPrefixed("mcp__", "__"),
		format:   qwenReply,
	}
}

func qwenReply(h *Host, e *Event, a Decision) Reply {
	if a.Action == Ask && e.Name == "PreToolUse" {
		return Reply{Stdout: claudeDecision("ask", a).line()}
	}
	return plainReply(h, e, a)
}
