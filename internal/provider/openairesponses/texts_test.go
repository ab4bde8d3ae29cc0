package openairesponses_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/provider/openairesponses"
	"github.com/stopgate/stopgate/internal/testkit/codec"
)

// The person's words are the texts of user messages. Items of the provider's tools are results, and
// a request that continues stored texts is incomplete.
func TestTexts(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"a string", `{"input":"a","instructions":"b"}`, "system b\nuser a"},
		{"messages", `{"input":[{"role":"developer","content":"a"},{"type":"message","role":"user","content":[{"type":"input_text","text":"b"}]},{"role":"assistant","content":[{"type":"output_text","text":"c"}]},{"role":"system","content":[{"type":"input_text","text":"d"}]}]}`,
			"system a\nuser b\nsystem d"},
		{"results", `{"input":[{"type":"function_call","call_id":"c1","name":"n","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"r"},{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"s"},{"type":"input_image","image_url":"data:x"}]},{"type":"shell_call_output","call_id":"c3","output":[{"stdout":"o","stderr":"","outcome":{"type":"exit","exit_code":0}}]},{"type":"computer_call_output","call_id":"c4","output":{"type":"computer_screenshot","image_url":"data:x"}}]}`,
			"c1:n r\nc2: s+\nc3: [{\"stdout\":\"o\",\"stderr\":\"\",\"outcome\":{\"type\":\"exit\",\"exit_code\":0}}]\nc4: +"},
		{"items of the provider's tools", `{"input":[{"type":"web_search_call","id":"w","action":{"type":"search","query":"q"}},{"type":"mcp_call","name":"n","arguments":"{}","output":"r"},{"type":"mcp_list_tools","tools":[{"name":"t","description":"d"}]},{"type":"file_search_call","queries":["q"],"results":[{"text":"f"}]},{"type":"file_search_call","results":null},{"type":"code_interpreter_call","code":"c","outputs":[{"type":"logs","logs":"l"}]},{"type":"future_item","text":"x"}]}`,
			"tool +\ntool r\ntool [{\"name\":\"t\",\"description\":\"d\"}]\ntool [{\"text\":\"f\"}]\ntool +\ntool l\ntool x\ntool +"},
		{"items of the model", `{"input":[{"type":"reasoning","id":"rs_1","summary":[]},{"type":"compaction","encrypted_content":"x"},{"type":"mcp_approval_request","name":"n","arguments":"{}"},{"type":"item_reference","id":"rs_1"}]}`, ""},
		{"media", `{"input":[{"role":"user","content":[{"type":"input_file","file_id":"f"},{"type":"input_text","text":"a"}]}]}`, "user a\ntool +"},
		{"an unknown role", `{"input":[{"role":"tool","content":"a"},{"type":"message","content":"b"}]}`, "tool a\ntool b"},
		{"a user's text with the model's type", `{"input":[{"role":"user","content":[{"type":"output_text","text":"a"}]}]}`, "tool a"},
		{"a continued response", `{"input":"a","previous_response_id":"resp_1"}`, "user a\nincomplete"},
		{"a stored conversation", `{"input":"a","conversation":{"id":"conv_1"}}`, "user a\nincomplete"},
		{"a stored prompt", `{"input":"a","prompt":{"id":"p"}}`, "user a\nincomplete"},
		{"a reference to a message", `{"input":[{"type":"item_reference","id":"msg_1"}]}`, "incomplete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := openairesponses.Dialect{}.Request([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := codec.Texts(r); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}
