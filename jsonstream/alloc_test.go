package jsonstream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/jsonstream"
)

// No allocation for a chunk, a scan or a text in steady state.
func TestNoAllocations(t *testing.T) {
	many := "{"
	for i := range 100 {
		many += fmt.Sprintf(`"k\u0065y%d":{"a":[1,2.5e3,"\n"],"b":true},`, i)
	}
	many = strings.TrimSuffix(many, ",") + "}"
	for _, text := range []string{chatChunk, string(writeFile(4096)), many, `{"é":"\ud83d\ude00中"}`} {
		var a jsonstream.Aggregator
		var d jsonstream.Document
		p := jsonstream.NewParser(&a, jsonstream.Options{})
		data := []byte(text)
		buf := make([]byte, 0, 1<<16)
		whole := func(chunk int) func() {
			return func() {
				a.Reset()
				p.Reset(&a, jsonstream.Options{})
				for rest := data; len(rest) > 0; rest = rest[min(chunk, len(rest)):] {
					p.Feed(rest[:min(chunk, len(rest))])
				}
				if p.Close() != nil {
					t.Fatal(p.Err())
				}
			}
		}
		for name, f := range map[string]func(){
			"byte by byte":     whole(1),
			"20 bytes a chunk": whole(20),
			"one chunk":        whole(len(data)),
			"scan":             func() { d.Scan(data, jsonstream.Options{}) },
			"walk": func() {
				for key, v := range d.Root().Members() {
					buf = key.AppendText(buf[:0])
					buf = v.AppendText(buf)
					key.IsText("choices")
					v.Get("absent")
					for e := range v.Elements() {
						e.IsText("x")
					}
				}
			},
		} {
			f()
			if n := testing.AllocsPerRun(20, f); n > 0 {
				t.Errorf("%.30s, %s: %v allocations", text, name, n)
			}
		}
	}
}
