package hook

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

// codex supports the hooks of Codex. Hooks cannot make it ask, and it runs the tool if the
// output is not one of the forms that it knows. Only two forms are used: a denial with its
// reason, and an allow with new input.
func codex() *Host {
	return &Host{
		Name: "codex", Title: "Codex", Rewrite: ReplaceArgs, WithholdsResults: true,
		Program: "codex", Live: codexLive, TrustHint: "start codex in the project, trust the folder where it asks, and trust the hook with /hooks",
		Settings: Settings{
			Form: Nested, User: ".codex/hooks.json", Project: ".codex/hooks.json", Moved: Move{Variable: "CODEX_HOME", Replaces: ".codex"},
			Events: []string{"PreToolUse *", "PostToolUse *", "UserPromptSubmit"}, Members: `"timeout": 600`,
		},
		Rules: Rules{"codex-rules", []string{"~/.codex/config.toml", "~/.codex/rules/*.rules", ".codex/rules/*.rules"}},
		Limitations: []string{
			"if a hook crashes, is killed without its shell, or exceeds its timeout, the call runs",
			"hooks outside of managed configuration run only after the user has trusted them in Codex, and hooks of a project only after the user has trusted the project; until then no call is evaluated, and Codex does not report it",
			"tools that send no PreToolUse event (web search, built-in readers) are not evaluated",
			"the event does not contain the directory in which a command runs (workdir): its paths are resolved in the session's directory",
			limitOtherHooks,
			"a hook cannot make Codex ask: calls that need an approval are denied, or approved with stopgate approvals",
		},
		fields:      snakeCase,
		events:      map[string]Kind{"PreToolUse": Before, "PermissionRequest": Before, "PostToolUse": After, "UserPromptSubmit": Prompt},
		promptEvent: "PermissionRequest",
		splitMCP:    splitPrefixed("mcp__", "__"),
		format:      codexReply,
		Reports:     flow.KnowsUser,
	}
}

func codexLive(m Model) Live {
	return Live{
		Tool: "exec_command", Args: commandArgs("cmd"),
		Words: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", m.Prompt},
		Files: map[string]string{".codex/config.toml": `model = "` + m.Name + `"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "` + m.URL + `/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[projects."` + WorkDir + `"]
trust_level = "trusted" # otherwise Codex loads no hooks of the directory
`},
	}
}

func codexReply(h *Host, e *Event, a Decision) Reply {
	if e.Name == h.promptEvent {
		return codexPermission(a)
	}
	if e.Kind == After && a.Action != Abstain {
		// The reason replaces the result. With any other member, Codex treats the reply as
		// a failure and shows the result to the model.
		return Reply{Stdout: new(members).str("decision", "block").str("reason", withheldText(a)).line()}
	}
	if a.Action == Allow && a.Input == nil && e.Kind == Before {
		return Reply{} // Codex does not accept an allow without input
	}
	if e.Kind == Before {
		a.Stop = false // Codex rejects a reply with "continue"
	}
	return claudeReply(h, e, a)
}

// codexPermission replies when Codex is about to ask its user, often whether a call may
// leave the sandbox, which no rule decided. The gate never suppresses that question; a
// denial precedes it. New input is not supported here.
func codexPermission(a Decision) Reply {
	switch {
	case a.Input != nil:
		a = Decision{Code: stopgate.CodeEnvelopeMismatch}
	case a.Action != Block:
		return Reply{}
	}
	decision := new(members).str("behavior", "deny").str("message", a.reason()).end()
	inner := new(members).str("hookEventName", "PermissionRequest").raw("decision", decision).end()
	return denyReply(a, new(members).raw("hookSpecificOutput", inner))
}
