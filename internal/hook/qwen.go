package hook

import "github.com/stopgate/stopgate/flow"

// qwenCode supports the hooks of Qwen Code, which uses the events and replies of Claude
// Code and the tools of Gemini CLI. Since July 2026 a hook can make it ask its user;
// earlier versions, and sessions without a user, deny instead.
func qwenCode() *Host {
	return &Host{
		Name: "qwen-code", Title: "Qwen Code", CanAsk: true, Rewrite: NoRewrite,
		Program: "qwen", ProjectVariable: "QWEN_PROJECT_DIR", Live: qwenLive,
		Settings: Settings{
			Form: Nested, User: ".qwen/settings.json", Project: ".qwen/settings.json", Moved: Move{Variable: "QWEN_HOME", Replaces: ".qwen"}, Comments: true,
			Events: []string{"PreToolUse *", "PostToolUse *", "PostToolUseFailure *", "UserPromptSubmit"}, Members: `"timeout": 600000`,
		},
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
		Reports:  flow.KnowsUser | flow.KnowsResults, AttachTool: "read_file",
		typed: claudeTyped,
	}
}

func qwenLive(m Model) Live {
	return Live{
		Tool: "run_shell_command", Args: func(command string) string {
			return string(new(members).str("command", command).flag("is_background", false).end())
		},
		Words: []string{"--yolo", "--auth-type", "openai", "--openai-base-url", m.URL + "/v1", "--openai-api-key", "sk-test", "--model", m.Name, "--prompt", m.Prompt},
		Files: map[string]string{".qwen/trustedFolders.json": `{"` + WorkDir + `":"TRUST_FOLDER"}`},
	}
}

func qwenReply(h *Host, e *Event, a Decision) Reply {
	if a.Action == Ask && e.Name == "PreToolUse" {
		return Reply{Stdout: claudeDecision("ask", a).line()}
	}
	return plainReply(h, e, a)
}
