package judge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/judge"
)

// asked is one request as the scripted model received it.
type asked struct {
	path   string
	header http.Header
	body   map[string]any
}

// system and user return the two texts of the request, for either API.
func (a asked) system() string {
	if text, ok := a.body["system"].(string); ok {
		return text
	}
	return a.body["messages"].([]any)[0].(map[string]any)["content"].(string)
}

func (a asked) user() string {
	messages := a.body["messages"].([]any)
	return messages[len(messages)-1].(map[string]any)["content"].(string)
}

// model is an endpoint that responds with a function.
type model struct {
	*httptest.Server
	mu   sync.Mutex
	seen []asked
}

// serve starts a model that stores its requests.
func serve(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, a asked, n int)) *model {
	t.Helper()
	m := &model{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := asked{path: r.URL.Path, header: r.Header.Clone()}
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(text, &a.body)
		}
		if err != nil {
			t.Errorf("request: %v", err)
		}
		m.mu.Lock()
		m.seen = append(m.seen, a)
		n := len(m.seen)
		m.mu.Unlock()
		answer(w, r, a, n)
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *model) requests() []asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]asked(nil), m.seen...)
}

// quote encodes a JSON string.
func quote(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// chat returns a completion with a text; message is the rest of the choice.
func chat(content string) string {
	return `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":` + quote(content) +
		`,"refusal":null},"finish_reason":"stop"}],"usage":{"total_tokens":9}}`
}

// message returns an Anthropic message that calls the form's tool.
func message(input string) string {
	return `{"id":"x","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t","name":"verdict","input":` + input +
		`}],"stop_reason":"tool_use","usage":{"input_tokens":9}}`
}

func verdict(p float64, why string) string {
	return fmt.Sprintf(`{"probability":%g,"explanation":%s}`, p, quote(why))
}

// says returns a model with a constant response.
func says(t testing.TB, api string, form string) *model {
	return serve(t, func(w http.ResponseWriter, _ *http.Request, _ asked, _ int) { answerWith(w, api, form) })
}

func answerWith(w http.ResponseWriter, api, form string) {
	w.Header().Set("Content-Type", "application/json")
	if api == "anthropic" {
		io.WriteString(w, message(form))
	} else {
		io.WriteString(w, chat(form))
	}
}

// table returns the table [judge] of a test.
func table(t testing.TB, url, more string) *gate.JudgeTable {
	t.Helper()
	p, found := parser.Parse(kinds.Table(), "stopgate.toml", []byte("version = 1\n[judge]\nmodel = \"judge-1\"\nbase_url = \""+url+"\"\n"+more))
	if found.HasErrors() {
		t.Fatal(found)
	}
	return policy.JudgeTable(p.Judge)
}

// open creates the judge of a table with its own factory.
func open(t testing.TB, tbl *gate.JudgeTable, o judge.Options) gate.Judge {
	t.Helper()
	j, err := judge.New(o).Judge(tbl)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// proposal returns a call of run_command.
func proposal(args string) gate.Proposal {
	return gate.Proposal{
		Call: stopgate.Call{Tool: "run_command", Definition: &stopgate.ToolDefinition{Name: "run_command", Description: "Runs a command."}},
		Args: args, ArgsHash: "hash of " + args, Definition: "d1",
	}
}

func review(t testing.TB, j gate.Judge, p gate.Proposal) (gate.Opinion, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return j.Judge(ctx, p)
}

// within reports whether a text contains all parts.
func within(text string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
