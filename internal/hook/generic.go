package hook

// plain is the protocol of most other hosts: exit status 2 with the reason on standard
// error denies; everything else runs the tool.
func plain(name, title string) *Host {
	return &Host{
		Name: name, Title: title,
		Limitations: []string{
			"if a hook crashes, is killed without its shell, or exceeds its timeout, the call usually runs",
			"hooks can only deny: calls that need an approval are denied, or approved with stopgate approvals",
			"results cannot be withheld from the model",
		},
		fields: fields{
			event: []string{"hook_event_name", "event", "hookName", "hookEventName"},
			tool:  []string{"tool_name", "toolName", "tool", "name"}, input: []string{"tool_input", "toolArgs", "input", "args", "arguments", "parameters"},
			id:      []string{"tool_use_id", "tool_call_id", "toolCallId", "callID", "id"},
			session: []string{"session_id", "sessionId", "sessionID", "taskId"}, dir: []string{"cwd"},
			result: []string{"tool_response", "result", "output"}, failed: []string{"error"},
			prompt: []string{"prompt"},
		},
		defaultEvent: "PreToolUse",
		events: map[string]Kind{
			"PreToolUse": Before, "preToolUse": Before, "pre_tool_use": Before, "BeforeTool": Before, "tool_call": Before,
			"PostToolUse": After, "postToolUse": After, "post_tool_use": After, "AfterTool": After, "tool_result": After,
			"UserPromptSubmit": Prompt,
		},
		splitMCP: splitPrefixed("mcp__", "__"),
		format:   plainReply,
	}
}

func plainReply(_ *Host, e *Event, a Decision) Reply {
	if a.Action == Abstain || a.Action == Allow || e.Kind == After {
		return Reply{}
	}
	return Reply{Stderr: []byte(a.reason() + "\n"), Exit: exitBlock}
}

// generic supports hosts that deny on exit status 2 and send the tool and its arguments as
// JSON under one of the usual names.
func generic() *Host { return plain("generic", "any host that denies on exit status 2") }
