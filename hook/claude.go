package hook

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// claudeCode speaks the hooks of Claude Code: PreToolUse, PostToolUse,
// PostToolUseFailure and UserPromptSubmit. A denial is the JSON decision and exit
// status 2 with the reason on standard error (FM9).
func claudeCode() *Host {
	return &Host{
		Name: "claude-code", Title: "Claude Code", Asks: true, Rewrite: Replace, Results: true,
		Holes: []string{
			"a hook that does not answer within its timeout lets the call run; the gate answers long before, but not when the whole machine hangs",
			"subagents and sessions that run with other settings (--settings, --bare, another CLAUDE_CONFIG_DIR) do not load this hook; an administrator's managed settings do not have that hole",
			"what a call that failed said cannot be kept from the model; only results can, and not those of tools whose output Claude Code lets no hook replace",
			otherHooks,
			"calls of other hooks, status lines and MCP servers that start by themselves do not pass here",
		},
		fields: snake,
		events: claudeEvents(),
		failures: map[string]bool{
			"PostToolUseFailure": true,
		},
		mcp:    parts("mcp__", "__"),
		answer: claudeAnswer,
	}
}

func claudeEvents() map[string]Kind {
	return map[string]Kind{
		"PreToolUse": Before, "PostToolUse": After, "PostToolUseFailure": After, "UserPromptSubmit": Prompt,
	}
}

// claudeAnswer is the form that Claude Code defined and others took over.
func claudeAnswer(h *Host, e *Event, a Answer) Reply {
	switch {
	case a.Action == Silent:
		return Reply{}
	case e.Kind == After:
		return claudeWithheld(h, e, a)
	case a.Action == Allow:
		return Reply{Stdout: claudeDecision("allow", a).line()}
	case a.Action == Ask && h.Asks:
		return Reply{Stdout: claudeDecision("ask", a).line()}
	}
	a.Input = nil
	return refusal(a, claudeDecision("deny", a))
}

func claudeDecision(decision string, a Answer) *members {
	m := new(members)
	if a.Stop {
		m.flag("continue", false).str("stopReason", a.reason())
	}
	return m.raw("hookSpecificOutput", claudeSpecific(decision, a))
}

func claudeSpecific(decision string, a Answer) []byte {
	return new(members).str("hookEventName", "PreToolUse").str("permissionDecision", decision).
		str("permissionDecisionReason", a.reason()).raw("updatedInput", a.Input).end()
}

// claudeWithheld keeps the result of a call that ran from the model. The exit status
// stays 0: with 2 the new output would not be read. The name of the event has to be the
// one that came, and what a failed call said has no other form.
func claudeWithheld(h *Host, e *Event, a Answer) Reply {
	inner := new(members).str("hookEventName", e.Name)
	if !h.failures[e.Name] {
		output := shaped(e, withheldText(a))
		inner.raw("updatedToolOutput", output).raw("updatedMCPToolOutput", output)
	}
	m := new(members).str("decision", "block").str("reason", a.reason()).raw("hookSpecificOutput", inner.end())
	return Reply{Stdout: m.line()}
}

// shaped is a result that says no more than a text, in the form of the one that came:
// Claude Code shows the old result where the new one has not the form of its tool's.
func shaped(e *Event, text string) []byte {
	quoted := jsonstream.AppendQuote(nil, text)
	var result jsonstream.Document
	err := result.Scan(e.Result, jsonstream.Options{MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	root := result.Root()
	switch {
	case err != nil || root.Kind() == jsonstream.String:
		return quoted
	case e.HostTool == "Read" && root.Kind() == jsonstream.Object: // also of pictures
		return fmt.Appendf(nil, `{"type":"text","file":{"filePath":"","content":%s,"numLines":1,"startLine":1,"totalLines":1}}`, quoted)
	case root.Kind() == jsonstream.Array: // the parts of an answer of an MCP server
		return fmt.Appendf(nil, `[{"type":"text","text":%s}]`, quoted)
	}
	return appendShaped(nil, "", root, quoted)
}

// appendShaped writes a value without its texts and lists. What it is called stays, where
// that is a plain word.
func appendShaped(dst []byte, name string, v jsonstream.Value, text []byte) []byte {
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
			m.raw(key.Text(), appendShaped(nil, key.Text(), member, text))
		}
		return append(dst, m.end()...)
	}
	return append(dst, v.Raw()...)
}
