package diff_test

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/prove/diff"
	"github.com/stopgate/stopgate/internal/testkit/gen"
)

// BenchmarkGrowth measures what 1,000 to 100,000 rules cost: to compile them, to bind them to a
// tool, to decide a call that only the last rule matches, to check them, and to compare them with
// the same rules after an edit. The exponent is that of the growth since the smaller size: 1 is
// linear. Compiled and bound programs report the memory that they hold for each rule.
func BenchmarkGrowth(b *testing.B) {
	for _, shape := range gen.Shapes {
		before := make(map[string]measured)
		for _, n := range []int{1_000, 3_000, 10_000, 30_000, 100_000} {
			g := &growth{shape: shape, rules: n}
			for _, step := range growthSteps {
				b.Run(fmt.Sprintf("%s/%s/%d", shape, step.name, n), func(b *testing.B) {
					g.prepare(b)
					for b.Loop() {
						step.run(b, g)
					}
					took := b.Elapsed() / time.Duration(b.N)
					if last, ok := before[step.name]; ok && last.rules < n {
						b.ReportMetric(math.Log(float64(took)/float64(last.took))/math.Log(float64(n)/float64(last.rules)), "exponent")
					}
					before[step.name] = measured{n, took}
					if step.held != nil {
						b.ReportMetric(held(func() any { return step.held(b, g) })/float64(n), "held-B/rule")
					}
				})
			}
		}
	}
}

// measured is what a step took with a number of rules.
type measured struct {
	rules int
	took  time.Duration
}

// growth is one policy of a size.
type growth struct {
	shape       string
	rules       int
	old, edited policy.Source
	call        stopgate.Call
	args        []byte
	program     *policy.Program
	bound       *eval.Binding
}

// prepare makes the policy for the first step that is run.
func (g *growth) prepare(b *testing.B) {
	if g.program != nil {
		return
	}
	text, tool, args := gen.Growing(g.shape, g.rules)
	g.call, g.args = stopgate.Call{Tool: stopgate.ToolName(tool)}, []byte(args)
	g.old = policy.Source{Name: "old.toml", Text: text, Trusted: true}
	g.edited = policy.Source{Name: "new.toml", Text: bytes.Replace(text, []byte(`mode = "deny"`), []byte(`mode = "ask"`), 1), Trusted: true}
	g.program = g.compile(b)
	g.bound = g.program.Bind(g.call)
}

func (g *growth) compile(b *testing.B) *policy.Program {
	p, list := policy.Compile([]policy.Source{g.old}, policy.Options{})
	if p == nil {
		for _, d := range list {
			if d.Severity == diag.Error {
				b.Fatal(d)
			}
		}
	}
	return p
}

// growthSteps are what is measured; held makes the values whose memory counts.
var growthSteps = []struct {
	name string
	run  func(b *testing.B, g *growth)
	held func(b *testing.B, g *growth) any
}{
	{"parse", func(b *testing.B, g *growth) {
		if _, list := parser.Parse(kinds.Table(), g.old.Name, g.old.Text); list.HasErrors() {
			b.Fatal(list[0])
		}
	}, nil},
	{"compile", func(b *testing.B, g *growth) { g.compile(b) }, func(b *testing.B, g *growth) any { return g.compile(b) }},
	{"bind", func(b *testing.B, g *growth) { g.program.Bind(g.call) }, func(_ *testing.B, g *growth) any { return g.program.Bind(g.call) }},
	{"first", func(b *testing.B, g *growth) { g.decide(b, g.program.Bind(g.call).Evaluate()) }, nil},
	{"decide", func(b *testing.B, g *growth) { g.decide(b, g.bound.Evaluate()) }, nil},
	{"check", func(b *testing.B, g *growth) {
		file, list := parser.Parse(kinds.Table(), g.old.Name, g.old.Text)
		for _, d := range append(list, prove.Check(file, policy.Options{})...) {
			if d.Severity == diag.Error {
				b.Fatal(d)
			}
			if d.Code == diag.NotProven {
				b.ReportMetric(1, "not-proven")
			}
		}
	}, nil},
	{"diff", func(b *testing.B, g *growth) {
		d, _, _ := diff.Files(g.old, g.edited, policy.Options{}, nil)
		if d == nil {
			b.Fatal("a policy has mistakes")
		}
		if !d.Complete {
			b.ReportMetric(float64(len(d.Open)), "open")
		}
	}, nil},
}

func (g *growth) decide(b *testing.B, e *eval.Evaluation) {
	e.Feed(g.args)
	if v := e.Close(stopgate.Ended); v.Mode != stopgate.Ask {
		b.Fatal(v)
	}
}

// held returns the bytes that a value keeps reachable.
func held(make func() any) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	value := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(value)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}
