package provider_test

import (
	"fmt"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
)

// The dialects by their names in records.
var dialects = map[string]provider.Dialect{
	"chat": openaichat.Dialect{}, "responses": openairesponses.Dialect{}, "messages": anthropic.Dialect{},
}

// A request member or a model that makes the provider run a tool is declared as a server
// tool.
func TestSwitchesOfARequest(t *testing.T) {
	for _, c := range []struct{ member, want string }{
		{`"mcp_servers":[{"type":"url","url":"https://s"}]`, "[mcp_servers]"},
		{`"mcp_servers":[]`, "[]"},
		{`"web_search":true`, "[web_search]"},
		{`"web_search":false`, "[]"},
		{`"web_search_options":{}`, "[web_search_options]"},
		{`"data_sources":[{"type":"azure_search","parameters":{}}]`, "[data_sources]"},
		{`"connectors":[{"id":"web-search"}]`, "[connectors]"},
		{`"venice_parameters":{"enable_web_search":"on"}`, "[venice_parameters]"},
		{`"venice_parameters":{"enable_web_search":"off","include_venice_system_prompt":true}`, "[]"},
		{`"extra_body":{"enable_search":true,"top_k":3}`, "[extra_body.enable_search]"},
		{`"extra_body":{"tools":[{"type":"function"}]}`, "[extra_body.tools]"},
		{`"extra_body":{"google":{"tools":[{"google_search":{}}]}}`, "[extra_body.google]"},
		{`"extra_body":{"repetition_penalty":1.1}`, "[]"},
		{`"enable_search":true`, "[enable_search]"},
		{`"enable_something":1`, "[enable_something]"},
		{`"enable_thinking":true`, "[]"},
		{`"enableWebSearch":"auto"`, "[enableWebSearch]"},
		{`"disable_search":true`, "[]"},
		{`"agents":[{"name":"x"}]`, "[agents]"},
		{`"options":{"deep":[{"type":"web_search_preview"}]}`, "[options]"},
		{`"options":{"mode":"off","enabled":true,"search":1}`, "[options]"},
		{`"options":{"a":{"b":{"c":{"d":{"e":{"f":{"g":{}}}}}}}}`, "[options]"},
		{`"seed":1,"logit_bias":{"5":1},"min_p":0.1,"transforms":["middle-out"],"provider":{"order":["a"],"require_parameters":true}`, "[]"},
		{`"metadata":{"search":"yes"}`, "[]"},
		{`"model":"openai/gpt-4o:online"`, "[model:openai/gpt-4o:online]"},
		{`"model":"gpt-4o-search-preview"`, "[model:gpt-4o-search-preview]"},
		{`"model":"groq/compound-mini"`, "[model:groq/compound-mini]"},
		{`"model":"sonar-pro"`, "[model:sonar-pro]"},
		{`"model":"gpt-4o"`, "[]"},
		{`"model":"research-assistant"`, "[]"},
	} {
		for name, dialect := range dialects {
			r, err := dialect.Request([]byte(`{` + c.member + `}`))
			if err != nil {
				t.Errorf("%s: %s: %v", name, c.member, err)
				continue
			}
			if got := fmt.Sprint(r.ServerTools); got != c.want {
				t.Errorf("%s: %s switches on %s, want %s", name, c.member, got, c.want)
			}
		}
	}
}

// Tools that the conversation declares are tools of the request. Equal definitions are one
// tool, different ones make the name unknown.
func TestToolsDeclaredInTheConversation(t *testing.T) {
	const fn = `{"type":"function","name":"f","description":"d","parameters":{"type":"object"}}`
	const same = `{"parameters":{ "type":"object" },"description":"d","name":"f","type":"function"}`
	const other = `{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{}}}`
	item := func(typ, tool string) string { return `{"type":"` + typ + `","tools":[` + tool + `]}` }
	for _, c := range []struct{ dialect, body, want string }{
		{"responses", `{"input":[` + item("additional_tools", fn) + `]}`, "tools [f] unknown [] server []"},
		{"responses", `{"input":[` + item("tool_search_output", fn) + `]}`, "tools [f] unknown [] server []"},
		{"responses", `{"tools":[` + fn + `],"input":[` + item("tool_search_output", same) + `,` + item("additional_tools", fn) + `]}`, "tools [f] unknown [] server []"},
		{"responses", `{"tools":[` + fn + `],"input":[` + item("tool_search_output", other) + `]}`, "tools [] unknown [f] server []"},
		{"responses", `{"input":[` + item("additional_tools", `{"type":"web_search"}`) + `]}`, "tools [] unknown [] server [web_search]"},
		{"responses", `{"input":[` + item("mcp_list_tools", `{"name":"x","input_schema":{}}`) + `]}`, "tools [] unknown [] server [mcp]"},
		{"responses", `{"input":[` + item("message", fn) + `]}`, "tools [] unknown [] server []"},
		{"chat", `{"messages":[{"role":"system","tools":[{"type":"function","function":{"name":"f"}}]}]}`, "tools [f] unknown [] server []"},
		{"chat", `{"messages":[{"role":"developer","tools":[{"type":"web_search"}]}]}`, "tools [] unknown [] server [web_search]"},
		{"chat", `{"messages":[{"role":"assistant","tools":[{"type":"function","function":{"name":"f"}}]}]}`, "tools [] unknown [] server []"},
	} {
		r, err := dialects[c.dialect].Request([]byte(c.body))
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		var names []string
		for _, d := range r.Tools {
			names = append(names, string(d.Name))
		}
		if got := fmt.Sprintf("tools %v unknown %v server %v", names, r.Unknown, r.ServerTools); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.body, got, c.want)
		}
	}
}
