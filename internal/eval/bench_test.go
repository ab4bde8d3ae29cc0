package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
)

// tenRules returns a policy with ten rules on one parameter of a type; only the last one matches.
func tenRules(kind, rule string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version = 1\n[tools.t.parameters]\nx = { type = %q }\ncontent = { type = \"string\" }\n[tools.t.policy]\nrun = [\n", kind)
	for i := range 9 {
		fmt.Fprintf(&b, "  { arg = \"/x\", %s, mode = \"ask\" },\n", fmt.Sprintf(rule, i))
	}
	b.WriteString("  { mode = \"unattended\" },\n]\n")
	return b.String()
}

// BenchmarkDecision measures one decision with ten rules, from the decoded value to the verdict.
// Parsing is measured separately, without rules.
func BenchmarkDecision(b *testing.B) {
	for _, bench := range []struct{ name, policy, args string }{
		{"none", "version = 1\n[tools.t.parameters]\nx = { type = \"string\" }\n[tools.t.policy]\nrun = \"unattended\"\n", `{"x":"src/pkg/file.go"}`},
		{"string/prefix", tenRules("string", `prefix = "secret%d"`), `{"x":"src/pkg/file.go"}`},
		{"path/prefix", tenRules("path", `prefix = "secret%d"`), `{"x":"src/pkg/file.go"}`},
		{"path/glob", tenRules("path", `glob = "**/secret%d"`), `{"x":"src/pkg/file.go"}`},
		{"number", tenRules("integer", `const = 1000%d`), `{"x":5}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			bound := compile(b, bench.policy).Bind(stopgate.Call{Tool: "t"})
			e := bound.Evaluate()
			args := []byte(bench.args)
			b.ReportAllocs()
			for b.Loop() {
				e.Reset(bound)
				e.Feed(args)
				if v := e.Close(stopgate.Ended); v.Mode != stopgate.Unattended {
					b.Fatal(v)
				}
			}
		})
	}
}

// rulesOf returns a policy with n rules on one parameter, of five modes in turn, and a catch-all.
// With patterns, every twentieth rule is one.
func rulesOf(n int, kind string, rule func(i int) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version = 1\n[tools.t.parameters]\nx = { type = %q }\n[tools.t.policy]\nrun = [\n", kind)
	modes := []string{"ask", "deny", "skip", "edit"}
	for i := range n {
		fmt.Fprintf(&b, "  { arg = \"/x\", %s, mode = %q },\n", rule(i), modes[i%len(modes)])
	}
	b.WriteString("  { mode = \"unattended\" },\n]\n")
	return b.String()
}

func literals(i int) string {
	switch i % 3 {
	case 0:
		return fmt.Sprintf("prefix = \"dir%d/sub\"", i)
	case 1:
		return fmt.Sprintf("const = \"file%d.go\"", i)
	}
	return fmt.Sprintf("enum = [\"a%d\", \"b%d/c\"]", i, i)
}

func withPatterns(i int) string {
	if i%20 == 7 {
		return fmt.Sprintf("pattern = \"^pkg%d/[a-z]+_test\\\\.go$\"", i)
	}
	return literals(i)
}

// named returns a value that one of n rules matches: the last prefix with mode ask.
func named(n int) string { return fmt.Sprintf(`{"x":"dir%d/sub/a"}`, (n-1)/12*12) }

// BenchmarkRules measures the cost of many rules (K40): of a decision with 10 to 10,000 rules,
// compared with the row without rules of the same type, on a value that no rule matches and on one
// that one does.
func BenchmarkRules(b *testing.B) {
	const text, number = `{"x":"src/pkg/file.go"}`, `{"x":5}`
	for _, bench := range []struct {
		name, kind string
		rule       func(int) string
		args       func(n int) string
		mode       stopgate.Mode
	}{
		{"none/string", "string", nil, always(text), stopgate.Unattended},
		{"none/path", "path", nil, always(text), stopgate.Unattended},
		{"none/number", "integer", nil, always(number), stopgate.Unattended},
		{"string", "string", literals, always(text), stopgate.Unattended},
		{"path", "path", literals, always(text), stopgate.Unattended},
		{"number", "integer", func(i int) string { return fmt.Sprintf("const = %d", i+10) }, always(number), stopgate.Unattended},
		{"range", "integer", func(i int) string { return fmt.Sprintf("minimum = %d", 20_010-i) }, always(number), stopgate.Unattended},
		{"patterns", "path", withPatterns, always(text), stopgate.Unattended},
		{"patterns/string", "string", withPatterns, always(text), stopgate.Unattended},
		{"hit/string", "string", literals, named, stopgate.Ask},
		{"hit/path", "path", literals, named, stopgate.Ask},
	} {
		for _, n := range []int{10, 100, 10_000} {
			count := n
			if bench.rule == nil {
				count = 0
			}
			if bench.rule == nil && n > 10 {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", bench.name, n), func(b *testing.B) {
				p := compile(b, rulesOf(count, bench.kind, bench.rule))
				bound := p.Bind(stopgate.Call{Tool: "t"})
				e := bound.Evaluate()
				args := []byte(bench.args(n))
				judge := func() {
					e.Reset(bound)
					e.Feed(args)
					if v := e.Close(stopgate.Ended); v.Mode != bench.mode {
						b.Fatal(v)
					}
				}
				for range 100 { // the first values build automata
					judge()
				}
				b.ReportAllocs()
				for b.Loop() {
					judge()
				}
			})
		}
	}
}

// always returns the same arguments for any number of rules.
func always(args string) func(int) string { return func(int) string { return args } }

// BenchmarkBind measures the one-time cost of a tool with many rules.
func BenchmarkBind(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := compile(b, rulesOf(n, "path", withPatterns))
			for b.Loop() {
				p.Bind(stopgate.Call{Tool: "t"})
			}
		})
	}
}

// BenchmarkFeed measures a chunk of 20 bytes in a long string without rules.
func BenchmarkFeed(b *testing.B) {
	bound := compile(b, tenRules("path", `prefix = "secret%d"`)).Bind(stopgate.Call{Tool: "t"})
	e := bound.Evaluate()
	e.Feed([]byte(`{"x":"src/a","content":"`))
	chunk := []byte("func main() { fmt.Pr")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%10_000 == 0 {
			e.Reset(bound)
			e.Feed([]byte(`{"x":"src/a","content":"`))
		}
		e.Feed(chunk)
	}
}

// Proves K40: evaluating a path by rules with patterns does not allocate.
func TestPatternsOnPathsAllocateNothing(t *testing.T) {
	bound := compile(t, rulesOf(100, "path", withPatterns)).Bind(stopgate.Call{Tool: "t"})
	e, args := bound.Evaluate(), []byte(`{"x":"src/pkg/file.go"}`)
	judge := func() {
		e.Reset(bound)
		e.Feed(args)
		e.Close(stopgate.Ended)
	}
	for range 100 { // the first values build automata
		judge()
	}
	if n := testing.AllocsPerRun(100, judge); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
