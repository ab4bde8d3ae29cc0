package install

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/jsonstream"
)

// spec describes the hook settings of a host.
type spec struct {
	host          string
	user, project string // below the home and the project directory
	variable      string // environment variable, and the directory of user that it replaces
	deadline      time.Duration
	comments      bool // in its settings
	fill          func(p *Plan, c Command)
}

func specs() []spec {
	return []spec{
		{host: "claude-code", user: ".claude/settings.json", project: ".claude/settings.json", variable: "CLAUDE_CONFIG_DIR .claude", fill: nested(
			"timeout", "600", "PreToolUse *", "PostToolUse *", "PostToolUseFailure *", "UserPromptSubmit")},
		{host: "codex", user: ".codex/hooks.json", project: ".codex/hooks.json", variable: "CODEX_HOME .codex", fill: nested(
			"timeout", "600", "PreToolUse *", "PostToolUse *", "UserPromptSubmit")},
		{host: "qwen-code", user: ".qwen/settings.json", project: ".qwen/settings.json", comments: true, variable: "QWEN_HOME .qwen", fill: nested(
			"timeout", "600000", "PreToolUse *", "PostToolUse *", "PostToolUseFailure *", "UserPromptSubmit")},
		{host: "gemini-cli", user: ".gemini/settings.json", project: ".gemini/settings.json", comments: true, variable: "GEMINI_CLI_HOME ", fill: nested(
			"timeout", "600000", "BeforeTool .*", "AfterTool .*", "BeforeAgent")},
		{host: "crush", user: ".config/crush/crush.json", project: ".crush.json", comments: true, variable: "XDG_CONFIG_HOME .config", fill: flat(
			`"timeout":600`, nil, "PreToolUse")},
		{host: "cursor", user: ".cursor/hooks.json", project: ".cursor/hooks.json", fill: flat(
			`"timeout":600,"failClosed":true`, []member{{"version", "1"}},
			"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "postToolUse", "beforeSubmitPrompt")},
		{host: "copilot-cli", user: ".copilot/hooks/stopgate.json", project: ".github/hooks/stopgate.json", variable: "COPILOT_HOME .copilot", fill: flat(
			`"type":"command","timeoutSec":600`, []member{{"version", "1"}}, "PreToolUse", "PostToolUse", "UserPromptSubmit")},
		{host: "cline", user: "Documents/Cline/Hooks/PreToolUse", project: ".clinerules/hooks/PreToolUse", deadline: 24 * time.Second, fill: clineScript},
		{host: "opencode", user: ".config/opencode/plugins/stopgate.js", project: ".opencode/plugins/stopgate.js", variable: "XDG_CONFIG_HOME .config", fill: opencodePlugin},
		{host: "pi", user: ".pi/agent/extensions/stopgate.js", project: ".pi/extensions/stopgate.js", variable: "PI_CODING_AGENT_DIR .pi/agent", fill: piExtension},
	}
}

// nested returns the form of Claude Code: hooks.EVENT is a list of matchers, each with a list of
// hooks. An event is its name and its matcher.
func nested(unit, timeout string, events ...string) func(*Plan, Command) {
	return func(p *Plan, _ Command) {
		for _, e := range events {
			name, matcher, ok := strings.Cut(e, " ")
			text := "{"
			if ok {
				text += `"matcher": ` + str(matcher) + ", "
			}
			text += `"hooks": [{"type": "command", "command": ` + str(p.Line) + `, "` + unit + `": ` + timeout + "}]}"
			p.entries = append(p.entries, entry{[]string{"hooks", name}, text})
		}
	}
}

// flat returns the form of other hosts: hooks.EVENT is a list of commands.
func flat(more string, top []member, events ...string) func(*Plan, Command) {
	return func(p *Plan, _ Command) {
		p.top = top
		for _, e := range events {
			p.entries = append(p.entries, entry{[]string{"hooks", e}, `{"command": ` + str(p.Line) + ", " + strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(more) + "}"})
		}
	}
}

func str(text string) string { return string(jsonstream.AppendQuote(nil, text)) }

// mark is in every file that belongs to stopgate.
const mark = "written by stopgate install"

// clineScript is a hook that is a file, one for each event: a call without an answer of stopgate is
// cancelled.
func clineScript(p *Plan, c Command) {
	words, _, _ := strings.Cut(p.Line, " || {")
	file := func(q *Plan, otherwise string) {
		q.Line, q.Exec, q.Mode = words, true, 0o755
		if !c.observes() {
			q.Line += ` || printf '%s\n' '` + otherwise + `'`
		}
		q.Content = []byte("#!/bin/sh\n# " + mark + " cline\n" + q.Line + "\n")
	}
	file(p, `{"cancel":true,"errorMessage":"stopgate did not answer: the call is blocked"}`)
	for _, event := range []string{"PostToolUse", "UserPromptSubmit"} {
		q := &Plan{Host: p.Host, File: filepath.Join(filepath.Dir(p.File), event)}
		file(q, `{"cancel":false}`)
		p.Also = append(p.Also, q)
	}
}

// arguments returns the words of the command as a JavaScript list.
func arguments(p *Plan, c Command) string {
	words := c.words(p.Host, Deadline)[1:]
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = str(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// script asks the gate from JavaScript: only an explicit permission lets a call run. The gate's
// answer is the reason, unless there is none.
const script = `import { spawn } from "node:child_process";

function ask(event) {
  return new Promise((resolve) => {
    const no = (reason) => resolve({ block: BLOCK, reason });
    const silent = event.event === "tool_result" ? "the result is withheld" : "the call is blocked";
    try {
      const child = spawn(PROGRAM, ARGUMENTS, { stdio: ["pipe", "pipe", "pipe"], timeout: TIMEOUT });
      let out = "";
      let err = "";
      child.stdout.on("data", (d) => (out += d));
      child.stderr.on("data", (d) => (err += d));
      child.stdin.on("error", () => {});
      child.on("error", () => no("stopgate did not start: " + silent));
      child.on("close", (code) => {
        if (code === 0 && out.trim() === '{"block":false}') return resolve({ block: false });
        try {
          const said = JSON.parse(out).reason;
          if (said) return no(said);
        } catch {}
        no(err.trim() || "stopgate did not answer: " + silent);
      });
      child.stdin.end(JSON.stringify(event));
    } catch {
      no("stopgate did not start: " + silent);
    }
  });
}
`

func javascript(p *Plan, c Command, rest string) {
	r := strings.NewReplacer("PROGRAM", str(c.Program), "ARGUMENTS", arguments(p, c), "BLOCK", strconv.FormatBool(!c.observes()), "TIMEOUT", strconv.FormatInt(Timeout.Milliseconds(), 10))
	p.Content = []byte("// " + mark + " " + p.Host + "\n" + r.Replace(script) + rest)
	p.Exec = true
}

func opencodePlugin(p *Plan, c Command) {
	javascript(p, c, `
export const Stopgate = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const answer = await ask({
      event: "tool_call", session_id: input.sessionID, cwd: directory, tool: input.tool, args: output.args ?? {}, id: input.callID,
    });
    if (answer.block) throw new Error(answer.reason);
  },
  "tool.execute.after": async (input, output) => {
    const answer = await ask({
      event: "tool_result", session_id: input.sessionID, cwd: directory, tool: input.tool, args: input.args ?? {}, id: input.callID,
      result: output.output ?? output.content ?? null,
    });
    if (!answer.block) return;
    if (Array.isArray(output.content)) output.content = [{ type: "text", text: answer.reason }];
    if ("output" in output || !output.content) output.output = answer.reason;
    if (output.attachments) output.attachments = [];
  },
  "chat.message": async (input) => {
    await ask({ event: "UserPromptSubmit", session_id: input.sessionID, cwd: directory });
  },
});
`)
}

func piExtension(p *Plan, c Command) {
	javascript(p, c, `
const place = (ctx) => ({ session_id: ctx?.sessionManager?.getSessionId?.(), cwd: ctx?.cwd ?? process.cwd() });

export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    const answer = await ask({ event: "tool_call", ...place(ctx), tool: event.toolName, args: event.input ?? {}, id: event.toolCallId });
    if (answer.block) return { block: true, reason: answer.reason };
  });
  pi.on("tool_result", async (event, ctx) => {
    const answer = await ask({
      event: "tool_result", ...place(ctx), tool: event.toolName, args: event.input ?? {}, id: event.toolCallId,
      result: event.content ?? null, error: event.isError === true,
    });
    if (answer.block) return { content: [{ type: "text", text: answer.reason }], details: {} };
  });
  pi.on("input", async (event, ctx) => {
    if (event.source !== "extension") await ask({ event: "UserPromptSubmit", ...place(ctx) });
  });
}
`)
}
