package openairesponses_test

import (
	"fmt"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
	"github.com/stopgate/stopgate/internal/testkit/codec"
	"github.com/stopgate/stopgate/jsonstream"
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
		{"items of the model", `{"input":[{"type":"reasoning","id":"rs_1","summary":[]},{"type":"compaction","encrypted_content":"x"},{"type":"mcp_approval_request","name":"n","arguments":"{}"},{"type":"item_reference","id":"rs_1"},{"type":"item_reference","id":"fc_1"}]}`, ""},
		{"media", `{"input":[{"role":"user","content":[{"type":"input_file","file_id":"f"},{"type":"input_text","text":"a"}]}]}`, "user a\ntool +"},
		{"an unknown role", `{"input":[{"role":"tool","content":"a"},{"type":"message","content":"b"}]}`, "tool a\ntool b"},
		{"a user's text with the model's type", `{"input":[{"role":"user","content":[{"type":"output_text","text":"a"}]}]}`, "tool a"},
		{"a continued response", `{"input":"a","previous_response_id":"resp_1"}`, "user a"},
		{"a stored conversation", `{"input":"a","conversation":{"id":"conv_1"}}`, "user a"},
		{"a stored prompt", `{"input":"a","prompt":{"id":"p"}}`, "user a\nunseen prompt p"},
		{"a reference to a message", `{"input":[{"type":"item_reference","id":"msg_1"}]}`, "unseen item msg_1"},
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

// Results of the provider's tools are reported before the calls that follow them, streamed or not.
func TestResultsInResponses(t *testing.T) {
	const items = `[{"type":"web_search_call","id":"w","status":"completed","action":{"type":"search","query":"q"}},{"type":"mcp_call","id":"m","name":"n","arguments":"{}","output":"r","server_label":"s"},{"type":"function_call","id":"f1","call_id":"c1","name":"a","arguments":"{}","status":"completed"},{"type":"code_interpreter_call","id":"i","code":"c","outputs":[{"type":"logs","logs":"l"}]},{"type":"function_call","id":"f2","call_id":"c2","name":"b","arguments":"{}","status":"completed"},{"type":"function_call_output","id":"o","call_id":"c9","output":"p"},{"type":"reasoning","id":"rs","summary":[]}]`
	const want = "result +\nresult r\ncall a\nresult l\ncall b\nresult p"
	response := `{"id":"resp_1","object":"response","status":"completed","output":` + items + `}`
	req := request(t)
	if got := codec.BodyResults(t, openairesponses.Dialect{}, req, response); got != want {
		t.Errorf("not streamed:\n%s\nwant:\n%s", got, want)
	}
	event := func(typ, rest string) string {
		return "event: " + typ + "\ndata: {\"type\":\"" + typ + "\"," + rest + "}\n\n"
	}
	stream := event("response.created", `"sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}`)
	parsed, err := jsonstream.Parse([]byte(items), jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for item := range parsed.Elements() {
		for _, typ := range []string{"response.output_item.added", "response.output_item.done"} {
			stream += event(typ, fmt.Sprintf(`"sequence_number":%d,"output_index":%d,"item":%s`, 2*i+1, i, item.Raw()))
		}
		i++
	}
	end := event("response.completed", `"sequence_number":99,"response":`+response)
	if got := codec.StreamResults(t, openairesponses.Dialect{}, req, stream+end); got != want {
		t.Errorf("streamed:\n%s\nwant:\n%s", got, want)
	}
	only := event("response.created", `"sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}`) + end
	if got := codec.StreamResults(t, openairesponses.Dialect{}, req, only); got != want {
		t.Errorf("only in the last event:\n%s\nwant:\n%s", got, want)
	}
}

// Messages of the model are reported by their ids, other items are not.
func TestIDsOfMessages(t *testing.T) {
	const body = `{"id":"resp_1","object":"response","status":"completed","output":[{"type":"reasoning","id":"rs","summary":[]},{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]}]},{"type":"message","id":"msg_2","role":"user","content":[]},{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q"}}]}`
	var ids []string
	o := provider.Options{Message: func(id string) { ids = append(ids, id) }}.WithDefaults()
	if _, err := (openairesponses.Dialect{}).Body(request(t), codec.NewGate(t), o).Decode([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if len(ids) != 1 || ids[0] != "msg_1" {
		t.Errorf("%q", ids)
	}
}
