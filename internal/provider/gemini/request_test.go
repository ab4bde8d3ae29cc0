package gemini_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider/gemini"
)

// Tools, choices and limits of a request are read in both spellings.
func TestRequest(t *testing.T) {
	r, err := gemini.Dialect{}.Request([]byte(`{"contents":[{"role":"user","parts":[{"text":"hi"}]}],
	 "system_instruction":{"parts":[{"text":"be brief"}]},
	 "tools":[{"function_declarations":[{"name":"move","description":"d","parameters":{"type":"OBJECT","properties":{"to":{"type":"STRING","nullable":true,"minLength":"1"},
	   "list":{"type":"ARRAY","items":{"type":"INTEGER"}}},"required":["to"]}}]},{"functionDeclarations":[{"name":"b","parametersJsonSchema":{"type":"object"}}]}],
	 "tool_config":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["b"]}},
	 "generationConfig":{"candidateCount":2,"maxOutputTokens":500,"responseSchema":{"type":"OBJECT","properties":{"search":{"type":"STRING"}}}},
	 "safetySettings":[{"category":"X","threshold":"BLOCK_NONE"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	gemini.ReadPath(r, "/v1beta/models/gemini-3-pro:streamGenerateContent")
	if r.Model != "gemini-3-pro" || !r.Stream || r.N != 2 || r.MaxTokens != 500 || !r.Conversational || len(r.ServerTools) != 0 || len(r.Tools) != 2 {
		t.Errorf("%+v", r)
	}
	want := `{"type":"object","properties":{"to":{"type":["string","null"],"minLength":1},"list":{"type":"array","items":{"type":"integer"}}},"required":["to"]}`
	if got := string(r.Tool("move").Schema); got != want {
		t.Errorf("schema %s\nwant %s", got, want)
	}
	if r.Tool("move").Strict || !r.Tool("b").Strict {
		t.Error("only b is forced")
	}
	if r.Hints.OpeningHash == "" || r.Hints.UserMessageHash == "" {
		t.Errorf("%+v", r.Hints)
	}
}

// Every tool of the provider is found, whatever its name.
func TestServerTools(t *testing.T) {
	for body, want := range map[string]string{
		`"tools":[{"googleSearch":{}}]`:                               "googleSearch",
		`"tools":[{"google_search":{}}]`:                              "googleSearch",
		`"tools":[{"googleSearchRetrieval":{}},{"codeExecution":{}}]`: "googleSearchRetrieval codeExecution",
		`"tools":[{"urlContext":{},"functionDeclarations":[]}]`:       "urlContext",
		`"tools":[{"googleMaps":{}}]`:                                 "googleMaps",
		`"tools":[{"retrieval":{}}]`:                                  "retrieval",
		`"tools":[{"fileSearch":{}}]`:                                 "fileSearch",
		`"tools":[{"mcpServers":[{"url":"x"}]}]`:                      "mcpServers",
		`"tools":[{"somethingNew":{}}]`:                               "somethingNew",
		`"tools":[{"computerUse":{}}]`:                                "",
		`"cachedContent":"cachedContents/1"`:                          "cachedContent",
		`"enableWebSearch":true`:                                      "enableWebSearch",
		`"generationConfig":{"temperature":1,"responseModalities":["TEXT"],"thinkingConfig":{"includeThoughts":true}}`: "",
		`"safetySettings":[]`: "",
	} {
		r, err := gemini.Dialect{}.Request([]byte(`{"contents":[],` + body + `}`))
		if err != nil {
			t.Fatal(body, err)
		}
		if got := strings.Join(r.ServerTools, " "); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// A request that two readers could read differently is refused.
func TestRequestRefused(t *testing.T) {
	for _, body := range []string{
		`[]`, `{"tools":{}}`, `{"tools":[1]}`, `{"tools":[{"functionDeclarations":{}}]}`, `{"Tools":[]}`, `{"contents":[],"contents":[]}`,
		`{"generationConfig":{},"generation_config":{}}`, `{"tools":[{"functionDeclarations":[],"function_declarations":[]}]}`,
	} {
		if _, err := (gemini.Dialect{}).Request([]byte(body)); err == nil {
			t.Errorf("%s is accepted", body)
		}
	}
}

// Results belong to calls by their id, else by name and order.
func TestHistory(t *testing.T) {
	r, err := gemini.Dialect{}.Request([]byte(`{"contents":[
	 {"role":"user","parts":[{"text":"go"}]},
	 {"role":"model","parts":[{"functionCall":{"name":"a","args":{"n":1}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"a","args":{"n":2}}},{"functionCall":{"name":"b","id":"c1","args":{}}}]},
	 {"role":"user","parts":[{"functionResponse":{"name":"a","response":{"output":"one"}}},{"functionResponse":{"name":"a","response":{"error":"two"}}},
	   {"functionResponse":{"name":"b","id":"c1","response":{"result":"three"}}}]},
	 {"role":"model","parts":[{"functionCall":{"name":"a","args":{"n":3}}}]},
	 {"role":"user","parts":[{"functionResponse":{"name":"a","response":{"output":"four"}}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range r.History {
		p := &r.History[i]
		got = append(got, string(p.Call)+"|"+string(p.Args())+"|"+string(p.Results[0].Text()))
		if failed := p.Results[0].Failed; failed != (i == 1) {
			t.Errorf("result %d failed: %t", i, failed)
		}
	}
	want := []string{`|{"n":1}|one`, `|{"n":2}|two`, `c1|{}|three`, `|{"n":3}|four`}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
