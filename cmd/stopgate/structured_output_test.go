package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/jsonstream"
)

// answeringModel calls the tool that the request names in its member "user", or in its
// metadata, in the dialect of the path.
func answeringModel(t *testing.T) *httptest.Server {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		root, err := jsonstream.Parse(text, jsonstream.Options{ObjectRoot: true})
		if err != nil {
			t.Error(err)
		}
		user, _ := root.Get("user")
		if metadata, ok := root.Get("metadata"); ok {
			user, _ = metadata.Get("user_id")
		}
		tool, args, _ := strings.Cut(user.Text(), " ")
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/v1/chat/completions":
			fmt.Fprintf(w, `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":%q,"arguments":%q}}]}}]}`, tool, args)
		case "/v1/responses":
			fmt.Fprintf(w, `{"id":"r1","object":"response","status":"completed","output":[{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":%q,"arguments":%q}]}`, tool, args)
		default:
			fmt.Fprintf(w, `{"id":"m1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"call_1","name":%q,"input":%s}],"stop_reason":"tool_use"}`, tool, args)
		}
	}))
	t.Cleanup(model.Close)
	return model
}

// What an agent framework gets through the running gateway with the starters: its
// structured output passes where the request says that it is one, in every dialect; guards
// look on; a handoff needs [[handoffs]]; and any other tool is asked about as ever.
func TestAnswerTools(t *testing.T) {
	kind, err := config.StarterFor("coding")
	if err != nil {
		t.Fatal(err)
	}
	coding := string(kind[0].Text)
	const waits = "\n[approvals]\nunary_timeout = \"10ms\"\n"
	handoffs := "\n[[handoffs]]\ntool = \"transfer_to_*\"\nto = [\"billing\"]\nmode = \"unattended\"\n"
	for name, policy := range map[string]string{"embedded": "", "init": coding + waits, "handoffs": coding + waits + handoffs} {
		t.Run(name, func(t *testing.T) {
			dir := liveIn(t, policy)
			model := answeringModel(t)
			args := []string{"--store", "memory", "--audit", "gateway.jsonl", "--openai-upstream", model.URL + "/v1", "--anthropic-upstream", model.URL}
			if policy != "" {
				args = append(args, "--policy", "p.toml")
			}
			g := startUp(t, dir, args...)
			ask := func(path, user, tool, choice string) surfaced {
				t.Helper()
				status, answer := post(t, g.url+path, fmt.Sprintf(`{"model":"m","max_tokens":99,"user":%q,"metadata":{"user_id":%q},"messages":[{"role":"user","content":"go"}],"input":"go","tools":[%s]%s}`, user, user, tool, choice))
				if path == "/v1/messages" {
					status, answer = post(t, g.url+path, fmt.Sprintf(`{"model":"m","max_tokens":99,"metadata":{"user_id":%q},"messages":[{"role":"user","content":"go"}],"tools":[%s]%s}`, user, tool, choice))
				}
				if status != http.StatusOK {
					t.Fatalf("status %d: %s", status, answer)
				}
				p := lastRow(t, filepath.Join(dir, "gateway.jsonl"))
				p.said = answer
				return p
			}
			const schema = `{"type":"object","properties":{"answer":{"type":"string"},"path":{"type":"string"}},"additionalProperties":false}`
			for _, api := range []struct{ path, tool, strict, forced, required string }{
				{"/v1/chat/completions", `{"type":"function","function":{"name":%q,"parameters":` + schema + `%s}}`, `,"strict":true`,
					`,"tool_choice":{"type":"function","function":{"name":%q}}`, `,"tool_choice":"required"`},
				{"/v1/responses", `{"type":"function","name":%q,"parameters":` + schema + `%s}`, `,"strict":true`,
					`,"tool_choice":{"type":"function","name":%q}`, `,"tool_choice":"required"`},
				{"/v1/messages", `{"name":%q,"input_schema":` + schema + `%s}`, `,"strict":true`,
					`,"tool_choice":{"type":"tool","name":%q}`, `,"tool_choice":{"type":"any"}`},
			} {
				for _, c := range []struct {
					tool, args, strict, choice string
					allowed                    bool
				}{
					{"final_result", `{"answer":"forty-two"}`, api.strict, "", true},
					{"final_answer", `{"answer":"forty-two"}`, "", fmt.Sprintf(api.forced, "final_answer"), true},
					{"json", `{"answer":"forty-two"}`, "", api.required, true},
					{"StructuredOutput", `{"answer":"forty-two"}`, api.strict, "", true},
					{"submit_output", `{"answer":"forty-two"}`, api.strict, "", true},
					{"final_result", `{"answer":"forty-two"}`, "", "", false}, // the name alone
					{"deploy", `{"answer":"forty-two"}`, api.strict, api.required, false},
					{"final_result", `{"path":"a/.env"}`, api.strict, "", false},
					{"transfer_to_billing", `{"answer":"x"}`, api.strict, "", name == "handoffs"},
					{"transfer_to_shipping", `{"answer":"x"}`, api.strict, "", false},
				} {
					p := ask(api.path, c.tool+" "+c.args, fmt.Sprintf(api.tool, c.tool, c.strict), c.choice)
					if allowed := p.Status == "allowed"; allowed != c.allowed || allowed != strings.Contains(p.said, "call_1") {
						t.Errorf("%s %s %s%s%s: %+v", api.path, c.tool, c.args, c.strict, c.choice, p)
					}
				}
			}
		})
	}
}

// explain says what a tool was recognised as.
func TestExplainRecognised(t *testing.T) {
	dir := liveIn(t, string(config.Starter()))
	tools := writeIn(t, dir, "tools.json", `[{"name":"final_result","strict":true,"parameters":{"type":"object","properties":{"answer":{"type":"string"}}}},{"name":"transfer_to_x","strict":true,"parameters":{"type":"object"}}]`)
	for _, c := range []struct{ as, tool, want string }{
		{"gateway", "final_result", "known as  the form of the model's answer; [gate] structured_output lets it pass"},
		{"gateway", "transfer_to_x", "known as  a handoff to another agent; it needs an entry in [[handoffs]]"},
		{"mcp", "final_result", ""},
	} {
		var out, talk strings.Builder
		run([]string{"explain", "--policy", "p.toml", "--as", c.as, "--tools", tools, "--tool", c.tool, "--args", "{}"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk})
		if said := out.String(); !strings.Contains(said, c.want) || c.want == "" && strings.Contains(said, "known as") {
			t.Errorf("%s %s:\n%s%s", c.as, c.tool, said, talk.String())
		}
	}
}
