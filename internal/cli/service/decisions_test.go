package service

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// Proves TPS-35, H17, H22: every decision is a line for who debugs, a call that a session
// policy denies is a warning, and neither holds a word of the arguments.
func TestDecisionLog(t *testing.T) {
	const text = `version = 1
[gate]
deny_mode = "tool_result"
[tools.read.policy]
run = "unattended"
[tools.denied.policy]
run = "deny"
[tools.deploy.policy]
run = "unattended"
[[session]]
type = "require"
before = "deploy"
requires = "read"
`
	program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
	if mistakes.HasErrors() {
		t.Fatal(mistakes)
	}
	for level, want := range map[slog.Level][]string{
		slog.LevelDebug: {
			`level=DEBUG msg=tool_policy_evaluated decision=allowed code=rule_matched id=ID tool=read agent=a session=s`,
			`level=DEBUG msg=tool_policy_evaluated decision=denied code=rule_matched id=ID tool=denied agent=a session=s`,
			`level=DEBUG msg=tool_policy_evaluated decision=denied code=prerequisite_pending id=ID tool=deploy agent=a session=s`,
			`level=WARN msg=policy_denied decision=denied code=prerequisite_pending id=ID policy=require:deploy:read tool=deploy agent=a session=s`,
			`level=DEBUG msg=handoff_policy_evaluated decision=denied code=policy_not_configured id=ID to=b agent=a session=s`,
			`level=DEBUG msg=tool_policy_evaluated decision=denied code=policy_not_configured id=ID tool="\"\\x1b[2Jx\"" agent=a session=s`,
		},
		slog.LevelInfo: {
			`level=WARN msg=policy_denied decision=denied code=prerequisite_pending id=ID policy=require:deploy:read tool=deploy agent=a session=s`,
		},
	} {
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case slog.TimeKey:
				return slog.Attr{}
			case "id":
				return slog.String("id", "ID")
			}
			return a
		}}))
		g, err := gate.New(program, gate.WithTracer(decisionLog{logger}, "/nothing"), gate.WithStore(mem.New()))
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range []stopgate.ToolName{"read", "denied", "deploy"} {
			if _, err := g.Decide(t.Context(), stopgate.Call{Tool: tool, Agent: "a", Session: "s", Args: []byte(`{"key":"AKIACANARY"}`)}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := g.Handoff(t.Context(), gate.HandoffCall{From: "a", To: "b", Session: "s"}); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Decide(t.Context(), stopgate.Call{Tool: "\x1b[2Jx", Agent: "a", Session: "s", Args: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		for range 6 {
			if _, err := g.Decide(t.Context(), stopgate.Call{Tool: "denied", Session: "t", Args: []byte(`{}`)}); err != nil {
				t.Fatal(err)
			}
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		const stopped = `level=WARN msg=session_stopped denials=6 code=rule_matched tool=denied session=t`
		if last := lines[len(lines)-1]; last != stopped {
			t.Errorf("%v: %s, want %s", level, last, stopped)
		}
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasSuffix(line, "session=t") })
		if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("%v:\n%s\nwant\n%s", level, got, strings.Join(want, "\n"))
		}
	}
}
