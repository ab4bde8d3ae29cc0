package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/policy"
)

// compile compiles one trusted file and fails the test if it has errors.
func compile(tb testing.TB, text string) *policy.Program {
	tb.Helper()
	p, list := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(text), Trusted: true}},
		policy.Options{Root: "/srv/proj", Home: "/home/u"})
	if p == nil {
		tb.Fatalf("%v", list)
	}
	return p
}

// tenRules is a policy with ten rules on one parameter of a type; none but the last
// of them matches.
func tenRules(kind, rule string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version = 1\n[tools.t.parameters]\nx = { type = %q }\ncontent = { type = \"string\" }\n[tools.t.policy]\nrun = [\n", kind)
	for i := range 9 {
		fmt.Fprintf(&b, "  { arg = \"/x\", %s, mode = \"ask\" },\n", fmt.Sprintf(rule, i))
	}
	b.WriteString("  { mode = \"unattended\" },\n]\n")
	return b.String()
}

// BenchmarkDecision is the budget of DESIGN 8: ten rules, from the decoded value to
// the verdict. What reading the text costs is measured beside it, without rules.
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

// BenchmarkFeed is a chunk of 20 bytes inside of a long string that no rule looks at.
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
