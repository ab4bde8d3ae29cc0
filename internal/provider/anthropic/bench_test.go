package anthropic_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
	"github.com/stopgate/stopgate/internal/testkit/codec"
	"github.com/stopgate/stopgate/jsonstream"
)

// deltas writes a text in events of about 18 bytes, padded as the provider pads them.
func deltas(b *strings.Builder, index int, open, text string) (events int) {
	for len(text) > 0 {
		n := min(len(text), 18)
		for n < len(text) && text[n]&0xC0 == 0x80 {
			n++
		}
		fmt.Fprintf(b, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%d,\"delta\":%s%s}%s}\n\n",
			index, open, jsonstream.AppendQuote(nil, text[:n]), strings.Repeat(" ", events*7%13))
		text = text[n:]
		events++
	}
	return events
}

// callStream returns a stream of one call whose arguments arrive in chunks.
func callStream(size int) (stream []byte, events int) {
	var b strings.Builder
	b.WriteString(begin + toolStart(0, "a"))
	events = deltas(&b, 0, `{"type":"input_json_delta","partial_json":`, `{"path":"src/a.go","content":`+string(jsonstream.AppendQuote(nil, codec.Source(size)))+`}`)
	b.WriteString(stop(0) + finish("tool_use") + theStop)
	return []byte(b.String()), events + 5
}

// textStream returns a response without calls.
func textStream(size int) (stream []byte, events int) {
	var b strings.Builder
	b.WriteString(begin + textStart(0))
	events = deltas(&b, 0, `{"type":"text_delta","text":`, codec.Source(size))
	b.WriteString(stop(0) + finish("end_turn") + theStop)
	return []byte(b.String()), events + 5
}

func benchmark(b *testing.B, stream []byte, events int) {
	req, err := anthropic.Dialect{}.Request([]byte(`{"model":"m","stream":true,"tools":[{"name":"a"}]}`))
	if err != nil {
		b.Fatal(err)
	}
	codec.BenchStream(b, func(sink *codec.Keeper) provider.Stream {
		return anthropic.Dialect{}.Stream(req, sink, provider.Options{})
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
