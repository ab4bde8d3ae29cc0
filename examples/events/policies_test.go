package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/policy"
)

const rules = "version = 1\n[tools.run.policy]\nrun = \"unattended\"\n"

const script = `model stopgate-script
turn
say hello there, friend
call run
  command string ls
call run
  command string rm -rf /
call run
  command string pwd
`

// paths are the routes of the dialects, with a request for each.
var paths = map[string]string{
	"/v1/chat/completions": `{"model":"stopgate-script","stream":%t,"messages":[{"role":"user","content":"go"}],"tools":[{"type":"function","function":{"name":"run"}}]}`,
	"/v1/responses":        `{"model":"stopgate-script","stream":%t,"input":"go","tools":[{"type":"function","name":"run"}]}`,
	"/v1/messages":         `{"model":"stopgate-script","stream":%t,"max_tokens":9,"messages":[{"role":"user","content":"go"}],"tools":[{"name":"run","input_schema":{"type":"object"}}]}`,
}

// everywhere asks a gateway with policies over every dialect, streamed and not, and
// gives the answers without JSON's escapes.
func everywhere(t *testing.T, policies []events.Policy, f func(t *testing.T, status int, got string)) {
	t.Helper()
	scenario, err := replay.ParseScenario("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	model, err := replay.New(replay.Options{Scenarios: []*replay.Scenario{scenario}})
	if err != nil {
		t.Fatal(err)
	}
	program, found := policy.Compile([]policy.Source{{Name: "p", Text: []byte(rules), Trusted: true}}, policy.Options{})
	if program == nil {
		t.Fatal(found)
	}
	g, err := gate.New(program, gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	gw, err := gateway.New(gateway.Options{Gate: g, Settings: gateway.DefaultSettings(), Replay: replay.Transport(model), Policies: policies})
	if err != nil {
		t.Fatal(err)
	}
	defer gw.Close()
	srv := httptest.NewServer(gw)
	defer srv.Close()
	for path, request := range paths {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s %t", path, stream), func(t *testing.T) {
				res, err := http.Post(srv.URL+path, "application/json", strings.NewReader(fmt.Sprintf(request, stream)))
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				body, err := io.ReadAll(res.Body)
				if err != nil {
					t.Fatal(err)
				}
				f(t, res.StatusCode, texts(string(body))+"\n"+strings.ReplaceAll(string(body), `\`, ""))
			})
		}
	}
}

// pieces are the places where the dialects' streams carry pieces of text.
var pieces = regexp.MustCompile(`"(?:content|text|delta)":"((?:[^"\\]|\\.)*)"`)

// texts joins all pieces of text in an answer.
func texts(body string) string {
	var all strings.Builder
	for _, m := range pieces.FindAllStringSubmatch(body, -1) {
		all.WriteString(m[1])
	}
	return all.String()
}

func want(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("%q is missing in\n%s", p, got)
		}
	}
}

func lack(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(got, p) {
			t.Errorf("%q stands in\n%s", p, got)
		}
	}
}

// Proves V3-12, V3-17, V3-27: a policy with no hook changes nothing.
func TestNoOp(t *testing.T) {
	everywhere(t, []events.Policy{events.Passthrough{}}, func(t *testing.T, _ int, got string) {
		want(t, got, "hello there, friend", "rm -rf /", "pwd")
	})
}

// Proves V3-18.
func TestContentOnly(t *testing.T) {
	everywhere(t, []events.Policy{events.ContentOnly{}}, func(t *testing.T, _ int, got string) {
		want(t, got, "hello there, friend")
		lack(t, got, "rm -rf /", "pwd", `"tool_use"`, `"tool_calls"`, `"function_call"`)
	})
}

// Proves V3-05, V3-12, V3-32: transforms, by pieces and by whole texts, in a chain.
func TestTransforms(t *testing.T) {
	everywhere(t, []events.Policy{shout{}}, func(t *testing.T, _ int, got string) {
		want(t, got, "HELLO THERE, FRIEND", "rm -rf /")
	})
	everywhere(t, []events.Policy{titles{}, signature{" --"}}, func(t *testing.T, _ int, got string) {
		want(t, got, "Hello There, Friend --", "pwd")
	})
}

// Proves V3-13, V3-19 to V3-24: one call passes, one is blocked and ends the output, the
// last is skipped; all of it is counted.
func TestReviewer(t *testing.T) {
	review := func(_ context.Context, _ stopgate.ToolName, args string) (float64, string, error) {
		if strings.Contains(args, "rm ") {
			return 0.9, "it deletes everything", nil
		}
		return 0.1, "", nil
	}
	everywhere(t, []events.Policy{reviewer{review, 0.6}}, func(t *testing.T, _ int, got string) {
		want(t, got, "hello there", `"command":"ls"`, "BLOCKED: run - it deletes everything")
		lack(t, got, "rm -rf", "pwd")
	})
	broken := func(context.Context, stopgate.ToolName, string) (float64, string, error) {
		return 0, "", errors.New("no model")
	}
	everywhere(t, []events.Policy{reviewer{broken, 0.6}}, func(t *testing.T, _ int, got string) {
		want(t, got, "policy_error")
		lack(t, got, `"command":"ls"`, "rm -rf", "pwd", "no model")
	})
}

// Proves V3-11.
func TestGatekeeper(t *testing.T) {
	everywhere(t, []events.Policy{gatekeeper{}}, func(t *testing.T, status int, got string) {
		want(t, got, `The model "stopgate-script" is not for this team.`)
		if status != 403 {
			t.Errorf("status %d", status)
		}
	})
}

// Proves V3-05: the redaction of the guide.
func TestRedaction(t *testing.T) {
	p, err := events.Redact(events.Redaction{Patterns: []string{"there, f[a-z]+"}})
	if err != nil {
		t.Fatal(err)
	}
	everywhere(t, []events.Policy{p}, func(t *testing.T, _ int, got string) {
		want(t, got, "hello [redacted]", "pwd")
		lack(t, got, "friend")
	})
}

// Every method that looks like a hook is one.
func TestHooks(t *testing.T) {
	for _, p := range []events.Policy{shout{}, titles{}, reviewer{}, gatekeeper{}, signature{}} {
		if err := events.Check(p); err != nil {
			t.Error(err)
		}
	}
}

// The program opens what a file says, and nothing that it does not.
func TestOpen(t *testing.T) {
	gw, err := open("p", []byte(rules), shout{})
	if err != nil {
		t.Fatal(err)
	}
	gw.Close()
	if _, err := open("p", []byte("version = 2")); err == nil {
		t.Error("a policy with mistakes was opened")
	}
	if _, err := open("p", []byte(rules), shout{}, shout{}); err == nil {
		t.Error("two policies of one name were opened")
	}
	if serve(t.Context(), nil) == nil || serve(t.Context(), []string{"none.toml"}) == nil {
		t.Error("served without a policy")
	}
}

// Proves V3-32: every piece of Go in the guide is a piece of the programs here.
func TestTheGuideIsThisCode(t *testing.T) {
	guide, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	var code string
	for _, name := range []string{"policies.go", "main.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code += string(text)
	}
	blocks := regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(guide), -1)
	if len(blocks) < 6 {
		t.Errorf("only %d pieces", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(code, b[1]) {
			t.Errorf("the guide shows what no program says:\n%s", b[1])
		}
	}
}
