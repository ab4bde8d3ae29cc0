package anthropic_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/anthropic"
	"github.com/stopgate/stopgate/wire/sse"
)

// source is text like the files that coding agents write: lines, quotes, tabs
// and now and then something that is not ASCII.
func source(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "func step%d(in map[string]int) error {\n\tif in[\"größe\"] > %d {\n\t\treturn fmt.Errorf(\"step %%d: %%w\", %d, err)\n\t}\n\treturn nil\n}\n\n", i, i*7, i)
	}
	return b.String()
}

// deltas is a text in events of about 18 bytes, padded as the provider pads them.
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

// callStream is one call whose arguments arrive in pieces.
func callStream(size int) (stream []byte, events int) {
	var b strings.Builder
	b.WriteString(begin + toolStart(0, "a"))
	events = deltas(&b, 0, `{"type":"input_json_delta","partial_json":`, `{"path":"src/a.go","content":`+string(jsonstream.AppendQuote(nil, source(size)))+`}`)
	b.WriteString(stop(0) + finish("tool_use") + theStop)
	return []byte(b.String()), events + 5
}

// textStream is an answer without calls.
func textStream(size int) (stream []byte, events int) {
	var b strings.Builder
	b.WriteString(begin + textStart(0))
	events = deltas(&b, 0, `{"type":"text_delta","text":`, source(size))
	b.WriteString(stop(0) + finish("end_turn") + theStop)
	return []byte(b.String()), events + 5
}

// keeper collects arguments as cheaply as a sink can, so that the benchmark
// measures the codec.
type keeper struct{ args []byte }

func (k *keeper) Event(e *stopgate.Event) {
	if e.Kind == stopgate.CallArguments {
		k.args = append(k.args, e.Args...)
	}
}

func pump(b *testing.B, st wire.Stream, d *sse.Decoder, sink *keeper, stream, out []byte) []byte {
	var ev sse.Event
	outcome := []wire.Release{{Allowed: true}}
	discard := func([]byte) error { return nil }
	for len(stream) > 0 {
		n := copy(d.Space(), stream)
		d.Filled(n)
		stream = stream[n:]
		out = out[:0]
		for {
			ok, err := d.Next(&ev)
			if err != nil {
				b.Fatal(err)
			}
			if !ok {
				break
			}
			var need wire.Need
			out, need, err = st.Event(out, &ev)
			if err != nil {
				b.Fatal(err)
			}
			if need == wire.Resolve {
				outcome[0].Args = sink.args
				if out, err = st.Release(out, outcome, discard); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	return out
}

func benchmark(b *testing.B, stream []byte, events int) {
	req, err := anthropic.Dialect{}.Request([]byte(`{"model":"m","stream":true,"tools":[{"name":"a"}]}`))
	if err != nil {
		b.Fatal(err)
	}
	sink := &keeper{args: make([]byte, 0, 128<<10)}
	buf, out := make([]byte, 8<<10), make([]byte, 0, 64<<10)
	d := sse.NewDecoder(buf, sse.Limits{})
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		sink.args = sink.args[:0]
		d.Reset(buf, sse.Limits{})
		st := anthropic.Dialect{}.Stream(req, sink, wire.Options{})
		out = pump(b, st, d, sink, stream, out)
	}
	perEvent := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(events)
	b.ReportMetric(perEvent, "ns/event")
	b.ReportMetric(1e9/perEvent, "events/s")
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

// The framing alone, to see what the codec adds.
func BenchmarkFraming64KiB(b *testing.B) {
	stream, events := callStream(64 << 10)
	buf := make([]byte, 8<<10)
	d := sse.NewDecoder(buf, sse.Limits{})
	var ev sse.Event
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		d.Reset(buf, sse.Limits{})
		for rest := stream; len(rest) > 0; {
			n := copy(d.Space(), rest)
			d.Filled(n)
			rest = rest[n:]
			for {
				if ok, _ := d.Next(&ev); !ok {
					break
				}
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
}

// The strict scan of every event, the part that is not ours.
func BenchmarkScanEvents64KiB(b *testing.B) {
	stream, events := callStream(64 << 10)
	var texts [][]byte
	for _, line := range strings.Split(string(stream), "\n") {
		if data, ok := strings.CutPrefix(line, "data: {"); ok {
			texts = append(texts, []byte("{"+data))
		}
	}
	var doc jsonstream.Document
	o := wire.EnvelopeOptions(32 << 20)
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range texts {
			if err := doc.Scan(text, o); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
}
