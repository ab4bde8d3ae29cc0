package hook

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/jsonstream"
)

// limitUntrustedFolder is a limitation of hosts that ask their user whether to trust a
// folder.
const limitUntrustedFolder = "with folder trust enabled, the settings of an untrusted project are not loaded, including its hooks"

// geminiCLI supports the hooks of Gemini CLI: BeforeTool, AfterTool, BeforeAgent.
func geminiCLI() *Host {
	return &Host{
		Name: "gemini-cli", Title: "Gemini CLI", Rewrite: MergeArgs, WithholdsResults: true,
		Program: "gemini", ProjectVariable: "GEMINI_PROJECT_DIR", Live: geminiLive,
		Settings: Settings{
			Form: Nested, User: ".gemini/settings.json", Project: ".gemini/settings.json", Moved: Move{Variable: "GEMINI_CLI_HOME"}, Comments: true,
			Events: []string{"BeforeTool .*", "AfterTool .*", "BeforeAgent"}, Members: `"timeout": 600000`,
		},
		Rules: Rules{"gemini-policy", []string{".gemini/policies/*.toml", "~/.gemini/policies/*.toml", "/etc/gemini-cli/policies/*.toml"}},
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
		Reports:        flow.KnowsUser | flow.KnowsResults, AttachTool: "read_file",
	}
}

func geminiLive(m Model) Live {
	return Live{
		Tool: "run_shell_command", Args: commandArgs("command"), Google: true,
		Words: []string{"--yolo", "--skip-trust", "--model", "gemini-2.5-flash", "--prompt", m.Prompt},
		File:  ".gemini/settings.json", Beside: `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false}}`,
		Files: map[string]string{".gemini/trustedFolders.json": `{"` + WorkDir + `":"TRUST_FOLDER"}`},
		Env:   []string{"GEMINI_API_KEY=test", "GOOGLE_GEMINI_BASE_URL=" + m.URL},
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
