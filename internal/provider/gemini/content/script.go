package content

import (
	"bytes"
	"fmt"

	"github.com/stopgate/stopgate/internal/provider/gemini/wire"
	"github.com/stopgate/stopgate/internal/provider/script"
	"github.com/stopgate/stopgate/jsonstream"
)

// Script renders answers of the replay model.
var Script = script.Format{
	Folder: "gemini", Stream: playScript, Body: scriptBody,
	Error: `{"error":{"code":400,"message":%s,"status":%q}}`,
	Answered: func(request jsonstream.Value) int {
		contents, _ := request.Get("contents")
		return script.Messages(contents, "model")
	},
}

// playScript renders a turn as a stream of responses: several tokens of text in each, every call
// whole, the finish reason in the last one.
func playScript(a *script.Answer, emit script.Emit) error {
	const tokens = 8
	event := func(part, finish string, tokens, size int) error {
		return emit(fmt.Appendf(nil, "data: %s\r\n\r\n", scriptResponse(a, part, finish)), tokens, size)
	}
	for piece := range script.Pieces(a.Say, tokens) {
		if err := event(string(wire.Text(piece)), "", tokens, len(piece)); err != nil {
			return err
		}
	}
	for i := range a.Calls {
		args := a.Calls[i].Args
		n := 0
		for range script.Pieces(args, 1) {
			n++
		}
		if err := event(scriptCall(a, i), "", n, len(args)); err != nil {
			return err
		}
	}
	return event(`{"text":""}`, `"finishReason":"STOP",`, 0, 0)
}

// scriptBody renders a turn as one response.
func scriptBody(a *script.Answer) []byte {
	var parts [][]byte
	if a.Say != "" {
		parts = append(parts, wire.Text(a.Say))
	}
	for i := range a.Calls {
		parts = append(parts, []byte(scriptCall(a, i)))
	}
	return []byte(scriptResponse(a, string(bytes.Join(parts, []byte{','})), `"finishReason":"STOP",`))
}

func scriptCall(a *script.Answer, i int) string {
	return fmt.Sprintf(`{"functionCall":{"id":%q,"name":%s,"args":%s}}`, a.CallID("call_", i), script.Quote(a.Calls[i].Tool), a.Calls[i].Args)
}

func scriptResponse(a *script.Answer, parts, finish string) string {
	n := a.Tokens()
	return fmt.Sprintf(`{"candidates":[{"content":{"parts":[%s],"role":"model"},%s"index":0}],`+
		`"usageMetadata":{"promptTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d},"modelVersion":%s,"responseId":%q}`,
		parts, finish, a.Prompt, n, a.Prompt+n, script.Quote(a.Model), a.ID("", "response"))
}
