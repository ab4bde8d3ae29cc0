package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/jsonstream"
)

// The pointers that the permits of a list cover, found in one pass over the list, are those that each
// permit and all rules above it look at.
func TestCoveredPointers(t *testing.T) {
	pick := func(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }
	definition := stopgate.ToolDefinition{Name: "t", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"},"a":{"type":"string"},"b":{"type":"array","items":{"type":"string"}},"c":{"type":"object"},"d":{}}}`)}
	permits, covering := 0, 0
	for i := range 300 {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		var text strings.Builder
		fmt.Fprintf(&text, "version = 1\n[tools.%s]\nuncovered = %q\n[tools.%[1]s.policy]\nrun = [\n", "t", pick(r, "ask", "deny", "ask", "allow"))
		for n := range 2 + r.IntN(12) {
			ignore := pick(r, "", "", `, ignores = ["/b"]`, `, ignores = ["/c", "/a"]`)
			mode := pick(r, "unattended", "ask", "deny")
			if mode != "unattended" {
				ignore = ""
			}
			fmt.Fprintf(&text, "{ %s, mode = %q%s },\n", pick(r, fmt.Sprintf(`arg = "/a", const = "x%d"`, n), fmt.Sprintf(`arg = "/n", const = %d`, n), fmt.Sprintf(`arg = "/b/*", prefix = "y%d"`, n),
				fmt.Sprintf(`arg = "/d", const = %d`, n), fmt.Sprintf(`all = [{ arg = "/a", prefix = "z%d" }, { arg = "/d", const = "q" }]`, n)), mode, ignore)
		}
		text.WriteString("{ mode = \"ask\" }\n]\n" + pick(r, "", "[[guard]]\non = \"string\"\nconst = \"g\"\nmode = \"deny\"\n", "[[guard]]\narg = \"/c\"\npresent = true\nmode = \"ask\"\n"))
		p, list := policy.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text.String()), Trusted: true}}, policy.Options{})
		if p == nil {
			t.Fatal(list, text.String())
		}
		c := &comparer{before: p, after: p, memory: &symbolic.Memory{}}
		tool := &comparedTool{"t", &definition}
		s := c.side(p, tool)
		b, ok := c.bind(s, tool, syntax.RunList)
		if !ok {
			t.Fatal(list, text.String())
		}
		var want [][]string
		for at, rule := range b.rules {
			if s.permitsCovered()(rule) {
				want = append(want, coveredAt(b, s, s.declared(tool), at))
			}
		}
		got := slices.Collect(b.covered(s, s.declared(tool)))
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%s\ncovered %q, want %q", text.String(), got, want)
		}
		permits += len(want)
		for _, list := range want {
			covering += len(list)
		}
	}
	if permits < 300 || covering < permits {
		t.Errorf("the generator has gone stale: %d permits cover %d pointers", permits, covering)
	}
}

// coveredAt finds the pointers of one permit.
func coveredAt(b *boundPolicy, s *sidePolicy, d declared, at int) (list []string) {
	add := func(p jsonstream.Pointer, how string) {
		if text := how + p.String(); len(p) > 0 && needsCovering(s, d, p) && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for i, r := range b.rules[:at+1] {
		if i == at || !r.Mode.Permissive() {
			for _, k := range r.Bound {
				add(k.Arg, looksHow(k.Condition.Condition))
			}
		}
	}
	for _, p := range b.rules[at].Ignores {
		add(p, "")
	}
	for _, g := range b.written {
		for i := range g.Conditions {
			add(g.Conditions[i].Arg, looksHow(&g.Conditions[i]))
		}
	}
	slices.Sort(list)
	return list
}
