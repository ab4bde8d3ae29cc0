package playground_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/playground"
)

// Long arguments, with the verdict after each byte, and at once.
func BenchmarkTrace(b *testing.B) {
	p, report := playground.Compile([]byte("version = 1\n[tools.write_file.parameters]\npath = { type = \"path\", required = true }\ncontent = { type = \"string\" }\n" +
		"[tools.write_file.policy]\nrun = [\n  { arg = \"/path\", prefix = \"src/\", mode = \"unattended\", ignores = [\"/content\"] },\n  { mode = \"ask\" },\n]\n"))
	if p == nil {
		b.Fatal(report.Findings)
	}
	c := playground.Call{Tool: "write_file", Args: []byte(`{"path":"src/a","content":"` + strings.Repeat("x y", 20000) + `"}`)}
	b.Run("bytes", func(b *testing.B) {
		b.SetBytes(int64(len(c.Args)))
		for b.Loop() {
			if _, err := p.Trace(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("whole", func(b *testing.B) {
		b.SetBytes(int64(len(c.Args)))
		for b.Loop() {
			if _, err := p.At(b.Context(), c, len(c.Args), true); err != nil {
				b.Fatal(err)
			}
		}
	})
}
