package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/cpu"
	server "github.com/stopgate/stopgate/internal/testkit/postgres"
)

// Decisions under an open load: calls arrive at a rate, whether earlier ones are decided or not, at
// random intervals as those of many independent clients. The time of a decision begins when its call
// was to arrive, so that calls that wait for a slow one are counted, and those that are denied because
// the store did not answer in time, too. Use a number of calls: -benchtime 30000x.
func BenchmarkArrivals(b *testing.B) {
	for _, c := range []struct{ gates, rate int }{{1, 500}, {1, 1000}, {1, 1500}, {3, 500}, {3, 1000}} {
		b.Run(fmt.Sprintf("gates=%d/rate=%d", c.gates, c.rate), func(b *testing.B) {
			gates := startGates(b, server.Start(b, server.Durable).Database(b), c.gates)
			var denied atomic.Int64
			var group sync.WaitGroup
			took, late := make([]time.Duration, b.N), time.Duration(0)
			r := rand.New(rand.NewPCG(1, uint64(c.rate)))
			start := cpu.Time()
			b.ResetTimer()
			next := time.Now()
			for i := range b.N {
				next = next.Add(time.Duration(r.ExpFloat64() * float64(time.Second) / float64(c.rate)))
				due := next
				time.Sleep(time.Until(due))
				late = max(late, time.Since(due))
				group.Go(func() {
					switch out, err := gates[i%len(gates)].Decide(context.Background(), benchCall(i%64, len(gates))); {
					case out.Allowed():
					case out.Verdict.Code == stopgate.CodeStoreUnavailable:
						denied.Add(1)
					default:
						b.Error(out.Verdict.Code, err)
					}
					took[i] = time.Since(due)
				})
			}
			group.Wait()
			cpu.Report(b, start)
			slices.Sort(took)
			for _, q := range []struct {
				name string
				of   float64
			}{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}} {
				b.ReportMetric(took[min(int(float64(len(took))*q.of), len(took)-1)].Seconds()*1000, q.name+"-ms")
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "arrivals/s")
			b.ReportMetric(late.Seconds()*1000, "started-late-ms")
			b.ReportMetric(float64(denied.Load()), "denied")
		})
	}
}

// startGates opens gates on a database, and waits until each has decided.
func startGates(b *testing.B, location string, n int) (gates []*gate.Gate) {
	b.Helper()
	for range n {
		g := newGate(b, open(b, location))
		for tries := 0; ; tries++ {
			if out, err := g.Decide(b.Context(), benchCall(0, 1)); out.Allowed() {
				break
			} else if tries == 50 {
				b.Fatal(out.Verdict.Code, err)
			}
		}
		gates = append(gates, g)
	}
	return gates
}

// benchCall is a call of one of 64 sessions, of eight principals who use all gates.
func benchCall(caller, gates int) stopgate.Call {
	return stopgate.Call{
		Tool: "deploy", Session: stopgate.SessionID(fmt.Sprint(caller)),
		Principal: stopgate.Principal(fmt.Sprint(caller / gates % 8)), Args: []byte(`{"service":"web"}`),
	}
}
