package eval_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
)

// BenchmarkOrigins measures a decision with five conditions on origins, and the same without, on a
// view that answers at once: the cost of the evaluator itself.
func BenchmarkOrigins(b *testing.B) {
	const args = `{"name":"ann","to":["ann","bob"],"cc":"bob","n":1500,"file":"docs/plan"}`
	for _, bench := range []struct{ name, policy string }{
		{"none", mail + "[tools.t.policy]\nrun = \"unattended\"\n"},
		{"from", mail + `[tools.t.policy]
run = [ { all = [ { arg = "/name", from = ["user"] }, { arg = "/to", from = ["user"] }, { arg = "/cc", from = ["user"] }, { arg = "/n", from = ["user"] }, { arg = "/file", from = ["user"] } ], mode = "unattended" }, { mode = "ask" } ]
`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			p, texts := compile(b, bench.policy), session()
			bound := p.BindUnder(stopgate.Call{Tool: "t"}, eval.Circumstances{Situation: p.Situation(stopgate.Groups{}, noData, texts)})
			e := bound.EvaluateWith(texts)
			b.ReportAllocs()
			for b.Loop() {
				e.ResetWith(bound, texts)
				e.Feed([]byte(args))
				if v := e.Close(stopgate.Ended); v.Mode != stopgate.Unattended {
					b.Fatal(v)
				}
			}
		})
	}
}
