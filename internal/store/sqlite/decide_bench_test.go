package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/cpu"
)

// Decisions under a limit, with everything that a gate does: those of the PostgreSQL store on one machine.
func BenchmarkDecide(b *testing.B) {
	const file = "version = 1\n[tools.deploy.policy]\nrun = \"unattended\"\n[[session]]\ntype = \"limit\"\ntools = \"deploy\"\nmax_calls = 100000\n"
	program, mistakes := policy.Compile([]policy.Source{{Name: "p.toml", Text: []byte(file), Trusted: true}}, policy.Options{})
	if program == nil {
		b.Fatal(mistakes)
	}
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "s.db"))
			g, err := gate.New(program, gate.WithStore(s), gate.WithRecorder(s.Recorder()))
			if err != nil {
				b.Fatal(err)
			}
			var next atomic.Int64
			var group sync.WaitGroup
			start := cpu.Time()
			b.ResetTimer()
			for i := range callers {
				call := stopgate.Call{Tool: "deploy", Session: stopgate.SessionID(fmt.Sprint(i)), Principal: stopgate.Principal(fmt.Sprint(i % 8)), Args: []byte(`{"service":"web"}`)}
				group.Go(func() {
					for next.Add(1) <= int64(b.N) {
						if out, err := g.Decide(context.Background(), call); !out.Allowed() {
							b.Error(out.Verdict.Code, err)
							return
						}
					}
				})
			}
			group.Wait()
			cpu.Report(b, start)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
		})
	}
}
