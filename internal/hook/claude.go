package hook

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/jsonstream"
)

// claudeCode supports the hooks of Claude Code: PreToolUse, PostToolUse, PostToolUseFailure
// and UserPromptSubmit. A denial is the JSON decision and exit status 2 with the reason on
// standard error (FM9).
func claudeCode() *Host {
	return &Host{
		Name: "claude-code", Title: "Claude Code", CanAsk: true, Rewrite: ReplaceArgs, WithholdsResults: true,
		Program: "claude", ProjectVariable: "CLAUDE_PROJECT_DIR", Live: claudeLive,
		Settings: Settings{
			Form: Nested, User: ".claude/settings.json", Project: ".claude/settings.json", Moved: Move{Variable: "CLAUDE_CONFIG_DIR", Replaces: ".claude"},
			Events: []string{"PreToolUse *", "PostToolUse *", "PostToolUseFailure *", "UserPromptSubmit"}, Members: `"timeout": 600`,
		},
		Rules: Rules{"claude-settings", []string{"~/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json", "/etc/claude-code/managed-settings.json"}},
		Limitations: []string{
			"if a hook exceeds its timeout, the call runs; the gate decides well before, unless the whole machine hangs",
			"subagents and sessions that run with other settings (--settings, --bare, another CLAUDE_CONFIG_DIR) do not load this hook; managed settings of an administrator prevent this",
			"output of failed calls cannot be withheld from the model; results can, unless Claude Code does not let hooks replace the output of the tool",
			limitOtherHooks,
			"commands of other hooks, status lines and MCP servers that Claude Code starts are not evaluated",
		},
		fields: snakeCase,
		events: claudeEvents(),
		failures: map[string]bool{
			"PostToolUseFailure": true,
		},
		splitMCP: splitPrefixed("mcp__", "__"),
		format:   claudeReply,
		Reports:  flow.KnowsUser | flow.KnowsResults, AttachTool: "Read",
		typed: claudeTyped,
	}
}

func claudeLive(m Model) Live {
	return Live{
		Tool: "Bash", Args: commandArgs("command"),
		Words: []string{"--print", "--permission-mode", "bypassPermissions", "--model", m.Name, m.Prompt},
		Env: []string{
			"ANTHROPIC_BASE_URL=" + m.URL, "ANTHROPIC_API_KEY=sk-test", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1",
		},
	}
}

func claudeEvents() map[string]Kind {
	return map[string]Kind{
		"PreToolUse": Before, "PostToolUse": After, "PostToolUseFailure": After, "UserPromptSubmit": Prompt,
	}
}

// claudeTyped reports whether a person wrote a prompt. Claude Code also submits what schedules, other
// sessions and sub-agents in the background send: with another source in newer versions, in tags of
// its own in older ones.
func claudeTyped(event value) bool {
	source, ok := event.Get("source")
	prompt, _ := event.Get("prompt")
	return (!ok || source.IsText("user")) && !strings.HasPrefix(strings.TrimSpace(prompt.Text()), "<")
}

// claudeReply formats a decision for Claude Code. Other hosts have adopted the format.
func claudeReply(h *Host, e *Event, a Decision) Reply {
	switch {
	case a.Action == Abstain:
		return Reply{}
	case e.Kind == After:
		return claudeWithheld(h, e, a)
	case a.Action == Allow:
		return Reply{Stdout: claudeDecision("allow", a).line()}
	case a.Action == Ask && h.CanAsk:
		return Reply{Stdout: claudeDecision("ask", a).line()}
	}
	a.Input = nil
	return denyReply(a, claudeDecision("deny", a))
}

func claudeDecision(decision string, a Decision) *members {
	m := new(members)
	if a.Stop {
		m.flag("continue", false).str("stopReason", a.reason())
	}
	return m.raw("hookSpecificOutput", claudeSpecific(decision, a))
}

func claudeSpecific(decision string, a Decision) []byte {
	return new(members).str("hookEventName", "PreToolUse").str("permissionDecision", decision).
		str("permissionDecisionReason", a.reason()).raw("updatedInput", a.Input).end()
}

// claudeWithheld withholds the result of a call that ran. The exit status is 0, because
// with 2 Claude Code ignores the new output. The event name must be that of the input. The
// output of a failed call cannot be replaced.
func claudeWithheld(h *Host, e *Event, a Decision) Reply {
	inner := new(members).str("hookEventName", e.Name)
	if !h.failures[e.Name] {
		output := sameShape(e, withheldText(a))
		inner.raw("updatedToolOutput", output).raw("updatedMCPToolOutput", output)
	}
	m := new(members).str("decision", "block").str("reason", a.reason()).raw("hookSpecificOutput", inner.end())
	return Reply{Stdout: m.line()}
}

// sameShape returns a result that contains only text, in the structure of the original
// result. Claude Code shows the original if the structure of the new result differs.
func sameShape(e *Event, text string) []byte {
	quoted := jsonstream.AppendQuote(nil, text)
	var result jsonstream.Document
	err := result.Scan(e.Result, jsonstream.Options{MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	root := result.Root()
	switch {
	case err != nil || root.Kind() == jsonstream.String:
		return quoted
	case e.HostTool == "Read" && root.Kind() == jsonstream.Object: // also for images
		return fmt.Appendf(nil, `{"type":"text","file":{"filePath":"","content":%s,"numLines":1,"startLine":1,"totalLines":1}}`, quoted)
	case root.Kind() == jsonstream.Array: // content of an MCP tool result
		return fmt.Appendf(nil, `[{"type":"text","text":%s}]`, quoted)
	}
	return appendSameShape(nil, "", root, quoted)
}

// appendSameShape appends v without its texts and array elements. Type names are kept if
// they are plain words.
func appendSameShape(dst []byte, name string, v jsonstream.Value, text []byte) []byte {
	switch v.Kind() {
	case jsonstream.String:
		switch {
		case strings.Contains(" stdout content text output result message ", " "+name+" "):
			return append(dst, text...)
		case strings.Contains(" type mode status kind ", " "+name+" ") && len(v.Text()) < 30 && strings.Trim(v.Text(), "abcdefghijklmnopqrstuvwxyz_-") == "":
			return append(dst, v.Raw()...)
		}
		return append(dst, `""`...)
	case jsonstream.Array:
		return append(dst, "[]"...)
	case jsonstream.Object:
		var m members
		for key, member := range v.Members() {
			m.raw(key.Text(), appendSameShape(nil, key.Text(), member, text))
		}
		return append(dst, m.end()...)
	}
	return append(dst, v.Raw()...)
}
