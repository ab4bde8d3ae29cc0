package openaichat_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
)

// Proves A14: the tools and the kind of a request.
func TestRequest(t *testing.T) {
	const fn = `{"type":"function","function":{"name":"a","description":"d","parameters":{ "type" : "object" }}}`
	for _, c := range []struct{ name, body, want string }{
		{"functions", `{"model":"gpt","stream":true,"tools":[` + fn + `],"messages":[]}`,
			`gpt stream=true n=1 tools=[a "d" { "type" : "object" } true] unknown=[] server=[] conversational=true`},
		{"no tools", `{"model":"gpt"}`,
			`gpt stream=false n=1 tools=[] unknown=[] server=[] conversational=false`},
		{"tools null", `{"tools":null,"functions":null,"n":null,"stream":null,"plugins":null}`,
			` stream=false n=1 tools=[] unknown=[] server=[] conversational=false`},
		{"no description, no parameters", `{"tools":[{"type":"function","function":{"name":"a"}}]}`,
			` stream=false n=1 tools=[a ""  true] unknown=[] server=[] conversational=true`},
		{"a type is not needed for a function", `{"tools":[{"function":{"name":"a","parameters":null}}]}`,
			` stream=false n=1 tools=[a ""  true] unknown=[] server=[] conversational=true`},
		{"custom tool", `{"tools":[{"type":"custom","custom":{"name":"p","description":"x","format":{"type":"text"}}}]}`,
			` stream=false n=1 tools=[p "x" {"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false} false] unknown=[] server=[] conversational=true`},
		{"legacy functions", `{"functions":[{"name":"a","parameters":{}},{"name":"b"}]}`,
			` stream=false n=1 tools=[a "" {} true b ""  true] unknown=[] server=[] conversational=true`},
		{"declared in both spellings", `{"tools":[` + fn + `],"functions":[{"name":"a"},{"name":"b"}]}`,
			` stream=false n=1 tools=[b ""  true] unknown=[a] server=[] conversational=true`},
		{"declared twice, and a bad name", `{"tools":[` + fn + `,` + fn + `,{"type":"function","function":{"name":"re аd"}}]}`,
			` stream=false n=1 tools=[] unknown=[a re аd] server=[] conversational=false`},
		{"members that make other providers search", `{"search_parameters":{"mode":"auto"},"enable_search":true,"compound_custom":{}}`,
			` stream=false n=1 tools=[] unknown=[] server=[search_parameters enable_search compound_custom] conversational=false`},
		{"members that do not", `{"search_parameters":{"mode":"off"},"enable_search":false}`, ` stream=false n=1 tools=[] unknown=[] server=[] conversational=false`},
		{"server-executed tools", `{"tools":[{"type":"web_search"},{"type":"web_search"},{"type":"mcp","server_url":"x"},` + fn + `],"web_search_options":{},"plugins":[{"id":"web"}]}`,
			` stream=false n=1 tools=[a "d" { "type" : "object" } true] unknown=[] server=[web_search mcp web_search_options plugins] conversational=true`},
		{"a function without a name declares nothing", `{"tools":[{"type":"function","function":{}},{"type":"function"},{"type":"custom","custom":{}},{"type":"custom"},{"type":"function","function":{"name":1}}]}`,
			` stream=false n=1 tools=[] unknown=[] server=[] conversational=false`},
		{"several choices", `{"n":3}`, ` stream=false n=3 tools=[] unknown=[] server=[] conversational=false`},
		{"n of an unknown form", `{"n":1.0}`, ` stream=false n=0 tools=[] unknown=[] server=[] conversational=false`},
		{"n too large to mean anything", `{"n":10000}`, ` stream=false n=0 tools=[] unknown=[] server=[] conversational=false`},
		{"tools forbidden", `{"tools":[` + fn + `],"tool_choice":"none"}`,
			` stream=false n=1 tools=[a "d" { "type" : "object" } true] unknown=[] server=[] conversational=false`},
		{"a tool forced", `{"tools":[` + fn + `],"tool_choice":{"type":"function","function":{"name":"a"}}}`,
			` stream=false n=1 tools=[a "d" { "type" : "object" } true] unknown=[] server=[] conversational=true`},
		{"a probe of one token", `{"tools":[` + fn + `],"max_tokens":1}`,
			` stream=false n=1 tools=[a "d" { "type" : "object" } true] unknown=[] server=[] conversational=false`},
		{"many tokens", `{"tools":[` + fn + `],"max_completion_tokens":100000}`,
			` stream=false n=1 tools=[a "d" { "type" : "object" } true] unknown=[] server=[] conversational=true`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := openaichat.Dialect{}.Request([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			var tools []string
			for _, d := range r.Tools {
				tools = append(tools, fmt.Sprintf("%s %q %s %v", d.Name, d.Description, d.Schema, d.EmptyMeansNone))
			}
			got := fmt.Sprintf("%s stream=%v n=%d tools=%s unknown=%s server=%s conversational=%v", r.Model, r.Stream, r.N, tools, r.Unknown, r.ServerTools, r.Conversational)
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Proves A1, A4, A12, A17: an ambiguous request is not forwarded.
func TestRequestRefused(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
	}{
		{"empty", "", 400},
		{"an array", "[]", 400},
		{"trailing data", "{}{}", 400},
		{"two members at the top", `{"tools":[],"tools":[{"type":"web_search"}]}`, 400},
		{"two members, one escaped", `{"tools":[],"tool\u0073":[]}`, 400},
		{"two members in a tool", `{"tools":[{"type":"function","type":"web_search"}]}`, 400},
		{"two members in a message", `{"messages":[{"role":"user","role":"system"}]}`, 400},
		{"a member that folds to tools", `{"Tools":[]}`, 400},
		{"a member that folds to web_search_options", `{"web_Search_options":{}}`, 400},
		{"tools is no array", `{"tools":{}}`, 400},
		{"functions is no array", `{"functions":{}}`, 400},
		{"a tool is no object", `{"tools":["x"]}`, 400},
		{"a tool has no type", `{"tools":[{}]}`, 400},
		{"a tool's type is a number", `{"tools":[{"type":1,"function":{"name":"a"}}]}`, 400},
		{"nested too deeply", `{"x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := openaichat.Dialect{}.Request([]byte(c.body))
			e, ok := err.(*provider.RequestError)
			if !ok || e.Status != c.status || e.Message == "" || r != nil {
				t.Fatalf("%+v, error %v, want status %d", r, err, c.status)
			}
			body := openaichat.Dialect{}.ErrorBody(e.Status, e.Code, e.Message)
			var v struct {
				Error struct{ Message, Type, Code string }
			}
			if json.Unmarshal(body, &v) != nil || v.Error.Message != e.Message || v.Error.Code != string(e.Code) || v.Error.Type == "" {
				t.Errorf("%s", body)
			}
		})
	}
}

// An error without its own text has that of the code.
func TestErrorBody(t *testing.T) {
	got := string(openaichat.Dialect{}.ErrorBody(503, stopgate.CodeOverloaded, ""))
	if want := `{"error":{"message":"The gate is at its limit; try again later.","type":"stopgate_error","param":null,"code":"overloaded"}}`; got != want {
		t.Errorf("got %s", got)
	}
	if (openaichat.Dialect{}).Name() != "openai-chat" {
		t.Error("another name")
	}
}

// A generated id is call_ and 24 characters.
func TestGeneratedID(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		g := newGate(t)
		st := openaichat.Dialect{}.Stream(nil, g, provider.Options{})
		d := &driver{t: t, st: st, d: drive(t, nil, g, provider.Options{}).d}
		_, _, _ = d.send(chunkOf(0, entries(`{"index":0,"function":{"name":"a","arguments":"{}"}}`), "null"), theEnd)
		id := string(g.Calls[0].ID)
		if !strings.HasPrefix(id, "call_") || len(id) != 29 || seen[id] || st.Notes().GeneratedIDs != 1 {
			t.Errorf("id %q, notes %+v", id, st.Notes())
		}
		seen[id] = true
	}
}

// FuzzRequest checks that any body either is refused or declares only tools that it names, and that
// an accepted body is valid for encoding/json.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model":"gpt","stream":true,"n":2,"tools":[{"type":"function","function":{"name":"a","parameters":{}}},{"type":"custom","custom":{"name":"b"}},{"type":"web_search"}],"functions":[{"name":"c"}],"tool_choice":"none","max_tokens":1}`))
	f.Add([]byte(`{"tools":[{"type":"function","function":{"name":"a"}},{"function":{"name":"a"}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := openaichat.Dialect{}.Request(body)
		if err != nil {
			if _, ok := err.(*provider.RequestError); !ok || r != nil {
				t.Fatalf("%+v %v", r, err)
			}
			return
		}
		var v map[string]any
		if err := json.Unmarshal(body, &v); err != nil {
			t.Fatalf("accepted, but %v", err)
		}
		for _, d := range r.Tools {
			if !stopgate.ValidToolName(d.Name) || r.IsUnknown(d.Name) || r.Tool(d.Name) == nil {
				t.Fatalf("tool %q", d.Name)
			}
		}
	})
}
