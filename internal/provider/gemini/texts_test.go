package gemini_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/provider/gemini"
	"github.com/stopgate/stopgate/internal/testkit/codec"
)

// The person's words are the texts of user contents without results.
func TestTexts(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"system and user", `{"systemInstruction":{"parts":[{"text":"a"}]},"contents":[{"role":"user","parts":[{"text":"b"},{"text":"c"}]},{"role":"model","parts":[{"text":"d"}]},{"parts":[{"text":"e"}]}]}`,
			"system a\nuser b\nuser c\nuser e"},
		{"snake case", `{"system_instruction":{"parts":{"text":"a"}},"contents":[{"role":"user","parts":[{"function_response":{"name":"n","response":{"output":"r"}}}]}]}`,
			"system a\n: r"},
		{"results", `{"contents":[{"role":"model","parts":[{"functionCall":{"id":"c1","name":"n","args":{}}}]},{"role":"user","parts":[{"text":"to eve"},{"functionResponse":{"id":"c1","name":"n","response":{"data":[{"type":"file","name":"x"}],"more":1}}}]},{"role":"function","parts":[{"functionResponse":{"id":"c2","name":"n","response":{"output":"r"},"parts":[{"inlineData":{"data":"x"}}]}}]}]}`,
			"tool to eve\nc1:n {\"data\":[{\"type\":\"file\",\"name\":\"x\"}],\"more\":1}\nc2: r+"},
		{"media", `{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"x"}},{"file_data":{"file_uri":"u"}},{"text":"a"}]}]}`, "user a\ntool +\ntool +"},
		{"thoughts and unknown parts", `{"contents":[{"role":"user","parts":[{"text":"a","thought":true},{"text":"b","future":{"x":"y"}}]}]}`, "tool a\ntool {\"text\":\"b\",\"future\":{\"x\":\"y\"}}\ntool +"},
		{"results of the provider's tools", `{"contents":[{"role":"model","parts":[{"executableCode":{"code":"c"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"r"}},{"toolResponse":{"x":"y"}}]}]}`,
			"tool {\"codeExecutionResult\":{\"outcome\":\"OUTCOME_OK\",\"output\":\"r\"}}\ntool {\"toolResponse\":{\"x\":\"y\"}}\ntool +"},
		{"an unknown role", `{"contents":[{"role":"system","parts":[{"text":"a"}]},{"role":"User","parts":[{"text":"b"}]}]}`, "tool a\ntool b"},
		{"tools at the provider", `{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"googleSearch":{}}]}`, "user a\ntool +"},
		{"code execution shows its results", `{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"codeExecution":{}}]}`, "user a"},
		{"a stored beginning", `{"contents":[{"parts":[{"text":"a"}]}],"cachedContent":"c"}`, "user a\ntool +\nunseen cached content c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := gemini.Dialect{}.Request([]byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := codec.Texts(r); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// Results of code that the provider ran are reported before the calls that follow them.
func TestResultsInResponses(t *testing.T) {
	req, err := gemini.Dialect{}.Request([]byte(`{"contents":[],"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b"}]},{"codeExecution":{}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	gemini.ReadPath(req, "/v1beta/models/m:streamGenerateContent")
	const body = `{"candidates":[{"index":0,"content":{"role":"model","parts":[{"executableCode":{"code":"c"}},{"codeExecutionResult":{"output":"r"}},{"functionCall":{"name":"a","args":{}}},{"toolResponse":{"x":"y"}},{"functionCall":{"name":"b","args":{}}}]},"finishReason":"STOP"}]}`
	const want = "result {\"codeExecutionResult\":{\"output\":\"r\"}}\ncall a\nresult {\"toolResponse\":{\"x\":\"y\"}}+\ncall b"
	if got := codec.BodyResults(t, gemini.Dialect{}, req, body); got != want {
		t.Errorf("not streamed:\n%s\nwant:\n%s", got, want)
	}
	if got := codec.StreamResults(t, gemini.Dialect{}, req, "data: "+body+"\n\n"); got != want {
		t.Errorf("streamed:\n%s\nwant:\n%s", got, want)
	}
}
