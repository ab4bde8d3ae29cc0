package hook_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// readingOpener returns a function that opens gates of a policy that records the texts of each
// evaluation.
func readingOpener(t *testing.T, h *hook.Host) (*ports.Reading, func(context.Context, *hook.Event) (*hook.Backend, error)) {
	p := &ports.Reading{Policy: program(t, "version = 1\n[tools.Read]\npolicy.run = \"unattended\"\n"), Texts: &ports.Texts{Version: "1"}, Version: "1"}
	g, err := gate.New(p, gate.WithStore(new(ports.Store)), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	return p, func(_ context.Context, e *hook.Event) (*hook.Backend, error) {
		return &hook.Backend{Gate: g, Approver: h.Approver(e, nil), ObservesResults: true}, nil
	}
}

// A prompt is a text of the person only if a person typed it. Hosts report prompts of sub-agents,
// schedules and background tasks under the same event.
func TestPromptsAreTexts(t *testing.T) {
	for _, c := range []struct{ host, prompt, want string }{
		{"claude-code", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"write to ann"}`, "knows: 5, user: write to ann"},
		{"claude-code", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"write to ann","source":"user"}`, "knows: 5, user: write to ann"},
		{"claude-code", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"write to eve","source":"background"}`, "knows: 5, tool: write to eve"},
		{"claude-code", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":" <task-notification>write to eve</task-notification>"}`, "knows: 5, tool:  <task-notification>write to eve</task-notification>"},
		{"claude-code", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"write to eve","agent_id":"a1","agent_type":"Explore"}`, "knows: 5, tool: write to eve"},
		{"claude-code", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"see @notes.md"}`, "knows: 5, user: see @notes.md, result Read: +"},
		{"claude-code", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"write to ann@a.example"}`, "knows: 5, user: write to ann@a.example"},
		{"codex", `{"session_id":"s1","turn_id":"t","hook_event_name":"UserPromptSubmit","prompt":"hi @x"}`, "knows: 1, user: hi @x"},
		{"qwen-code", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"hi"}`, "knows: 5, user: hi"},
		{"gemini-cli", `{"session_id":"s1","hook_event_name":"BeforeAgent","prompt":"hi"}`, "knows: 5, user: hi"},
		{"cursor", `{"conversation_id":"s1","hook_event_name":"beforeSubmitPrompt","prompt":"hi","attachments":[]}`, "knows: 1, user: hi"},
		{"copilot-cli", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"hi"}`, "knows: 1, user: hi"},
		{"copilot-cli", `{"sessionId":"s1","timestamp":1,"cwd":"/srv/proj","prompt":"hi"}`, "knows: 1, user: hi"},
		{"cline", `{"hookName":"UserPromptSubmit","taskId":"s1","workspaceRoots":["/srv/proj"],"userPromptSubmit":{"prompt":"hi"}}`, "knows: 1, user: hi"},
		{"opencode", `{"event":"UserPromptSubmit","session_id":"s1","cwd":"/srv/proj","prompt":"hi"}`, "knows: 1, user: hi"},
		{"opencode", `{"event":"UserPromptSubmit","session_id":"s1","cwd":"/srv/proj"}`, ""},
		{"pi", `{"event":"UserPromptSubmit","session_id":"s1","cwd":"/srv/proj","prompt":"hi"}`, "knows: 1, user: hi"},
		{"generic", `{"event":"UserPromptSubmit","session_id":"s1","prompt":"hi"}`, "user: hi"},
	} {
		h := host(t, c.host)
		p, open := readingOpener(t, h)
		o := hook.Options{Open: open}
		ask(t, h, o, c.prompt)
		call := event(h.Name, "Read", `{"file_path":"src/a"}`)
		if h.Name == "generic" {
			call = `{"tool":"Read","args":{},"session_id":"s1"}`
		}
		ask(t, h, o, call)
		if got := strings.TrimPrefix(p.Last(), "-"); got != c.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", c.host, c.prompt, got, c.want)
		}
	}
}

// Results are texts of the session, with a note where they have an image.
func TestResultsAreTexts(t *testing.T) {
	h := host(t, "claude-code")
	for result, opaque := range map[string]bool{
		`{"type":"text","file":{"content":"words"}}`: false, `"words"`: false, `[{"type":"text","text":"words"}]`: false,
		`{"type":"image","file":{"base64":"eA=="}}`: true, `[{"type":"text","text":"words"},{"type":"image","source":{"data":"x"}}]`: true,
	} {
		p, open := readingOpener(t, h)
		o := hook.Options{Open: open}
		call := event(h.Name, "Read", `{"file_path":"src/a"}`)
		ask(t, h, o, call)
		after := strings.TrimSuffix(strings.Replace(call, `"PreToolUse"`, `"PostToolUse"`, 1), "}") + `,"tool_response":` + result + `}`
		if r := ask(t, h, o, after); len(r.Stdout) > 0 {
			t.Fatalf("%s is withheld: %s", result, r.Stdout)
		}
		ask(t, h, o, strings.Replace(call, "toolu_1", "toolu_2", 1))
		want := `result Read of {"file_path":"src/a"}: ` + result
		if opaque {
			want += "+"
		}
		if got := p.Last(); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", result, got)
		}
	}
}

// The knowledge that a host's row states is documented: hosts that do not report results of some
// tools, or failed calls, do not know the results.
func TestReports(t *testing.T) {
	text, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]flow.Knowledge{"claude-code": flow.KnowsUser | flow.KnowsResults, "qwen-code": flow.KnowsUser | flow.KnowsResults, "gemini-cli": flow.KnowsUser | flow.KnowsResults}
	none := map[string]bool{"crush": true, "generic": true}
	for _, h := range hook.All() {
		want, ok := all[h.Name]
		if !ok && !none[h.Name] {
			want = flow.KnowsUser
		}
		if h.Reports != want {
			t.Errorf("%s reports %d, want %d", h.Name, h.Reports, want)
		}
		missing := 0
		for _, k := range []flow.Knowledge{flow.KnowsUser, flow.KnowsResults} {
			if want&k == 0 {
				missing++
			}
		}
		if got := len(h.Gaps()) - len(h.Limitations); got != missing {
			t.Errorf("%s has %d gaps in its texts, want %d", h.Name, got, missing)
		}
		complete := map[flow.Knowledge]string{0: "nothing", flow.KnowsUser: "prompts", flow.KnowsUser | flow.KnowsResults: "prompts, results"}[want]
		for line := range strings.Lines(string(text)) {
			if cells := strings.Split(line, "|"); len(cells) == 5 && !strings.Contains(line, "~/") && strings.Contains(cells[1], "`"+h.Name+"`") && strings.TrimSpace(cells[2]) != complete {
				t.Errorf("docs/hooks.md: %s reports %q, want %q", h.Name, cells[2], complete)
			}
		}
	}
}
