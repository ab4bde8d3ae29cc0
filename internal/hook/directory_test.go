package hook_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/hook"
)

// Proves K19, C3, S39: the parameter with the directory of a command is found by its names in
// hosts, is uncertain for unknown tools, and a value that is no plain directory name is recorded as
// such.
func TestWhereCommandsRun(t *testing.T) {
	for _, c := range []struct {
		host, tool, args string
		run              string
		uncertain, lost  bool
	}{
		{"codex", "Bash", `{"command":"ls"}`, "", false, false},
		{"codex", "Bash", `{"command":"ls","workdir":"conf"}`, "conf", false, false},
		{"codex", "exec_command", `{"workdir":"/srv/proj/conf","cmd":"ls"}`, "/srv/proj/conf", false, false},
		{"codex", "Bash", `{"command":"ls","\u0077orkdir":"conf"}`, "conf", false, false},
		{"opencode", "bash", `{"command":"ls","workdir":"../x"}`, "../x", false, false},
		{"gemini-cli", "run_shell_command", `{"command":"ls","directory":"conf"}`, "conf", false, false},
		{"qwen-code", "run_shell_command", `{"command":"ls","dir_path":"conf"}`, "conf", false, false},
		{"crush", "bash", `{"command":"ls","working_dir":"conf"}`, "conf", false, false},
		{"cursor", "Shell", `{"command":"ls","working_directory":"conf"}`, "conf", false, false},
		{"cursor", "Shell", `{"command":"ls","working_directory":"conf","cwd":"/srv/proj/conf/"}`, "conf", false, false},
		{"cursor", "Shell", `{"command":"ls","working_directory":"conf","cwd":"src"}`, "", false, true},
		{"claude-code", "Bash", `{"command":"ls","workdir":"conf"}`, "conf", true, false}, // it has no such parameter
		{"claude-code", "mcp__sh__run", `{"script":"ls","cwd":"conf"}`, "conf", true, false},
		{"claude-code", "mcp__sh__run", `{"script":"ls","cwd":"conf","dir":"src"}`, "", true, true},
		{"claude-code", "Grep", `{"path":"conf","dir":["x"]}`, "", false, false}, // runs nothing
		{"codex", "Bash", `{"command":"ls","workdir":null}`, "", false, false},
		{"codex", "Bash", `{"command":"ls","workdir":""}`, "", false, false},
		{"codex", "Bash", `{"command":"ls","workdir":["conf"]}`, "", false, true},
		{"codex", "Bash", `{"command":"ls","workdir":7}`, "", false, true},
		{"codex", "Bash", `{"command":"ls","workdir":"~/conf"}`, "", false, true},
		{"codex", "Bash", `{"command":"ls","workdir":"$HOME"}`, "", false, true},
		{"codex", "Bash", `{"command":"ls","workdir":"conf "}`, "", false, true},
		{"codex", "Bash", `{"command":"ls","workdir":"conf\u0000"}`, "", false, true},
		{"codex", "Bash", `{"command":"ls","workdir":"co\u200bnf"}`, "", false, true},
		{"codex", "Bash", `{"command":"ls","workdir":"file:///srv/proj/conf"}`, "", false, true},
		{"codex", "Bash", `{"command":"ls","workdir":"conf\\secret"}`, "", false, true},
		{"codex", "Bash", `{"command":"ls","workdir":"%63onf"}`, "", false, true},
	} {
		host, err := hook.Lookup(c.host)
		if err != nil {
			t.Fatal(err)
		}
		name := map[string]string{"gemini-cli": "BeforeTool", "cursor": "preToolUse"}[c.host]
		if name == "" {
			name = "PreToolUse"
		}
		var seen *hook.Event
		open := func(_ context.Context, e *hook.Event) (*hook.Backend, error) {
			seen = e
			return nil, errors.New("not asked")
		}
		host.Run(t.Context(), hook.Options{Open: open}, strings.NewReader(fmt.Sprintf(
			`{"hook_event_name":%q,"session_id":"s","conversation_id":"s","cwd":"/srv/proj","tool_name":%q,"tool_input":%s}`, name, c.tool, c.args)))
		switch {
		case seen == nil:
			t.Errorf("%s %s: no event", c.host, c.args)
		case seen.RunUnknown != c.lost, !c.lost && (strings.TrimSuffix(seen.Run, "/") != c.run && seen.Run != "/srv/proj/"+c.run+"/" || seen.RunUncertain != c.uncertain):
			t.Errorf("%s %s: in %q, doubt %v, lost %v", c.host, c.args, seen.Run, seen.RunUncertain, seen.RunUnknown)
		}
	}
}
