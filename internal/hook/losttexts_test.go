package hook_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/kinds"
)

// refusing is a store that takes no segments of texts while it refuses.
type refusing struct {
	backend.State
	flow.Store
	refuses bool
}

func (s *refusing) Capabilities() gate.Capabilities {
	c := s.State.Capabilities()
	s.Store, c.Texts = c.Texts, s
	return c
}

func (s *refusing) AppendTexts(ctx context.Context, of flow.Conversation, change flow.Change) error {
	if s.refuses && len(change.Segments) > 0 {
		return errors.New("disk")
	}
	return s.Store.AppendTexts(ctx, of, change)
}

// A text that the process of a hook cannot store is not lost in silence: a result is withheld where the
// host can, and otherwise later conditions are in doubt in every process.
func TestTextsThatCannotBeStored(t *testing.T) {
	const rules = `version = 1
[tools.Read]
policy.run = "unattended"
[tools.Bash]
policy.run = [ { arg = "/command", not_from = ["tool"], mode = "unattended" }, { mode = "deny" } ]
`
	for _, c := range []struct {
		host, fails string // at which event the store refuses
		withheld    bool
	}{
		{"claude-code", "result", true}, {"cursor", "result", false}, {"claude-code", "prompt", false},
	} {
		h := host(t, c.host)
		s := &refusing{State: kinds.Memory()}
		open := func(context.Context, *hook.Event) (*hook.Backend, error) { // each event has a process of its own
			g, err := gate.New(program(t, rules), gate.WithStore(s), gate.WithDenyMode(gate.DenyToolResult))
			return &hook.Backend{Gate: g, ObservesResults: true}, err
		}
		var log strings.Builder
		run := func(kind, input string) hook.Reply {
			s.refuses = kind == c.fails
			return ask(t, h, hook.Options{Open: open, Log: &log}, input)
		}
		run("prompt", map[string]string{
			"claude-code": `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"go"}`,
			"cursor":      `{"conversation_id":"s1","hook_event_name":"beforeSubmitPrompt","prompt":"go","attachments":[]}`,
		}[c.host])
		run("call", readEvent(h.Name, ""))
		r := run("result", readEvent(h.Name, "secretword"))
		if got := strings.Contains(string(r.Stdout)+string(r.Stderr), "result_withheld"); got != c.withheld {
			t.Errorf("%s, %s: withheld %t, want %t: %s%s", c.host, c.fails, got, c.withheld, r.Stdout, r.Stderr)
		}
		of := flow.Conversation{Principal: hook.Principal, Session: stopgate.SessionID(h.Name + ":s1")}
		stored, err := s.LoadTexts(t.Context(), of, 0)
		if err != nil || stored.Lost == c.withheld {
			t.Errorf("%s, %s: marked as missing %t, want %t (%v)", c.host, c.fails, stored.Lost, !c.withheld, err)
		}
		if !strings.Contains(log.String(), "text") {
			t.Errorf("%s, %s: no line in the log: %s", c.host, c.fails, log.String())
		}
	}
}

// readEvent is the event of a call of a tool that reads, or of its result.
func readEvent(host, result string) string {
	e := map[string]string{
		"claude-code": `{"session_id":"s1","cwd":"/srv/none","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"src/a"},"tool_use_id":"t1"}`,
		"cursor":      `{"conversation_id":"s1","hook_event_name":"preToolUse","tool_name":"Read","tool_input":{"file_path":"src/a"},"tool_use_id":"t1","cwd":"/srv/none"}`,
	}[host]
	if result == "" {
		return e
	}
	e = strings.NewReplacer("PreToolUse", "PostToolUse", "preToolUse", "postToolUse").Replace(e)
	return map[string]string{
		"claude-code": strings.TrimSuffix(e, "}") + `,"tool_response":"` + result + `"}`,
		"cursor":      strings.TrimSuffix(e, "}") + `,"tool_output":"` + result + `"}`,
	}[host]
}
