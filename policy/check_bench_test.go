package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/policy/syntax"
)

// largePolicy has n rules on one path and one integer, and some patterns between them,
// none of them unreachable.
func largePolicy(n, patterns int) []byte {
	var b strings.Builder
	b.WriteString("version = 1\n[tools.t.parameters]\npath = { type = \"path\" }\nn = { type = \"integer\" }\n[tools.t.policy]\nrun = [\n")
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "{ arg = \"/path\", prefix = \"dir%d/sub\", mode = \"ask\" },\n", i)
		case 1:
			fmt.Fprintf(&b, "{ arg = \"/path\", const = \"file%d.go\", mode = \"deny\" },\n", i)
		case 2:
			fmt.Fprintf(&b, "{ arg = \"/n\", const = %d, mode = \"ask\" },\n", i)
		default:
			fmt.Fprintf(&b, "{ arg = \"/path\", enum = [\"a%d\", \"b%d/c\"], mode = \"skip\" },\n", i, i)
		}
		if patterns > 0 && i%(n/patterns) == 0 {
			fmt.Fprintf(&b, "{ arg = \"/path\", pattern = '%s', mode = \"ask\" },\n", fmt.Sprintf([]string{`^pkg%d/[a-z]+_test\.go$`, `\.ext%d$`, `(^|/)v%d/`}[i%3], i))
		}
	}
	b.WriteString("{ mode = \"ask\" },\n]\n")
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	text := largePolicy(10_000, 0)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		syntax.Parse("x.toml", text)
	}
}

// The analysis of 10,000 rules stays below the time a person notices (DESIGN 8: 250
// ms with 500 patterns).
func BenchmarkCheck(b *testing.B) {
	for _, size := range []struct{ rules, patterns int }{{100, 0}, {100, 5}, {10_000, 0}, {10_000, 500}} {
		b.Run(fmt.Sprintf("%d+%d", size.rules, size.patterns), func(b *testing.B) {
			p, _ := syntax.Parse("large.toml", largePolicy(size.rules, size.patterns))
			b.ReportAllocs()
			for b.Loop() {
				if list := policy.Check(p, policy.Options{}); list.HasErrors() {
					b.Fatal(list)
				}
			}
		})
	}
}

func BenchmarkFormat(b *testing.B) {
	text := largePolicy(10_000, 0)
	b.ReportAllocs()
	for b.Loop() {
		syntax.Format("policy.toml", text)
	}
}
