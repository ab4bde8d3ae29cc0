package hook

import "github.com/stopgate/stopgate/jsonstream"

// plain is the contract that most of the other hosts share: exit status 2 with the
// reason on standard error denies, everything else runs the tool.
func plain(name, title string) *Host {
	return &Host{
		Name: name, Title: title,
		Holes: []string{
			"a hook that crashes, is killed without its shell, or takes longer than its timeout usually lets the call run",
			"only the denial is relied on: what the policy wants asked is denied, or answered through stopgate approvals",
			"results cannot be kept from the model",
		},
		fields: fields{
			event: []string{"hook_event_name", "event", "hookName", "hookEventName"},
			tool:  []string{"tool_name", "toolName", "tool", "name"}, input: []string{"tool_input", "toolArgs", "input", "args", "arguments", "parameters"},
			id:      []string{"tool_use_id", "tool_call_id", "toolCallId", "callID", "id"},
			session: []string{"session_id", "sessionId", "sessionID", "taskId"}, dir: []string{"cwd"},
			result: []string{"tool_response", "result", "output"}, failed: []string{"error"},
		},
		event: "PreToolUse",
		events: map[string]Kind{
			"PreToolUse": Before, "preToolUse": Before, "pre_tool_use": Before, "BeforeTool": Before, "tool_call": Before,
			"PostToolUse": After, "postToolUse": After, "post_tool_use": After, "AfterTool": After, "tool_result": After,
			"UserPromptSubmit": Prompt,
		},
		mcp:    parts("mcp__", "__"),
		answer: plainAnswer,
	}
}

func plainAnswer(_ *Host, e *Event, a Answer) Reply {
	if a.Action == Silent || a.Action == Allow || e.Kind == After {
		return Reply{}
	}
	return Reply{Stderr: []byte(a.reason() + "\n"), Exit: exitBlock}
}

// generic is for every host that denies on exit status 2 and sends the tool and its
// arguments as JSON under one of the usual names.
func generic() *Host { return plain("generic", "any host that denies on exit status 2") }

// cline speaks the hooks of Cline: {"cancel":true,"errorMessage":...} denies. Its program
// says the call twice, the second time with every argument as a string: the first counts.
func cline() *Host {
	h := plain("cline", "Cline")
	h.fields.tool = []string{"toolName", "tool_name", "tool", "name"}
	h.fields.roots = []string{"workspaceRoots"}
	h.nested = []string{"tool_call", "tool_result", "preToolUse", "postToolUse"}
	h.events["prompt_submit"] = Prompt
	h.broke = func(event, _ value) bool {
		success, ok := event.Get("success")
		return ok && success.Kind() == jsonstream.False
	}
	h.Holes = append(h.Holes, "a denial ends the run, because Cline takes it so: the model cannot go on, and hears no reason",
		"search_codebase reads the whole project, and no guard sees which files it shows")
	h.answer = func(_ *Host, e *Event, a Answer) Reply {
		if a.Action == Silent || a.Action == Allow || e.Kind == After {
			return Reply{Stdout: new(members).flag("cancel", false).line()}
		}
		return Reply{Stdout: new(members).flag("cancel", true).str("errorMessage", a.reason()).line(), Stderr: []byte(a.reason() + "\n")}
	}
	return h
}

// pi and opencode have no hook commands but extensions in JavaScript: those that
// install writes start this program, block when it does not answer "allow", and put what
// it says in the place of a result.
func pi() *Host {
	h := extension("pi", "Pi")
	h.Holes = append(h.Holes, "an extension that comes after this one sees what a call gave back before the gate has withheld it, or changes it afterwards")
	return h
}

func opencode() *Host {
	h := extension("opencode", "opencode")
	h.Holes = append(h.Holes, "there is no event of a call that failed: what it said is not observed, and reaches the model",
		"a result that is withheld is kept from the model; the screen may show a part of it")
	return h
}

func extension(name, title string) *Host {
	h := plain(name, title)
	h.Results = true
	h.Holes = []string{
		"the extension runs inside the agent: another extension can change the arguments after the gate has seen them",
		"only the denial is relied on: what the policy wants asked is denied, or answered through stopgate approvals",
	}
	h.answer = func(_ *Host, e *Event, a Answer) Reply {
		switch {
		case a.Action == Silent || a.Action == Allow:
			return Reply{Stdout: new(members).flag("block", false).line()}
		case e.Kind == After:
			text := withheldText(a)
			return Reply{Stdout: new(members).flag("block", true).str("reason", text).line(), Exit: exitBlock}
		}
		return refusal(a, new(members).flag("block", true).str("reason", a.reason()))
	}
	return h
}
