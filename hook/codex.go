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
			"hooks outside of managed configuration run only after the user trusted them in Codex, and those of a project only after the user trusted the project; until then nothing is gated, and Codex says nothing of it",
			"tools that send no PreToolUse event (web search, built-in readers) are not seen",
			"the event does not say in which directory a command runs (workdir): its paths are read from the session's directory",
			otherHooks,
			"a hook cannot make Codex ask: what the policy wants asked is denied, or answered through stopgate approvals",
		},
		fields:    snake,
		events:    map[string]Kind{"PreToolUse": Before, "PermissionRequest": Before, "PostToolUse": After, "UserPromptSubmit": Prompt},
		prompting: "PermissionRequest",
		mcp:       parts("mcp__", "__"),
		answer:    codexAnswer,
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
