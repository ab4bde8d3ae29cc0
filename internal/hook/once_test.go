package hook_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/once"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// shared returns an opener of gates of one program that share one registry, store and log.
func shared(t testing.TB, p *policy.Program, host *hook.Host, dir string, more ...gate.Option) func(context.Context, *hook.Event) (*hook.Backend, error) {
	open := opener(t, p, host, more...)
	return func(ctx context.Context, e *hook.Event) (*hook.Backend, error) {
		b, err := open(ctx, e)
		b.Once = once.At(dir, "p")
		return b, err
	}
}

// Proves S49: the host that asks second gets the first one's answer in its own format, without a
// second row; an answer that it cannot express is a denial.
func TestOneCallTwoHooks(t *testing.T) {
	p := program(t, rules)
	for _, name := range hook.Names() {
		if name == "claude-code" || name == "cline" || name == "generic" {
			continue // the last two do not send the session's directory
		}
		for _, c := range []struct{ name, tool, args, want string }{
			{"allowed", "Read", `{"file_path":"src/a.go"}`, runs},
			{"asked", "Bash", `{"command":"make"}`, asks},
			{"denied", "Bash", `{"command":"rm -rf /"}`, blocks},
			{"rewritten", "Write", `{"file_path":"src/../src/./a.go","content":"x"}`, asks},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				dir, rows, store := t.TempDir(), new(ports.Recorder), new(ports.Store)
				want := c.want
				first, second := host(t, "claude-code"), host(t, name)
				one := ask(t, first, hook.Options{Open: shared(t, p, first, dir, gate.WithRecorder(rows), gate.WithStore(store))}, event("claude-code", c.tool, c.args))
				if got := hostDoes("claude-code", one); got != want {
					t.Fatalf("the first host %s, want %s", got, want)
				}
				if want == asks && name != "copilot-cli" && (name != "qwen-code" || c.name == "rewritten") {
					want = blocks // it cannot ask about this event
				}
				two := ask(t, second, hook.Options{Open: shared(t, p, second, dir, gate.WithRecorder(rows), gate.WithStore(store))}, event(name, c.tool, c.args))
				if got := hostDoes(name, two); got != want {
					t.Errorf("the second host %s, want %s\n%s%s", got, want, two.Stdout, two.Stderr)
				}
				if n := len(rows.Decisions()); n != 1 {
					t.Errorf("%d rows", n)
				}
			})
		}
	}
}

// Proves FM9: a delegated call without an id is decided once by the two processes that have it, and
// another call of the same host is a call of its own.
func TestDelegatedCallWithoutID(t *testing.T) {
	p := program(t, rules)
	dir, rows, h := t.TempDir(), new(ports.Recorder), host(t, "claude-code")
	text := strings.Replace(event("claude-code", "Read", `{"file_path":"src/a.go"}`), `"tool_use_id"`, `"other"`, 1)
	for i, c := range []struct {
		delegation string
		want       int // rows so far
	}{{"n1", 1}, {"n1", 1}, {"n2", 2}, {"", 3}, {"", 4}} {
		r := ask(t, h, hook.Options{Open: shared(t, p, h, dir, gate.WithRecorder(rows)), Delegation: c.delegation}, text)
		if n := len(rows.Decisions()); n != c.want || hostDoes("claude-code", r) != runs {
			t.Errorf("event %d: %d rows, want %d; the host %s", i, n, c.want, hostDoes("claude-code", r))
		}
	}
}

// Proves S49: the result of a call that another hook decided is left to that hook.
func TestResultOfTheOther(t *testing.T) {
	p := program(t, rules)
	dir, store := t.TempDir(), new(ports.Store)
	first, second := host(t, "cursor"), host(t, "claude-code")
	args := `{"file_path":"src/a.go"}`
	ask(t, first, hook.Options{Open: shared(t, p, first, dir, gate.WithStore(store))}, event("cursor", "Read", args))
	open := shared(t, p, second, dir, gate.WithStore(store))
	ask(t, second, hook.Options{Open: open}, event("claude-code", "Read", args))
	after := strings.TrimSuffix(strings.Replace(event("claude-code", "Read", args), `"PreToolUse"`, `"PostToolUse"`, 1), "}") + `,"tool_response":{"text":"x"}}`
	if r := ask(t, second, hook.Options{Open: open}, after); len(r.Stdout) != 0 {
		t.Errorf("said %s", r.Stdout)
	}
}

// Proves S49, FM9: if it is unknown whether another hook decides, nothing runs.
func TestNoRegistry(t *testing.T) {
	p := program(t, rules)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range hook.Names() {
		h := host(t, name)
		if got := hostDoes(name, ask(t, h, hook.Options{Open: shared(t, p, h, file)}, event(name, "Read", `{"file_path":"src/a.go"}`))); got != blocks {
			t.Errorf("%s: the host %s", name, got)
		}
	}
}

// Proves S27, S28: prompts arrive from every host with an event for them, and are never blocked.
func TestPromptsOfHosts(t *testing.T) {
	p := program(t, rules)
	for name, event := range map[string]string{
		"claude-code": `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"go"}`,
		"codex":       `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"go","turn_id":"t"}`,
		"gemini-cli":  `{"session_id":"s1","hook_event_name":"BeforeAgent","prompt":"go"}`,
		"qwen-code":   `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"go"}`,
		"copilot-cli": `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"go"}`,
		"cursor":      `{"conversation_id":"s1","hook_event_name":"beforeSubmitPrompt","prompt":"go","attachments":[]}`,
	} {
		h := host(t, name)
		store := new(ports.Store)
		o := hook.Options{Open: opener(t, p, h, gate.WithStore(store))}
		deny := func() string {
			return string(ask(t, h, o, fmt.Sprintf(before[name], "Bash", `{"command":"rm -rf /"}`)).Stderr)
		}
		for range 5 {
			deny()
		}
		if prompt := deny(); !strings.Contains(prompt, "denial_limit") {
			t.Errorf("%s: after six denials: %s", name, prompt)
		}
		if r := ask(t, h, o, event); r.Exit != 0 || strings.Contains(string(r.Stdout), `"continue":false`) {
			t.Errorf("%s: the prompt is answered %s %d", name, r.Stdout, r.Exit)
		}
		if name == "copilot-cli" {
			continue // its older form has other session ids
		}
		if prompt := deny(); strings.Contains(prompt, "denial_limit") {
			t.Errorf("%s: after the user spoke: %s", name, prompt)
		}
	}
}
