package hook

import (
	"time"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/jsonstream"
)

// cline supports the hooks of Cline: {"cancel":true,"errorMessage":...} denies. Its events
// contain the call twice, the second time with all arguments as strings; the first one is
// used.
func cline() *Host {
	h := plain("cline", "Cline")
	h.fields.tool = []string{"toolName", "tool_name", "tool", "name"}
	h.fields.roots = []string{"workspaceRoots"}
	h.nestedMembers = []string{"tool_call", "tool_result", "preToolUse", "postToolUse", "userPromptSubmit"}
	h.Reports = flow.KnowsUser
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
	h.blocks = func(r Reply) bool {
		root, err := jsonstream.Parse(r.Stdout, jsonstream.Options{ObjectRoot: true})
		if err != nil || r.Exit != 0 {
			return false
		}
		cancel, _ := root.Get("cancel")
		return cancel.Kind() == jsonstream.True
	}
	h.Program, h.Live = "cline", clineLive
	h.Settings = Settings{
		Form: Scripts, User: "Documents/Cline/Hooks/PreToolUse", Project: ".clinerules/hooks/PreToolUse", Deadline: 24 * time.Second,
		Events: []string{"PreToolUse", "PostToolUse", "UserPromptSubmit"},
		Denies: `{"cancel":true,"errorMessage":"stopgate did not answer: the call is blocked"}`, Permits: `{"cancel":false}`,
	}
	return h
}

func clineLive(m Model) Live {
	return Live{
		Tool: "run_commands", Args: func(command string) string { return `{"commands":[` + quoted(command) + `]}` },
		Words: []string{"--provider", "openai-compatible", m.Prompt},
		Files: map[string]string{".cline/data/settings/providers.json": `{"version":1,"lastUsedProvider":"openai-compatible","modes":{},"providers":{"openai-compatible":
  {"settings":{"provider":"openai-compatible","apiKey":"sk-test","model":"` + m.Name + `","baseUrl":"` + m.URL + `/v1"},"updatedAt":"2026-01-01T00:00:00.000Z","tokenSource":"manual"}}}`},
	}
}
