package prove_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/testkit/gen"
)

func BenchmarkParse(b *testing.B) {
	text := gen.Large(10_000, 0)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		parser.Parse(kinds.Table(), "x.toml", text)
	}
}

// The analysis of 10,000 rules stays below 250 ms with 500 patterns, which a person does not
// notice.
func BenchmarkCheck(b *testing.B) {
	for _, size := range []struct{ rules, patterns int }{{100, 0}, {100, 5}, {10_000, 0}, {10_000, 500}} {
		b.Run(fmt.Sprintf("%d+%d", size.rules, size.patterns), func(b *testing.B) {
			p, _ := parser.Parse(kinds.Table(), "large.toml", gen.Large(size.rules, size.patterns))
			b.ReportAllocs()
			for b.Loop() {
				if list := prove.Check(p, policy.Options{}); list.HasErrors() {
					b.Fatal(list)
				}
			}
		})
	}
}

// withFindings is a list of n rules on a parameter and on an integer, of which every
// twentieth one is never reached.
func withFindings(n int, parameter string, rule, finding func(i int) string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "version = 1\n[tools.t.parameters]\nx = { type = %q }\nn = { type = \"integer\" }\n[tools.t.policy]\nrun = [\n", parameter)
	for i := range n {
		if i%20 == 19 {
			b.WriteString(finding(i - 10))
		} else {
			b.WriteString(rule(i))
		}
		b.WriteByte('\n')
	}
	b.WriteString("{ mode = \"ask\" },\n]\n")
	return []byte(b.String())
}

// findingKinds are kinds of rules that an index of single literals does not describe completely.
var findingKinds = []struct {
	name, parameter string
	rule, finding   func(i int) string
}{
	{"globs", "path",
		func(i int) string { return fmt.Sprintf(`{ arg = "/x", glob = "g%d/**/*.go", mode = "deny" },`, i) },
		func(i int) string { return fmt.Sprintf(`{ arg = "/x", glob = "g%d/x/**/*.go", mode = "ask" },`, i) }},
	{"suffixes", "string",
		func(i int) string { return fmt.Sprintf(`{ arg = "/x", suffix = "q%dq", mode = "unattended" },`, i) },
		func(i int) string { return fmt.Sprintf(`{ arg = "/x", suffix = "xq%dq", mode = "ask" },`, i) }},
	{"hosts", "url",
		func(i int) string {
			return fmt.Sprintf(`{ arg = "/x", host = "h%d.example.com", mode = "unattended" },`, i)
		},
		func(i int) string {
			return fmt.Sprintf(`{ arg = "/x", host = "h%d.example.com", mode = "unattended" },`, i)
		}},
	{"usages", "command",
		func(i int) string {
			return fmt.Sprintf(`{ arg = "/x", usage = "tool%d status **", mode = "unattended" },`, i)
		},
		func(i int) string {
			return fmt.Sprintf(`{ arg = "/x", usage = "tool%d status **", mode = "unattended" },`, i)
		}},
	{"ranges", "string",
		func(i int) string {
			return fmt.Sprintf(`{ all = [{ arg = "/n", minimum = %d }, { arg = "/n", maximum = %d }], mode = "deny" },`, 10*i, 10*i+9)
		},
		func(i int) string {
			return fmt.Sprintf(`{ all = [{ arg = "/n", minimum = %d }, { arg = "/n", maximum = %d }], mode = "ask" },`, 10*i+2, 10*i+5)
		}},
	{"two parameters", "path",
		func(i int) string {
			return fmt.Sprintf(`{ all = [{ arg = "/x", prefix = "src" }, { arg = "/n", const = %d }], mode = "deny" },`, i)
		},
		func(i int) string {
			return fmt.Sprintf(`{ all = [{ arg = "/x", prefix = "src/lib" }, { arg = "/n", const = %d }], mode = "ask" },`, i)
		}},
}

// Every rule that nothing reaches is found among many.
func TestCheckFindsAmongMany(t *testing.T) {
	for _, kind := range findingKinds {
		p, diags := parser.Parse(kinds.Table(), "x.toml", withFindings(400, kind.parameter, kind.rule, kind.finding))
		found := 0
		for _, d := range append(diags, prove.Check(p, policy.Options{})...) {
			if d.Code == "SG0301" {
				found++
			}
		}
		if found != 20 {
			t.Errorf("%s: %d rules are reported, want 20", kind.name, found)
		}
	}
}

// 500 findings in 10,000 rules take less than 2 s for each kind of rule.
func BenchmarkCheckFindings(b *testing.B) {
	for _, kind := range findingKinds {
		b.Run(kind.name, func(b *testing.B) {
			p, _ := parser.Parse(kinds.Table(), "large.toml", withFindings(10_000, kind.parameter, kind.rule, kind.finding))
			for b.Loop() {
				prove.Check(p, policy.Options{})
			}
		})
	}
}

func BenchmarkFormat(b *testing.B) {
	text := gen.Large(10_000, 0)
	b.ReportAllocs()
	for b.Loop() {
		parser.Format(kinds.Table(), "policy.toml", text)
	}
}
