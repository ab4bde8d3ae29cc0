package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/testkit/cpu"
	"github.com/stopgate/stopgate/internal/testkit/storetest"
	"github.com/stopgate/stopgate/session"
	_ "modernc.org/sqlite"
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

// Durable decisions: facts, cells and audit row of each in one transaction, concurrent callers
// share a sync. The budget is 5,000 per second with 16 callers; "of-bare" is the ratio to
// group-committed inserts of the same bytes without any other work, in the same run.
func BenchmarkDecisions(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "s.db"))
			start := cpu.Time()
			storetest.BenchUpdates(b, s, callers, row)
			cpu.Report(b, start)
			mine := float64(b.N) / b.Elapsed().Seconds()
			b.StopTimer()
			b.ReportMetric(mine/bare(b, callers), "of-bare")
		})
	}
}

// A session with 100,000 facts is updated as fast as a new one (S38).
func BenchmarkFacts(b *testing.B) {
	for _, facts := range []int{0, 100_000} {
		b.Run(fmt.Sprintf("facts=%d", facts), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "s.db"))
			storetest.Grow(b, s, session.Owner{Principal: "local", Session: "s0"}, facts)
			storetest.BenchUpdates(b, s, 16, nil)
		})
	}
}

// bare returns how many times per second the bytes of a decision can be inserted, with one decision
// per caller in a transaction.
func bare(b *testing.B, callers int) float64 {
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "bare.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE rows(id INTEGER PRIMARY KEY, row BLOB); CREATE TABLE facts(id INTEGER PRIMARY KEY, fact BLOB)"); err != nil {
		b.Fatal(err)
	}
	line, fact := make([]byte, 900), make([]byte, 300)
	n, start := 0, time.Now()
	for time.Since(start) < time.Second {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		rows, err := tx.Prepare("INSERT INTO rows(row) VALUES(?)")
		if err != nil {
			b.Fatal(err)
		}
		facts, err := tx.Prepare("INSERT INTO facts(fact) VALUES(?)")
		if err != nil {
			b.Fatal(err)
		}
		for range callers {
			if _, err := rows.Exec(line); err != nil {
				b.Fatal(err)
			}
			if _, err := facts.Exec(fact); err != nil {
				b.Fatal(err)
			}
			n++
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(n) / time.Since(start).Seconds()
}
