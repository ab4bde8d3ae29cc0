package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/internal/provider/transcript"
)

var w = transcript.Writer{Hide: gate.Hide("/**/password")}

func format(dialect string) *transcript.Format {
	if api := registry.Named(dialect); api != nil {
		return &api.Transcript
	}
	return nil
}

// Requests of every API are converted to the form of the conventions, and values hidden in
// arguments are hidden in results, too.
func TestRequest(t *testing.T) {
	for _, c := range []struct{ name, dialect, body, system, messages, tools string }{
		{
			"chat", "openai-chat",
			`{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},
			 {"type":"image_url","image_url":{"url":"https://x/y.png"}},{"type":"odd","secret":"s"}]},
			 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"password\":\"p\",\"n\":1e2}"}},{"id":"c2","type":"custom","custom":{"name":"g","input":"free"}}]},
			 {"role":"tool","tool_call_id":"c1","content":"{\"password\":\"p\"}"},{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],
			 "tools":[{"type":"function","function":{"name":"f","description":"d"}},{"type":"custom","custom":{"name":"g"}}]}`,
			"",
			`[{"role":"system","parts":[{"type":"text","content":"be brief"}]},{"role":"user","parts":[{"type":"text","content":"look"},{"type":"blob","modality":"image","mime_type":"image/png","content":""},` +
				`{"type":"uri","modality":"image","uri":"https://x/y.png"},{"type":"odd"}]},` +
				`{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"f","arguments":{"password":"[redacted]","n":1e2}},{"type":"tool_call","id":"c2","name":"g","arguments":"free"}]},` +
				`{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"{\"password\":\"[redacted]\"}"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c2","response":"a\nb"}]}]`,
			`[{"type":"function","name":"f"},{"type":"custom","name":"g"}]`,
		},
		{
			"chat, the old way", "openai-chat",
			`{"messages":[{"role":"assistant","function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"r"}]}`, "",
			`[{"role":"assistant","parts":[{"type":"tool_call","name":"f","arguments":{}}]},{"role":"function","parts":[{"type":"tool_call_response","id":"f","response":"r"}]}]`, "",
		},
		{
			"messages", "anthropic",
			`{"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"hi"},
			 {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"xxx"},{"type":"tool_use","id":"t1","name":"f","input":{"password":"p"}}]},
			 {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"{\"password\":1}"},{"type":"image","source":{"type":"base64","data":"AAAA"}}]},
			 {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}]}],"tools":[{"name":"f","input_schema":{}},{"type":"bash_20250124","name":"bash"},{"type":"custom","name":"g","input_schema":{}}]}`,
			`[{"type":"text","content":"be brief"}]`,
			`[{"role":"user","parts":[{"type":"text","content":"hi"}]},{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"redacted_thinking"},` +
				`{"type":"tool_call","id":"t1","name":"f","arguments":{"password":"[redacted]"}}]},` +
				`{"role":"user","parts":[{"type":"tool_call_response","id":"t1","response":"{\"password\":\"[redacted]\"}\n[image]"},{"type":"blob","modality":"document","mime_type":"application/pdf","content":""}]}]`,
			`[{"type":"function","name":"f"},{"type":"bash_20250124","name":"bash"},{"type":"function","name":"g"}]`,
		},
		{
			"responses", "openai-responses",
			`{"instructions":"be brief","input":[{"role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_image","image_url":"https://x/y.png"}]},
			 {"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"xxx"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]},
			 {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"password\":2}"},{"type":"function_call_output","call_id":"c1","output":"r"},
			 {"type":"local_shell_call","call_id":"c2","action":{"command":["ls"]}},{"type":"web_search_call","id":"w1"},{"type":"item_reference","id":"x"}],
			 "tools":[{"type":"function","name":"f"},{"type":"web_search"}]}`,
			`[{"type":"text","content":"be brief"}]`,
			`[{"role":"user","parts":[{"type":"text","content":"hi"},{"type":"uri","modality":"image","uri":"https://x/y.png"}]},` +
				`{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"text","content":"ok"},{"type":"tool_call","id":"c1","name":"f","arguments":{"password":"[redacted]"}}]},` +
				`{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"r"}]},` +
				`{"role":"assistant","parts":[{"type":"tool_call","id":"c2","name":"local_shell","arguments":{"command":["ls"]}},{"type":"server_tool_call","id":"w1","name":"web_search","server_tool_call":{"type":"web_search_call"}},{"type":"item_reference"}]}]`,
			`[{"type":"function","name":"f"},{"type":"web_search","name":"web_search"}]`,
		},
		{"responses, a text", "openai-responses", `{"input":"hi"}`, "", `[{"role":"user","parts":[{"type":"text","content":"hi"}]}]`, ""},
		{"nothing", "anthropic", `{}`, "", "", ""},
		{"no JSON", "anthropic", `{`, "", "", ""},
		{"another API", "gemini", `{"messages":[{"role":"user","content":"x"}]}`, "", "", ""},
	} {
		got := w.Request(format(c.dialect), []byte(c.body))
		if got.System != c.system || got.Messages != c.messages || got.Tools != c.tools {
			t.Errorf("%s:\n%s\n%s\n%s\nwant\n%s\n%s\n%s", c.name, got.System, got.Messages, got.Tools, c.system, c.messages, c.tools)
		}
	}
}

// An answer has the same transcript streamed or not.
func TestAnswer(t *testing.T) {
	const chat = `[{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"text","content":"I look."},{"type":"tool_call","id":"c1","name":"f","arguments":{"password":"[redacted]"}},` +
		`{"type":"tool_call","id":"c2","name":"g","arguments":{}}]},{"role":"assistant","parts":[{"type":"text","content":"no"}]}]`
	const one = `[{"role":"assistant","parts":[{"type":"text","content":"I look."},{"type":"tool_call","id":"c1","name":"f","arguments":{"password":"[redacted]"}}]}]`
	const cut = `[{"role":"assistant","parts":[{"type":"text","content":"I look."},{"type":"tool_call","id":"c1","name":"f","arguments":"[not complete]"}]}]`
	for _, c := range []struct {
		name, dialect string
		streamed      bool
		data, want    string
	}{
		{"chat", "openai-chat", false, `{"choices":[{"message":{"role":"assistant","reasoning_content":"hm","content":"I look.","tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{\"password\":1}"}},
		 {"id":"c2","function":{"name":"g","arguments":"{}"}}]}},{"message":{"refusal":"no"}}]}`, chat},
		{"chat streamed", "openai-chat", true, sse(
			`{"choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"hm","content":"I "}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"look.","tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"pass"}}]}},{"index":1,"delta":{"refusal":"no"}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"word\":1}"}},{"index":1,"id":"c2","function":{"name":"g","arguments":"{}"}}]}}]}`, `[DONE]`), chat},
		{"chat, one index", "openai-chat", true, sse(`{"choices":[{"index":0,"delta":{"content":"I look.","tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"password\":1}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c2","function":{"name":"g"}}]}}]}`),
			strings.Replace(one, `}]}]`, `},{"type":"tool_call","id":"c2","name":"g"}]}]`, 1)},
		{"messages", "anthropic", false, `{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"f","input":{"password":1}}]}`, one},
		{"messages streamed", "anthropic", true, sse(`{"type":"message_start","message":{}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look."}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"f","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"password\":"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}`), one},
		{"messages cut", "anthropic", true, sse(`{"type":"message_start","message":{}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"I look."}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"f","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"password\":\"hunter"}}`), cut},
		{"responses", "openai-responses", false, `{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"password\":1}"}]}`, one},
		{"responses streamed", "openai-responses", true, sse(`{"type":"response.output_item.done","item":{"type":"message","role":"assistant","content":[]}}`,
			`{"type":"response.completed","response":{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"password\":1}"}]}}`), one},
		{"responses cut", "openai-responses", true, sse(`{"type":"response.output_item.done","item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]}}`,
			`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"password\":"}}`), cut},
		{"nothing", "anthropic", true, "", ""},
		{"an index out of reach", "openai-chat", true, sse(`{"choices":[{"index":100000000,"delta":{"content":"x"}}]}`), ""},
	} {
		if got := w.Answer(format(c.dialect), c.streamed, []byte(c.data)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// sse returns a stream of events.
func sse(data ...string) string { return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n" }

// Long texts are cut, and the result is valid JSON.
func TestTooLong(t *testing.T) {
	long := strings.Repeat("ä", transcript.MaxText)
	args, _ := json.Marshal(map[string]string{"a": long})
	v := w.Value(args)
	if !json.Valid([]byte(v)) || len(v) > transcript.MaxText+100 || !strings.Contains(v, " more bytes]") {
		t.Errorf("%d bytes: %.80s", len(v), v)
	}
	many, _ := json.Marshal(strings.Split(strings.Repeat("xy ", transcript.MaxMessages), " "))
	if v := w.Value(many); v != `"[327681 bytes are too long to be shown]"` && !strings.Contains(v, "too long to be shown") {
		t.Errorf("%.80s", v)
	}
	type turn struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	body := struct {
		Messages []turn `json:"messages"`
	}{}
	for range 100 {
		body.Messages = append(body.Messages, turn{"user", long})
	}
	body.Messages = append(body.Messages, turn{"user", "the newest"})
	text, _ := json.Marshal(body)
	got := w.Request(format("openai-chat"), text).Messages
	if !json.Valid([]byte(got)) || len(got) > transcript.MaxMessages+1000 || !strings.Contains(got, "the newest") {
		t.Errorf("%d bytes", len(got))
	}
	if got := transcript.Text("a\xffb"); got != "a\uFFFDb" {
		t.Errorf("%q", got)
	}
}

// FuzzWriter proves that no input makes it fail, and that it writes valid JSON.
func FuzzWriter(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`)
	f.Add(sse(`{"type":"message_start"}`, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":{"a":1}}}`))
	f.Add(sse(`{"choices":[{"index":1,"delta":{"tool_calls":[{"index":0,"function":{"arguments":{"a":[]}}}]}}]}`))
	f.Add(`{"input":[{"type":"x_call_output","output":[{}]},{"type":"shell_call"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, dialect := range []string{"openai-chat", "openai-responses", "anthropic"} {
			r := w.Request(format(dialect), []byte(text))
			for _, out := range []string{r.System, r.Messages, r.Tools, w.Answer(format(dialect), true, []byte(text)), w.Answer(format(dialect), false, []byte(text)), w.Value([]byte(text))} {
				if out != "" && !json.Valid([]byte(out)) {
					t.Errorf("%s: %q gives %s", dialect, text, out)
				}
			}
		}
	})
}
