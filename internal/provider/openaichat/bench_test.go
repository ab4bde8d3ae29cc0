package openaichat_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
	"github.com/stopgate/stopgate/internal/testkit/codec"
	"github.com/stopgate/stopgate/jsonstream"
)

// callStream returns a stream of one call whose arguments arrive in chunks of about 18 bytes.
func callStream(size int) (stream []byte, events int) {
	args := `{"path":"src/a.go","content":` + string(jsonstream.AppendQuote(nil, codec.Source(size))) + `}`
	chunk := func(delta, finish string) {
		stream = append(stream, `data: {"id":"chatcmpl-BxYz0123456789abcdefghij","object":"chat.completion.chunk","created":1743088977,"model":"gpt-4.1-2025-04-14","service_tier":"default","system_fingerprint":"fp_b3d9f7a1c2","choices":[{"index":0,"delta":`...)
		stream = append(stream, delta...)
		stream = append(stream, `,"logprobs":null,"finish_reason":`+finish+`}],"obfuscation":"abcdefgh"}`+"\n\n"...)
		events++
	}
	chunk(`{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_0123456789abcdefghijklmn","type":"function","function":{"name":"a","arguments":""}}],"refusal":null}`, "null")
	for len(args) > 0 {
		n := min(len(args), 18)
		for n < len(args) && args[n]&0xC0 == 0x80 {
			n++
		}
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":`+string(jsonstream.AppendQuote(nil, args[:n]))+`}}]}`, "null")
		args = args[n:]
	}
	chunk("{}", `"tool_calls"`)
	return append(stream, "data: [DONE]\n\n"...), events + 1
}

// textStream returns a response without calls.
func textStream(size int) (stream []byte, events int) {
	for text := codec.Source(size); len(text) > 0; {
		n := min(len(text), 18)
		for n < len(text) && text[n]&0xC0 == 0x80 {
			n++
		}
		stream = append(stream, `data: {"id":"chatcmpl-BxYz0123456789abcdefghij","object":"chat.completion.chunk","created":1743088977,"model":"gpt-4.1-2025-04-14","service_tier":"default","system_fingerprint":"fp_b3d9f7a1c2","choices":[{"index":0,"delta":{"content":`...)
		stream = jsonstream.AppendQuote(stream, text[:n])
		stream = append(stream, `},"logprobs":null,"finish_reason":null}],"obfuscation":"abcdefgh"}`+"\n\n"...)
		text = text[n:]
		events++
	}
	return append(stream, "data: [DONE]\n\n"...), events + 1
}

func benchmark(b *testing.B, stream []byte, events int) {
	req, err := openaichat.Dialect{}.Request([]byte(`{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"a"}}]}`))
	if err != nil {
		b.Fatal(err)
	}
	codec.BenchStream(b, func(sink *codec.Keeper) provider.Stream {
		return openaichat.Dialect{}.Stream(req, sink, provider.Options{})
	}, stream, events)
}

// One stream per operation: decoded, held and written again.
func BenchmarkHeldCall64KiB(b *testing.B) {
	stream, events := callStream(64 << 10)
	benchmark(b, stream, events)
}

// One stream per operation: decoded, validated and forwarded.
func BenchmarkText64KiB(b *testing.B) {
	stream, events := textStream(64 << 10)
	benchmark(b, stream, events)
}

// Only the framing, to compare with the codec.
func BenchmarkFraming64KiB(b *testing.B) {
	stream, events := callStream(64 << 10)
	codec.BenchFraming(b, stream, events)
}

// Only the strict scan of every event.
func BenchmarkScanEvents64KiB(b *testing.B) {
	stream, events := callStream(64 << 10)
	codec.BenchScan(b, stream, events)
}
