package hook

import "github.com/stopgate/stopgate/jsonstream"

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

// cline supports the hooks of Cline: {"cancel":true,"errorMessage":...} denies. Its events
// contain the call twice, the second time with all arguments as strings; the first one is
// used.
func cline() *Host {
	h := plain("cline", "Cline")
	h.fields.tool = []string{"toolName", "tool_name", "tool", "name"}
	h.fields.roots = []string{"workspaceRoots"}
	h.nestedMembers = []string{"tool_call", "tool_result", "preToolUse", "postToolUse"}
	h.events["prompt_submit"] = Prompt
	h.isFailedResult = func(event, _ value) bool {
		success, ok := event.Get("success")
		return ok && success.Kind() == jsonstream.False
	}
	h.Limitations = append(h.Limitations, "a denial ends the run of Cline: the model does not continue and does not receive the reason",
		"search_codebase reads the whole project, and guards do not apply to the files that it shows")
	h.format = func(_ *Host, e *Event, a Decision) Reply {
		if a.Action == Abstain || a.Action == Allow || e.Kind == After {
			return Reply{Stdout: new(members).flag("cancel", false).line()}
		}
		return Reply{Stdout: new(members).flag("cancel", true).str("errorMessage", a.reason()).line(), Stderr: []byte(a.reason() + "\n")}
	}
	return h
}

// pi and opencode have JavaScript extensions instead of hook commands. The extensions that
// install writes start this program, block unless it replies "allow", and replace results
// with its text.
func pi() *Host {
	h := extension("pi", "Pi")
	h.Limitations = append(h.Limitations, "an extension that runs after this one can read a result before it is withheld, or change it afterwards")
	return h
}

func opencode() *Host {
	h := extension("opencode", "opencode")
	h.Limitations = append(h.Limitations, "a failed call sends no event: its output is not observed and reaches the model",
		"a result is withheld from the model only; the screen may show a part of it")
	return h
}

func extension(name, title string) *Host {
	h := plain(name, title)
	h.WithholdsResults = true
	h.Limitations = []string{
		"the extension runs inside the agent: another extension can change the arguments after they were evaluated",
		"hooks can only deny: calls that need an approval are denied, or approved with stopgate approvals",
	}
	h.format = func(_ *Host, e *Event, a Decision) Reply {
		switch {
		case a.Action == Abstain || a.Action == Allow:
			return Reply{Stdout: new(members).flag("block", false).line()}
		case e.Kind == After:
			text := withheldText(a)
			return Reply{Stdout: new(members).flag("block", true).str("reason", text).line(), Exit: exitBlock}
		}
		return denyReply(a, new(members).flag("block", true).str("reason", a.reason()))
	}
	return h
}
