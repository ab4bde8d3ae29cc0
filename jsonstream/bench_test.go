package jsonstream_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/jsonstream"
)

// sourceCode is Go-like text of n bytes: indented lines with quotes, so that
// about one byte in thirty needs an escape, as in real files.
func sourceCode(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "\tif err := check%d(ctx, \"name\", value); err != nil {\n\t\treturn fmt.Errorf(\"check %%q: %%w\", name, err)\n\t}\n\t// the value is kept until the next call\n", i)
	}
	return b.String()[:n]
}

// writeFile returns the argument text of a call that writes a source file of n bytes.
func writeFile(n int) []byte {
	text := append([]byte(`{"path":"src/app/main.go","content":`), jsonstream.AppendQuote(nil, sourceCode(n))...)
	return append(text, `,"mode":420,"options":{"create":true,"backup":null}}`...)
}

// chatChunk is a typical event of the Chat Completions stream, about 300 bytes.
const chatChunk = `{"id":"chatcmpl-Ab3dEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1719848501,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_5d1c7a9e2b","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":" \"src/"}}]},"logprobs":null,"finish_reason":null}]}`

type ignore struct{}

func (ignore) Event(*jsonstream.Event) bool { return false }

func feed(b *testing.B, p *jsonstream.Parser, text []byte, size int) {
	for len(text) > 0 {
		n := min(size, len(text))
		if err := p.Feed(text[:n]); err != nil {
			b.Fatal(err)
		}
		text = text[n:]
	}
	if err := p.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkParser reports ns per chunk of 20 bytes and throughput; budgets: 80 ns per chunk, 600
// MB/s for one chunk, 0 allocations.
func BenchmarkParser(b *testing.B) {
	for _, size := range []int{64 << 10, 1 << 20, 4 << 20} {
		text := writeFile(size)
		for _, chunk := range []int{20, 4096, len(text)} {
			for _, aggregate := range []bool{false, true} {
				b.Run(fmt.Sprintf("size=%d/chunk=%d/aggregate=%t", size, chunk, aggregate), func(b *testing.B) {
					var a jsonstream.Aggregator
					var h jsonstream.Handler = ignore{}
					if aggregate {
						h = &a
					}
					p := jsonstream.NewParser(h, jsonstream.Options{})
					b.SetBytes(int64(len(text)))
					b.ReportAllocs()
					for b.Loop() {
						a.Reset()
						p.Reset(h, jsonstream.Options{ObjectRoot: true})
						feed(b, p, text, chunk)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64((len(text)+chunk-1)/chunk), "ns/chunk")
				})
			}
		}
	}
}

// BenchmarkScan scans complete texts; budget: 350 ns for a chat chunk.
func BenchmarkScan(b *testing.B) {
	keys := []byte("{")
	for i := range 10_000 {
		keys = fmt.Appendf(keys, `"key%d":%d,`, i, i)
	}
	keys[len(keys)-1] = '}'
	for _, c := range []struct {
		name string
		text []byte
	}{
		{"chat", []byte(chatChunk)},
		{"source64K", writeFile(64 << 10)},
		{"source1M", writeFile(1 << 20)},
		{"source4M", writeFile(4 << 20)},
		{"numbers", []byte("[" + strings.Repeat("[1,22,333.5],", 5000) + "0]")},
		{"members", keys},
		{"chinese", jsonstream.AppendQuote(nil, strings.Repeat("读取文件的内容并写入。", 2000))},
	} {
		b.Run(c.name, func(b *testing.B) {
			var d jsonstream.Document
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Scan(c.text, jsonstream.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLinear reports the time for 4 MiB divided by that for 1 MiB; budget 4.5.
func BenchmarkLinear(b *testing.B) {
	repeat := func(unit string, size int) []byte {
		return []byte("[" + strings.Repeat(unit+",", size/len(unit)) + "0]")
	}
	// A hundred open objects with the same keys.
	level := `{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":`
	nested := strings.Repeat(level, 100) + "0" + strings.Repeat("}", 100)
	members := "{"
	for i := range 5_000 {
		members += fmt.Sprintf(`"some_key_%d":%d,`, i, i)
	}
	members += `"":0}`
	for _, c := range []struct {
		name string
		text func(size int) []byte
	}{
		{"source", writeFile},
		{"numbers", func(size int) []byte { return repeat("-123.456e7", size) }},
		{"objects", func(size int) []byte { return repeat(`{"a":1,"b":[true,null]}`, size) }},
		{"members", func(size int) []byte { return repeat(members, size) }},
		{"nested", func(size int) []byte { return repeat(nested, size) }},
		{"escapes", func(size int) []byte { return repeat(`"\ud83d\ude00\u00e9\n"`, size) }},
	} {
		small, large := c.text(1<<20), c.text(4<<20)
		for name, read := range map[string]func([]byte){
			"parse": func(text []byte) {
				p := jsonstream.NewParser(ignore{}, jsonstream.Options{})
				feed(b, p, text, 20)
			},
			"scan": func(text []byte) {
				var d jsonstream.Document
				if err := d.Scan(text, jsonstream.Options{}); err != nil {
					b.Fatal(err)
				}
			},
		} {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				// The minimum of each, to exclude other load of the machine.
				short, long := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
				for b.Loop() {
					start := time.Now()
					read(small)
					middle := time.Now()
					read(large)
					short, long = min(short, middle.Sub(start)), min(long, time.Since(middle))
				}
				b.ReportMetric(float64(long)/float64(short), "4MiB/1MiB")
			})
		}
	}
}

// BenchmarkDecimal compares a number as a rule does.
func BenchmarkDecimal(b *testing.B) {
	limit, literal := decimal(b, "9007199254740992"), []byte("9007199254740993")
	b.ReportAllocs()
	for b.Loop() {
		d, err := jsonstream.ParseDecimal(literal)
		if err != nil || d.Cmp(limit) != 1 {
			b.Fatal(err)
		}
	}
}

// BenchmarkCanonical hashes the arguments of a call.
func BenchmarkCanonical(b *testing.B) {
	v, err := jsonstream.Parse(writeFile(4096), jsonstream.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = jsonstream.AppendCanonical(buf[:0], v)
	}
}

// BenchmarkQuote writes the arguments of a call into an event.
func BenchmarkQuote(b *testing.B) {
	text := writeFile(32 << 10)
	var buf []byte
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		buf = jsonstream.AppendQuote(buf[:0], text)
	}
}
