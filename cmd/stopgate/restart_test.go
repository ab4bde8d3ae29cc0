package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// carefulPolicy asks for two reasons: a rule, and a session policy.
const carefulPolicy = `version = 1
[tools.publish]
parameters.page = { type = "string", required = true }
policy.run = "ask"
[tools.deploy]
parameters.to = { type = "string", required = true }
policy.run = "unattended"
[tools.test]
policy.run = "unattended"

[[session]]
type = "require"
mode = "ask"
before = "deploy"
requires = "test"

[api.tokens.anna]
scopes = ["approve", "operate"]
file = "anna.token"

[approvals]
absent = "defer"
`

// repeating is a model that always proposes one call, and a client that sends one request again.
type repeating struct {
	dir, model string
	body       string
}

func newRepeating(t *testing.T, tool, args string) *repeating {
	t.Helper()
	const parameters = `{"type":"object","properties":{"page":{"type":"string"},"to":{"type":"string"}}}`
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":%q,"arguments":%q}}]}}]}`, tool, args)
	}))
	t.Cleanup(model.Close)
	c := &repeating{dir: t.TempDir(), model: model.URL}
	c.body = fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"Go on."}],"tools":[{"type":"function","function":{"name":%q,"parameters":%s}}]}`, tool, parameters)
	for name, text := range map[string]string{"p.toml": carefulPolicy, "anna.token": "anna-anna-anna-anna\n"} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// up starts the gateway in front of the model.
func (c *repeating) up(t *testing.T) *server {
	t.Helper()
	return startUp(t, c.dir, "--policy", "p.toml", "--api-listen", "127.0.0.1:0", "--openai-upstream", c.model+"/v1")
}

// propose sends the request in a session and returns the answer.
func (c *repeating) propose(t *testing.T, s *server, session string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/chat/completions", strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Stopgate-Session", session)
	r.Header.Set("Authorization", "Bearer key")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// kill ends the gateway at once, as a crash does.
func (s *server) kill(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait()
}

// questions returns the questions that wait for an answer.
func (s *server) questions(t *testing.T) (list []map[string]any) {
	t.Helper()
	_, answer := s.ask(t, "anna-anna-anna-anna", "GET", "/v1/approvals?state=waiting", "")
	questions, _ := answer["approvals"].([]any)
	for _, q := range questions {
		list = append(list, q.(map[string]any))
	}
	return list
}

// Proves S5, S26: a question survives the end of the gateway, before its answer and after it, and the
// repeated identical proposal takes the answer, once and in its own session. This holds for a
// question of a rule and for that of a session policy.
func TestRepeatedProposalsTakeTheirAnswers(t *testing.T) {
	for _, c := range []struct{ tool, args, missing string }{
		{"publish", `{"page":"home"}`, ""},
		{"deploy", `{"to":"prod"}`, "test did not succeed in this session"},
	} {
		for _, answered := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, answered before the end %t", c.tool, answered), func(t *testing.T) {
				client := newRepeating(t, c.tool, c.args)
				s := client.up(t)
				released := func(answer string) bool { return strings.Contains(answer, `"tool_calls":[`) }
				if got := client.propose(t, s, "one"); released(got) || !strings.Contains(got, "approval_pending") {
					t.Fatalf("before the answer: %s", got)
				}
				approve := func() {
					list := s.questions(t)
					if len(list) != 1 || list[0]["tool"] != c.tool {
						t.Fatalf("questions %v", list)
					}
					if missing := fmt.Sprint(list[0]["missing"]); c.missing != "" && !strings.Contains(missing, c.missing) {
						t.Errorf("missing %s", missing)
					}
					if status, answer := s.ask(t, "anna-anna-anna-anna", "POST", "/v1/approvals/"+list[0]["id"].(string), `{"answer":"approve"}`); status != http.StatusOK {
						t.Fatalf("%d %v", status, answer)
					}
				}
				if answered {
					approve()
				}
				s.kill(t)
				s = client.up(t)
				if !answered {
					approve()
				}
				if got := client.propose(t, s, "two"); released(got) {
					t.Errorf("another session takes the answer: %s", got)
				}
				if got := client.propose(t, s, "one"); !released(got) {
					t.Errorf("after the answer: %s", got)
				}
				if got := client.propose(t, s, "one"); released(got) {
					t.Errorf("the answer is taken twice: %s", got)
				}
				if code := s.stop(t); code != 0 {
					t.Errorf("exit code %d\n%s", code, s.stderr)
				}
			})
		}
	}
}
