package policy_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/jsonstream"
)

// BenchmarkDecideByOrigins measures a decision with five conditions on origins over a session with
// 1 MiB of text, and the same tool without conditions: the situation, the rules, the evaluation.
func BenchmarkDecideByOrigins(b *testing.B) {
	const head = `version = 1
[tools.send.parameters]
a = { type = "string", as = "email" }
b = { type = "string", as = "email" }
c = { type = "string" }
d = { type = "number" }
e = { type = "string", as = "url" }
[tools.send.policy]
`
	const args = `{"a":"bob@example.com","b":"carl@example.com","c":"the green house","d":1250.5,"e":"https://example.com/plan"}`
	for name, rules := range map[string]string{
		"none": "run = \"unattended\"\n",
		"five": "run = [ { all = [ { arg = \"/a\", from = [\"user\"] }, { arg = \"/b\", from = [\"user\"] }, { arg = \"/c\", from = [\"user\"] }, { arg = \"/d\", from = [\"user\"] }, { arg = \"/e\", from = [\"user\"] } ], mode = \"unattended\" }, { mode = \"ask\" } ]\n",
	} {
		b.Run(name, func(b *testing.B) {
			p := compiled(b, head+rules)
			var texts flow.View
			if p.Reader() != nil {
				c := talk(b, p)
				c.user("Write to bob@example.com and carl@example.com about the green house: 1250.50 and https://example.com/plan")
				for i := range 1024 {
					c.result("read", fmt.Sprintf(`{"n":%d}`, i), string(bytes.Repeat(fmt.Appendf(nil, "line %d of a page that nobody needs, with words. ", i), 20)))
				}
				texts = c.index.View()
			}
			call := stopgate.Call{Tool: "send"}
			rules := p.RulesFor(call, gate.Circumstances{Situation: p.SituationOf(stopgate.Groups{}, jsonstream.Value{}, texts)})
			b.ReportAllocs()
			for b.Loop() {
				e := rules.Evaluate(texts)
				e.Feed([]byte(args))
				if v := e.Close(stopgate.Ended); v.Mode != stopgate.Unattended {
					b.Fatal(v, e.Origins())
				}
				e.Release()
			}
		})
	}
}
