package jsonstream_test

import (
	"fmt"
	"strings"
	"testing"

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

// writeFile is the argument text of a call that writes a source file of n bytes.
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

// BenchmarkParser gives ns per chunk of 20 bytes and throughput; budgets: 80 ns
// per chunk, 600 MB/s whole, 0 allocations.
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

// BenchmarkScan reads whole texts; budget: 350 ns for a chat chunk.
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
