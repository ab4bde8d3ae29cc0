package anthropic_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves W39, G1, L12: the parts of a request that are read.
func TestRequest(t *testing.T) {
	tool := `{"name":"a","description":"d","input_schema":{ "type" : "object" }}`
	for _, c := range []struct{ name, in, want string }{
		{"a conversation", `{"model":"m","stream":true,"max_tokens":1024,"tools":[` + tool + `]}`,
			`model m stream true n 1 tools [a:d:{ "type" : "object" }] unknown [] server [] conversational true`},
		{"nothing", `{}`, `model  stream false n 1 tools [] unknown [] server [] conversational false`},
		{"null is absent", `{"model":null,"stream":null,"tools":null,"mcp_servers":null,"tool_choice":null}`,
			`model  stream false n 1 tools [] unknown [] server [] conversational false`},
		{"a quota probe", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"quota"}],"tools":[` + tool + `]}`,
			`model m stream false n 1 tools [a:d:{ "type" : "object" }] unknown [] server [] conversational false`},
		{"a request for a title", `{"model":"m","stream":true,"max_tokens":32000,"tools":[],"output_config":{"format":{"type":"json_schema"}}}`,
			`model m stream true n 1 tools [] unknown [] server [] conversational false`},
		{"tools that may not be called", `{"tools":[` + tool + `],"tool_choice":{"type":"none"}}`,
			`model  stream false n 1 tools [a:d:{ "type" : "object" }] unknown [] server [] conversational false`},
		{"tools that must be called", `{"tools":[` + tool + `],"tool_choice":{"type":"any"},"max_tokens":2}`,
			`model  stream false n 1 tools [a:d:{ "type" : "object" }] unknown [] server [] conversational true`},
		{"custom, no schema, no name", `{"tools":[{"type":"custom","name":"a"},{"type":null,"name":"b","input_schema":null},{"name":1},{}]}`,
			`model  stream false n 1 tools [a:: b::] unknown [] server [] conversational true`},
		{"twice", `{"tools":[{"name":"a"},{"name":"b"},{"type":"custom","name":"a"},{"type":"bash_20250124","name":"b"},{"name":"c"}]}`,
			`model  stream false n 1 tools [c::] unknown [a b] server [] conversational true`},
		{"a bad name", `{"tools":[{"name":"reаd"}]}`, `model  stream false n 1 tools [] unknown [reаd] server [] conversational false`},
		{"versions of no tool", `{"tools":[{"type":"bash_2","name":"bash"},{"type":"computer_","name":"computer"},{"type":"memory_20250818x","name":"memory"},{"type":"text_editor_20991231","name":"str_replace_based_edit_tool"}]}`,
			`model  stream false n 1 tools [] unknown [bash computer memory str_replace_based_edit_tool] server [] conversational false`},
		{"tools at the provider, each type once", `{"tools":[{"type":"web_search_20250305","name":"web_search"},{"type":"web_search_20250305","name":"w2"},{"type":"code_execution_20250825","name":"code_execution"},{"type":"tool_search_tool_regex_20251119","name":"x"},{"type":"mcp_toolset","mcp_server_name":"s"}],"mcp_servers":[{"type":"url","url":"https://s"}]}`,
			`model  stream false n 1 tools [] unknown [] server [web_search_20250305 code_execution_20250825 tool_search_tool_regex_20251119 mcp_toolset mcp_servers] conversational false`},
		{"no remote servers", `{"mcp_servers":[]}`, `model  stream false n 1 tools [] unknown [] server [] conversational false`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := anthropic.Dialect{}.Request([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			var tools []string
			for _, d := range r.Tools {
				if !d.EmptyMeansNone {
					t.Errorf("%s: no arguments are not none", d.Name)
				}
				tools = append(tools, fmt.Sprintf("%s:%s:%s", d.Name, d.Description, d.Schema))
			}
			got := fmt.Sprintf("model %s stream %v n %d tools %v unknown %v server %v conversational %v",
				r.Model, r.Stream, r.N, tools, r.Unknown, r.ServerTools, r.Conversational)
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Proves A1, F13, F18: requests that are not forwarded.
func TestRequestRefused(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no JSON", `x`, "400 protocol_violation: The request body is not one valid JSON object."},
		{"twice", `{"tools":[],"tools":[]}`, "400 protocol_violation: An object in the request body contains the same member twice."},
		{"another case", `{"Tools":[]}`, "400 protocol_violation: The request has a member whose name differs from a known one only in case."},
		{"tools are no array", `{"tools":{}}`, "400 protocol_violation: tools is not an array."},
		{"a tool is no object", `{"tools":["a"]}`, "400 protocol_violation: An entry of tools is not an object."},
		{"a type is no string", `{"tools":[{"type":1,"name":"a"}]}`, "400 protocol_violation: The type of an entry of tools is not a string."},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := anthropic.Dialect{}.Request([]byte(c.in))
			var bad *provider.RequestError
			if !errors.As(err, &bad) || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// Proves W39: the tools whose schema the provider knows have one here, which describes their calls.
func TestBuiltinTools(t *testing.T) {
	for _, c := range []struct {
		name, types string
		good, bad   []string
	}{
		{"bash", "bash_20241022 bash_20250124",
			[]string{`{"command":"ls"}`, `{"restart":true}`}, []string{`{"command":1}`, `{"cmd":"ls"}`}},
		{"str_replace_based_edit_tool", "text_editor_20241022 text_editor_20250124 text_editor_20250429 text_editor_20250728",
			[]string{`{"command":"view","path":"/x","view_range":[1,-1]}`, `{"command":"insert","path":"/x","insert_line":0,"insert_text":"y"}`}, []string{`{"command":"rm","path":"/x"}`, `{"command":"view"}`}},
		{"memory", "memory_20250818",
			[]string{`{"command":"rename","old_path":"/memories/a","new_path":"/memories/b"}`, `{"command":"view","path":"/memories"}`}, []string{`{"path":"/memories"}`, `{"command":"chmod","path":"/x"}`}},
		{"computer", "computer_20241022 computer_20250124 computer_20251124",
			[]string{`{"action":"left_click","coordinate":[1,2]}`, `{"action":"zoom","region":[0,0,5,5]}`}, []string{`{"coordinate":[1,2]}`, `{"action":"key","text":1}`}},
	} {
		for _, typ := range strings.Fields(c.types) {
			t.Run(typ, func(t *testing.T) {
				r, err := anthropic.Dialect{}.Request([]byte(`{"tools":[{"type":"` + typ + `","name":"` + c.name + `"}]}`))
				if err != nil {
					t.Fatal(err)
				}
				def := r.Tool(stopgate.ToolName(c.name))
				if def == nil || !r.Conversational {
					t.Fatalf("not declared: %+v", r)
				}
				s, notes, err := schema.ParseJSON(def.Schema)
				if err != nil || len(notes) > 0 {
					t.Fatal(err, notes)
				}
				check := func(in string, want bool) {
					v, err := jsonstream.Parse([]byte(in), jsonstream.Options{})
					if err != nil {
						t.Fatal(err)
					}
					if bad := s.Validate(v); (bad == nil) != want {
						t.Errorf("%s: %v", in, bad)
					}
				}
				for _, in := range c.good {
					check(in, true)
				}
				for _, in := range c.bad {
					check(in, false)
				}
			})
		}
	}
}

// Proves W52: error responses have the dialect's form and types.
func TestErrorBody(t *testing.T) {
	for status, typ := range map[int]string{
		400: "invalid_request_error", 415: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		405: "not_found_error", 413: "request_too_large", 500: "api_error", 502: "api_error", 503: "overloaded_error", 529: "overloaded_error",
	} {
		got := string(anthropic.Dialect{}.ErrorBody(status, stopgate.CodeRuleMatched, `No "x".`))
		if want := `{"type":"error","error":{"type":"` + typ + `","message":"[stopgate] No \"x\". (rule_matched)"}}`; got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
	if got := string(anthropic.Dialect{}.ErrorBody(403, stopgate.CodeRuleMatched, "")); !strings.Contains(got, stopgate.CodeRuleMatched.Public()) {
		t.Errorf("got %s", got)
	}
	if name := (anthropic.Dialect{}).Name(); name != "anthropic" {
		t.Errorf("name %s", name)
	}
}
