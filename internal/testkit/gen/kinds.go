package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/stopgate/stopgate/internal/testkit/naive"
)

// DrawKind makes a policy whose conditions are of a kind with a twin. The other draws are not
// disturbed by new kinds.
func DrawKind(r *rand.Rand, kind string) *Case {
	twin, annotation := naive.Twins[kind], pick(r, []string{"", "url"})
	c := &Case{tool: object(prop("x", one(naive.String, annotation))), Naive: &naive.Policy{Root: Root, Home: Home}}
	l := naive.Layer{Speaks: true, Schema: c.tool}
	var b strings.Builder
	fmt.Fprintf(&b, "version = 1\n[tools.%s.policy]\nrun = [\n", Tool)
	for range 1 + r.IntN(3) {
		k := naive.Cond{Arg: []string{"x"}, Kind: kind, Values: []*naive.Node{text(pick(r, twin.Literals))}}
		l.Rules = addRule(l.Rules, naive.Rule{All: []naive.Cond{k}, Mode: mode(r, false)})
	}
	for _, k := range l.Rules {
		fmt.Fprintf(&b, "  { %s },\n", writeRule(k, ", "))
	}
	fmt.Fprintf(&b, "]\n[tools.%s.parameters]\n%s", Tool, parameters(c.tool))
	c.Naive.Layers = []naive.Layer{l}
	c.Files = []File{{Name: "file0.toml", Text: b.String(), Trusted: true}}
	return c
}

// KindDocument writes arguments for a policy of DrawKind.
func (c *Case) KindDocument(r *rand.Rand, kind string) string {
	w := &writer{r: r}
	w.WriteString(`{"x":`)
	w.quote(pick(r, naive.Twins[kind].Values[c.tool.Props[0].Schema.Annotation]))
	w.WriteByte('}')
	return w.String()
}
