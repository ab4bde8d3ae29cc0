package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/testkit/cpu"
	server "github.com/stopgate/stopgate/internal/testkit/postgres"
	"github.com/stopgate/stopgate/internal/testkit/storetest"
)

// row is the audit row of an ordinary allowed call.
func row(id string) *stopgate.Record {
	mode, enforced, at := stopgate.Unattended, true, int64(42)
	return &stopgate.Record{
		Version: 1, Time: time.Unix(1_800_000_000, 0).UTC(), Kind: stopgate.RecordDecision, ID: stopgate.ProposalID(id),
		Session: "s0", Principal: "local", Surface: stopgate.SurfaceGateway, Dialect: "openai-chat", Tool: "deploy", CallID: stopgate.CallID(id),
		ArgsHash: "7d1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a", ArgsBytes: 42,
		ReleasedHash: "7d1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a", Status: stopgate.StatusAllowed,
		Mode: &mode, Layer: stopgate.LayerRules, Code: stopgate.CodeRuleMatched, Rule: &stopgate.RuleRef{File: "stopgate.toml", Line: 12},
		DecidedAt: &at, Policy: "3f1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a", PathResolution: "lexical", Enforced: &enforced,
	}
}

// Durable updates, with the database on the same machine: facts, cells and audit row of each in one transaction,
// concurrent callers share a commit. "of-bare" is the ratio to inserts of the same bytes without any other
// work, as many in a transaction as there are callers, in the same run.
func BenchmarkUpdates(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			location := server.Start(b, server.Durable).Database(b)
			s := open(b, location)
			start := cpu.Time()
			storetest.BenchUpdates(b, s, callers, row)
			cpu.Report(b, start)
			mine := float64(b.N) / b.Elapsed().Seconds()
			b.StopTimer()
			b.ReportMetric(mine/bare(b, location, callers), "of-bare")
		})
	}
}

// Decisions under a limit, with everything that gates do: one gate, or several of which each has a part of
// the callers. They are eight principals, who use all gates: decisions of a principal wait for each other.
func BenchmarkDecide(b *testing.B) {
	for _, c := range []struct{ gates, callers int }{{1, 1}, {1, 64}, {2, 64}, {3, 64}, {3, 192}} {
		b.Run(fmt.Sprintf("gates=%d/callers=%d", c.gates, c.callers), func(b *testing.B) {
			location := server.Start(b, server.Durable).Database(b)
			gates := startGates(b, location, c.gates)
			var next, denied atomic.Int64
			var group sync.WaitGroup
			start := cpu.Time()
			b.ResetTimer()
			for i := range c.callers {
				call := benchCall(i, c.gates)
				group.Go(func() {
					for next.Add(1) <= int64(b.N) {
						switch out, err := gates[i%len(gates)].Decide(context.Background(), call); {
						case out.Allowed():
						case out.Verdict.Code == stopgate.CodeStoreUnavailable: // the machine is too busy to commit in time
							denied.Add(1)
						default:
							b.Error(out.Verdict.Code, err)
							return
						}
					}
				})
			}
			group.Wait()
			mine := float64(int64(b.N)-denied.Load()) / b.Elapsed().Seconds()
			b.ReportMetric(mine, "decisions/s")
			b.ReportMetric(float64(denied.Load()), "denied")
			cpu.Report(b, start)
			b.StopTimer()
			b.ReportMetric(mine/bare(b, location, c.callers), "of-bare")
		})
	}
}

// bare returns how many times per second the bytes of a decision can be inserted.
func bare(b *testing.B, location string, callers int) float64 {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, location)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE TABLE bare(row bytea, fact bytea)"); err != nil {
		b.Fatal(err)
	}
	rows, facts := make([][]byte, callers), make([][]byte, callers)
	for i := range rows {
		rows[i], facts[i] = make([]byte, 900), make([]byte, 300)
	}
	n, start := 0, time.Now()
	for time.Since(start) < time.Second {
		if _, err := conn.Exec(ctx, "INSERT INTO bare SELECT * FROM unnest($1::bytea[], $2::bytea[])", rows, facts); err != nil {
			b.Fatal(err)
		}
		n += callers
	}
	return float64(n) / time.Since(start).Seconds()
}
