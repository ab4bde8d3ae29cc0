package judge

import (
	"net/http"
	"strconv"

	"github.com/stopgate/stopgate/jsonstream"
)

// dialect is one API through which a model is queried.
type dialect struct {
	path    string
	header  func(h http.Header, key string)
	request func(model, instructions, input string) []byte
	read    func(body []byte) (assessment, error)
}

var dialects = map[string]*dialect{
	"openai":    {path: "/v1/chat/completions", header: bearer, request: chatRequest, read: readChat},
	"anthropic": {path: "/v1/messages", header: apiKey, request: messagesRequest, read: readMessage},
}

func bearer(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

func apiKey(h http.Header, key string) {
	h.Set("Anthropic-Version", "2023-06-01")
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

// chatRequest encodes a request that enforces the form through response_format.
func chatRequest(model, instructions, input string) []byte {
	b := jsonstream.AppendQuote([]byte(`{"model":`), model)
	b = append(b, `,"stream":false,"messages":[{"role":"system","content":`...)
	b = jsonstream.AppendQuote(b, instructions)
	b = append(b, `},{"role":"user","content":`...)
	b = jsonstream.AppendQuote(b, input)
	b = append(b, `}],"response_format":{"type":"json_schema","json_schema":{"name":"`+formName+`","strict":true,"schema":`+form+`}}}`...)
	return b
}

// readChat decodes a completion. It requires exactly one finished choice whose text is the form,
// without tool calls.
func readChat(body []byte) (assessment, error) {
	root, err := jsonstream.Parse(body, jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return assessment{}, errForm
	}
	choices, _ := root.Get("choices")
	choice, _ := choices.Index(0)
	message, _ := choice.Get("message")
	switch reason, _ := choice.Get("finish_reason"); {
	case choices.Len() != 1 || message.Kind() != jsonstream.Object:
		return assessment{}, errForm
	case present(message, "refusal"), reason.IsText("content_filter"):
		return assessment{}, errRefused
	case reason.IsText("length"):
		return assessment{}, errTruncated
	case !reason.IsText("stop"), calls(message):
		return assessment{}, errForm
	}
	content, _ := message.Get("content")
	if content.Kind() != jsonstream.String {
		return assessment{}, errForm
	}
	verdict, err := jsonstream.Parse([]byte(content.Text()), jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return assessment{}, errForm
	}
	return readForm(verdict)
}

// calls reports whether a message contains tool calls.
func calls(message jsonstream.Value) bool {
	list, _ := message.Get("tool_calls")
	return list.Len() > 0 || present(message, "function_call")
}

func present(v jsonstream.Value, key string) bool {
	member, ok := v.Get(key)
	return ok && member.Kind() != jsonstream.Null
}

// messagesRequest encodes a request that enforces the form through the choice of a tool.
func messagesRequest(model, instructions, input string) []byte {
	b := jsonstream.AppendQuote([]byte(`{"model":`), model)
	b = append(b, `,"max_tokens":1024,"stream":false,"system":`...)
	b = jsonstream.AppendQuote(b, instructions)
	b = append(b, `,"messages":[{"role":"user","content":`...)
	b = jsonstream.AppendQuote(b, input)
	b = append(b, `}],"tools":[{"name":"`+formName+`","description":"Your answer.","input_schema":`+form+`}],`+
		`"tool_choice":{"type":"tool","name":"`+formName+`","disable_parallel_tool_use":true}}`...)
	return b
}

// readMessage decodes a message. It requires exactly one call of the form's tool.
func readMessage(body []byte) (assessment, error) {
	root, err := jsonstream.Parse(body, jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return assessment{}, errForm
	}
	switch reason, _ := root.Get("stop_reason"); {
	case reason.IsText("refusal"):
		return assessment{}, errRefused
	case reason.IsText("max_tokens"):
		return assessment{}, errTruncated
	case !reason.IsText("tool_use"):
		return assessment{}, errForm
	}
	content, _ := root.Get("content")
	var verdict jsonstream.Value
	for block := range content.Elements() {
		kind, _ := block.Get("type")
		name, _ := block.Get("name")
		switch {
		case kind.IsText("text"), kind.IsText("thinking"), kind.IsText("redacted_thinking"):
		case kind.IsText("tool_use") && name.IsText(formName) && !verdict.IsValid():
			verdict, _ = block.Get("input")
		default:
			return assessment{}, errForm
		}
	}
	return readForm(verdict)
}

// assessment is the model's opinion of a call.
type assessment struct {
	probability float64
	explanation string
}

// readForm decodes the form. It requires both members with their types, and no other member.
func readForm(v jsonstream.Value) (assessment, error) {
	probability, _ := v.Get("probability")
	explanation, _ := v.Get("explanation")
	if v.Kind() != jsonstream.Object || v.Len() != 2 || probability.Kind() != jsonstream.Number || explanation.Kind() != jsonstream.String {
		return assessment{}, errForm
	}
	p, err := strconv.ParseFloat(string(probability.Raw()), 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return assessment{}, errForm
	}
	return assessment{p, explanation.Text()}, nil
}
