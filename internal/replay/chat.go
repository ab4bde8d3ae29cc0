package replay

import (
	"bytes"
	"fmt"
)

// streamChat renders a turn as Chat Completions chunks: one token per chunk, ids and names once,
// the finish reason in its own chunk, usage if requested.
func streamChat(a *scripted, emit emitFunc) error {
	head := a.chatHead("chat.completion.chunk")
	chunk := func(delta, finish string, tokens, size int) error {
		return emit(fmt.Appendf(nil, "data: %s,\"choices\":[{\"index\":0,\"delta\":%s,\"logprobs\":null,\"finish_reason\":%s}]}\n\n",
			head, delta, finish), tokens, size)
	}
	if err := chunk(`{"role":"assistant","content":`+a.chatFirst()+`,"refusal":null}`, "null", 0, 0); err != nil {
		return err
	}
	for piece := range pieces(a.Say, 1) {
		if err := chunk(fmt.Sprintf(`{"content":%s}`, quote(piece)), "null", 1, len(piece)); err != nil {
			return err
		}
	}
	for i, call := range a.Calls {
		start := fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%s,"arguments":""}}]}`,
			i, a.callID("call_", i), quote(call.Tool))
		if err := chunk(start, "null", 1, 0); err != nil {
			return err
		}
		for piece := range pieces(call.Args, 1) {
			delta := fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(piece))
			if err := chunk(delta, "null", 1, len(piece)); err != nil {
				return err
			}
		}
	}
	if err := chunk(`{}`, a.chatFinish(), 0, 0); err != nil {
		return err
	}
	if a.usage {
		if err := emit(fmt.Appendf(nil, "data: %s,\"choices\":[],\"usage\":%s}\n\n", head, a.chatUsage()), 0, 0); err != nil {
			return err
		}
	}
	return emit([]byte("data: [DONE]\n\n"), 0, 0)
}

// bodyChat renders a turn as a Chat Completions response.
func bodyChat(a *scripted) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `%s,"choices":[{"index":0,"message":{"role":"assistant","content":`, a.chatHead("chat.completion"))
	if a.Say == "" {
		out.WriteString("null")
	} else {
		out.Write(quote(a.Say))
	}
	out.WriteString(`,"refusal":null`)
	for i, call := range a.Calls {
		out.WriteString([]string{`,"tool_calls":[`, `,`}[min(i, 1)])
		fmt.Fprintf(&out, `{"id":%q,"type":"function","function":{"name":%s,"arguments":%s}}`, a.callID("call_", i), quote(call.Tool), quote(call.Args))
	}
	if len(a.Calls) > 0 {
		out.WriteByte(']')
	}
	fmt.Fprintf(&out, `},"logprobs":null,"finish_reason":%s}],"usage":%s}`, a.chatFinish(), a.chatUsage())
	return out.Bytes()
}

func (a *scripted) chatHead(object string) string {
	return fmt.Sprintf(`{"id":%q,"object":%q,"created":%d,"model":%s,"system_fingerprint":"fp_stopgate_replay"`,
		a.id("chatcmpl-", "message"), object, a.created, quote(a.model))
}

// chatFirst is the content of the first chunk: null for a turn of calls only.
func (a *scripted) chatFirst() string {
	if a.Say == "" {
		return "null"
	}
	return `""`
}

func (a *scripted) chatFinish() string {
	if len(a.Calls) > 0 {
		return `"tool_calls"`
	}
	return `"stop"`
}

func (a *scripted) chatUsage() string {
	n := a.tokens()
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, a.prompt, n, a.prompt+n)
}
