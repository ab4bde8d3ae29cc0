package content

import (
	"bytes"
	"fmt"

	"github.com/stopgate/stopgate/internal/provider/script"
	"github.com/stopgate/stopgate/jsonstream"
)

// Script renders answers of the replay model.
var Script = script.Format{
	Folder: "openai-chat", Stream: playScript, Body: scriptBody,
	Error: `{"error":{"message":%s,"type":%q,"param":null,"code":null}}`,
	Answered: func(request jsonstream.Value) int {
		messages, _ := request.Get("messages")
		return script.Messages(messages, "assistant")
	},
}

// playScript renders a turn as Chat Completions chunks: one token per chunk, ids and names once,
// the finish reason in its own chunk, usage if requested.
func playScript(a *script.Answer, emit script.Emit) error {
	head := chatHead(a, "chat.completion.chunk")
	chunk := func(delta, finish string, tokens, size int) error {
		return emit(fmt.Appendf(nil, "data: %s,\"choices\":[{\"index\":0,\"delta\":%s,\"logprobs\":null,\"finish_reason\":%s}]}\n\n",
			head, delta, finish), tokens, size)
	}
	if err := chunk(`{"role":"assistant","content":`+chatFirst(a)+`,"refusal":null}`, "null", 0, 0); err != nil {
		return err
	}
	for piece := range script.Pieces(a.Say, 1) {
		if err := chunk(fmt.Sprintf(`{"content":%s}`, script.Quote(piece)), "null", 1, len(piece)); err != nil {
			return err
		}
	}
	for i, call := range a.Calls {
		start := fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%s,"arguments":""}}]}`,
			i, a.CallID("call_", i), script.Quote(call.Tool))
		if err := chunk(start, "null", 1, 0); err != nil {
			return err
		}
		for piece := range script.Pieces(call.Args, 1) {
			delta := fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, script.Quote(piece))
			if err := chunk(delta, "null", 1, len(piece)); err != nil {
				return err
			}
		}
	}
	if err := chunk(`{}`, chatFinish(a), 0, 0); err != nil {
		return err
	}
	if a.Usage {
		if err := emit(fmt.Appendf(nil, "data: %s,\"choices\":[],\"usage\":%s}\n\n", head, chatUsage(a)), 0, 0); err != nil {
			return err
		}
	}
	return emit([]byte("data: [DONE]\n\n"), 0, 0)
}

// scriptBody renders a turn as a Chat Completions response.
func scriptBody(a *script.Answer) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `%s,"choices":[{"index":0,"message":{"role":"assistant","content":`, chatHead(a, "chat.completion"))
	if a.Say == "" {
		out.WriteString("null")
	} else {
		out.Write(script.Quote(a.Say))
	}
	out.WriteString(`,"refusal":null`)
	for i, call := range a.Calls {
		out.WriteString([]string{`,"tool_calls":[`, `,`}[min(i, 1)])
		fmt.Fprintf(&out, `{"id":%q,"type":"function","function":{"name":%s,"arguments":%s}}`, a.CallID("call_", i), script.Quote(call.Tool), script.Quote(call.Args))
	}
	if len(a.Calls) > 0 {
		out.WriteByte(']')
	}
	fmt.Fprintf(&out, `},"logprobs":null,"finish_reason":%s}],"usage":%s}`, chatFinish(a), chatUsage(a))
	return out.Bytes()
}

func chatHead(a *script.Answer, object string) string {
	return fmt.Sprintf(`{"id":%q,"object":%q,"created":%d,"model":%s,"system_fingerprint":"fp_stopgate_replay"`,
		a.ID("chatcmpl-", "message"), object, a.Created, script.Quote(a.Model))
}

// chatFirst is the content of the first chunk: null for a turn of calls only.
func chatFirst(a *script.Answer) string {
	if a.Say == "" {
		return "null"
	}
	return `""`
}

func chatFinish(a *script.Answer) string {
	if len(a.Calls) > 0 {
		return `"tool_calls"`
	}
	return `"stop"`
}

func chatUsage(a *script.Answer) string {
	n := a.Tokens()
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, a.Prompt, n, a.Prompt+n)
}
