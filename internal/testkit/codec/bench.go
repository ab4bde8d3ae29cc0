package codec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// Source is text like the files that coding agents write: lines, quotes, tabs
// and now and then something that is not ASCII.
func Source(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "func step%d(in map[string]int) error {\n\tif in[\"größe\"] > %d {\n\t\treturn fmt.Errorf(\"step %%d: %%w\", %d, err)\n\t}\n\treturn nil\n}\n\n", i, i*7, i)
	}
	return b.String()
}

// Keeper collects arguments as cheaply as a sink can, so that the benchmark
// measures the codec.
type Keeper struct{ Args []byte }

// Event implements stopgate.Sink.
func (k *Keeper) Event(e *stopgate.Event) {
	if e.Kind == stopgate.CallArguments {
		k.Args = append(k.Args, e.Args...)
	}
}

// pump sends a stream through a codec, in pieces as large as the decoder takes.
func pump(b *testing.B, st provider.Stream, d *sse.Decoder, sink *Keeper, stream, out []byte) []byte {
	var ev sse.Event
	outcome := []provider.CallOutcome{{Allowed: true}}
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
			var need provider.Need
			out, need, err = st.Event(out, &ev)
			if err != nil {
				b.Fatal(err)
			}
			if need == provider.Resolve {
				outcome[0].Args = sink.Args
				if out, err = st.Release(out, outcome, discard); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	return out
}

// BenchStream measures a codec with one stream for each operation: decoded, held or
// forwarded, and written again. open begins a stream.
func BenchStream(b *testing.B, open func(*Keeper) provider.Stream, stream []byte, events int) {
	b.Helper()
	sink := &Keeper{Args: make([]byte, 0, 128<<10)}
	buf, out := make([]byte, 8<<10), make([]byte, 0, 64<<10)
	d := sse.NewDecoder(buf, sse.Limits{})
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		sink.Args = sink.Args[:0]
		d.Reset(buf, sse.Limits{})
		out = pump(b, open(sink), d, sink, stream, out)
	}
	perEvent := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(events)
	b.ReportMetric(perEvent, "ns/event")
	b.ReportMetric(1e9/perEvent, "events/s")
}

// BenchFraming measures the framing alone, to see what a codec adds.
func BenchFraming(b *testing.B, stream []byte, events int) {
	b.Helper()
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

// BenchScan measures the strict scan of every event, the part that is not the codec's.
func BenchScan(b *testing.B, stream []byte, events int) {
	b.Helper()
	var texts [][]byte
	for _, line := range strings.Split(string(stream), "\n") {
		if data, ok := strings.CutPrefix(line, "data: {"); ok {
			texts = append(texts, []byte("{"+data))
		}
	}
	var doc jsonstream.Document
	o := provider.EnvelopeOptions(32 << 20)
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
