package openairesponses_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves G1, L12, W48, S57: the parts of a request that are read.
func TestRequest(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a conversation", `{"model":"m","stream":true,"input":[],"tools":[{"type":"function","name":"a","description":"d","parameters":{ "x" : 1 }}]}`,
			`model m stream true tools [a:d:{ "x" : 1 }] unknown [] server [] conversational true refused []`},
		{"nothing", `{}`, `model  stream false tools [] unknown [] server [] conversational false refused []`},
		{"null is absent", `{"model":null,"stream":null,"tools":null,"background":null,"tool_choice":null}`, `model  stream false tools [] unknown [] server [] conversational false refused []`},
		{"no tool may be called", `{"tools":[{"type":"function","name":"a"}],"tool_choice":"none"}`, `model  stream false tools [a::] unknown [] server [] conversational false refused []`},
		{"a namespace", `{"tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"a"},{"type":"custom","name":"b"}]},{"type":"function","name":"n.a"}]}`,
			`model  stream false tools [n.b::{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}] unknown [n.a] server [] conversational true refused []`},
		{"twice", `{"tools":[{"type":"function","name":"a"},{"type":"custom","name":"a"},{"type":"function","name":1},{"type":"custom"}]}`,
			`model  stream false tools [] unknown [a] server [] conversational false refused []`},
		{"tools at the provider", `{"tools":[{"type":"web_search"},{"type":"web_search"},{"type":"file_search"},{"type":"tool_search"},{"type":"shell","environment":{"type":"container_auto"}},{"type":"mcp","require_approval":"never"}]}`,
			`model  stream false tools [] unknown [] server [web_search file_search tool_search shell mcp] conversational false refused []`},
		{"a prompt of the provider's", `{"prompt":{"id":"pmpt_1"},"input":"x"}`, `model  stream false tools [] unknown [] server [prompt] conversational false refused []`},
		{"in the background", `{"background":true}`, `model  stream false tools [] unknown [] server [] conversational false refused [background_not_supported]`},
		{"not in the background", `{"background":false}`, `model  stream false tools [] unknown [] server [] conversational false refused []`},
		{"tools that nobody can judge", `{"tools":[{"type":"computer_use_preview"},{"type":"computer"},{"type":"tool_search","execution":"client"},{"type":"mcp"},{"type":"function","name":"a","allowed_callers":["direct","programmatic"]}]}`,
			`model  stream false tools [a::] unknown [] server [mcp] conversational true refused [policy_not_configured policy_not_configured policy_not_configured policy_not_configured policy_not_configured]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := openairesponses.Dialect{}.Request([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			var tools []string
			for _, d := range r.Tools {
				tools = append(tools, fmt.Sprintf("%s:%s:%s", d.Name, d.Description, d.Schema))
			}
			refused := []stopgate.Code{}
			for _, no := range r.Refusals {
				refused = append(refused, no.Code)
				if no.Status != 400 {
					t.Errorf("status %d", no.Status)
				}
			}
			got := fmt.Sprintf("model %s stream %v tools %v unknown %v server %v conversational %v refused %v", r.Model, r.Stream, tools, r.Unknown, r.ServerTools, r.Conversational, refused)
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Proves A1, F13, F18: requests that are not forwarded.
func TestRequestRefused(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no JSON", `x`, "400 protocol_violation"},
		{"twice", `{"tools":[],"tools":[]}`, "400 protocol_violation"},
		{"another case", `{"Tools":[]}`, "400 protocol_violation"},
		{"behind a NUL", `{"tools\u0000":[{"type":"web_search"}]}`, "400 protocol_violation"},
		{"tools that are no list", `{"tools":{}}`, "400 protocol_violation"},
		{"a tool that is no object", `{"tools":["a"]}`, "400 protocol_violation"},
		{"a tool without a type", `{"tools":[{"name":"a"}]}`, "400 protocol_violation"},
		{"a namespace in a namespace", `{"tools":[{"type":"namespace","name":"a","tools":[{"type":"namespace","name":"b","tools":[]}]}]}`, "400 protocol_violation"},
		{"a namespace without a name", `{"tools":[{"type":"namespace","tools":[]}]}`, "400 protocol_violation"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openairesponses.Dialect{}.Request([]byte(c.in))
			var e *provider.RequestError
			if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

// The schemas of the provider's tools are valid, and the name, the errors and the zero request are
// those of the dialect.
func TestDialect(t *testing.T) {
	r := request(t)
	for _, name := range []stopgate.ToolName{"openai.shell", "openai.local_shell", "openai.apply_patch"} {
		d := r.Tool(name)
		if d == nil {
			t.Fatalf("%s is not declared", name)
		}
		if _, _, err := schema.ParseJSON(d.Schema); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, _, err := schema.ParseJSON(r.Tool("openai.local_shell").Schema)
	if at := s.Reach(jsonstream.Pointer{"command"}); err != nil || at.Annotation != schema.Argv || at.CrossesArray {
		t.Errorf("guards do not see the command of openai.local_shell: %+v", at)
	}
	var d openairesponses.Dialect
	if d.Name() != "openai-responses" {
		t.Error(d.Name())
	}
	v, err := jsonstream.Parse(d.ErrorBody(400, stopgate.CodeBackgroundNotSupported, ""), jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := v.Get("error"); !e.IsValid() {
		t.Errorf("%s", v.Raw())
	}
}
