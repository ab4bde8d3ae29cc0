package records_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
)

// grown returns the i-th row of a month of work: three of four rows are decisions of a coding agent, three of a hundred of them were
// asked about, every other call has a result.
func grown(i, n int) *stopgate.Record {
	r := benchRow(i / 2)
	r.Time = at.Add(30 * 24 * time.Hour / time.Duration(n) * time.Duration(i))
	r.Session, r.Principal, r.Agent = stopgate.SessionID(fmt.Sprintf("5b1a7f0e-4a52-4f1e-9d0b-%012x", i/200)), "local", "claude"
	r.Tool = stopgate.ToolName([]string{"Bash", "Read", "Edit", "Write", "Grep", "Glob", "WebFetch", "mcp__github__search_issues"}[i/2%8])
	r.ArgsHash, r.Args = fmt.Sprintf("%x", sha256.Sum256([]byte(strconv.Itoa(i/2)))), nil
	r.Context = &stopgate.Context{Root: "/srv/project", Home: "/home/u"}
	switch {
	case i%200 == 0: // the question of the decision that follows
		r.ID, r.Kind, r.Event, r.Mode, r.Status, r.Code = benchRow(i/2+1).ID, stopgate.RecordEvent, stopgate.AuditAsked, nil, "", ""
	case i%2 == 1:
		r.ID = benchRow(n + i).ID
		if i%4 == 3 {
			r.ID, r.Kind, r.Event, r.Mode, r.Status, r.Code = benchRow(i/2).ID, stopgate.RecordEvent, stopgate.AuditResult, nil, "", ""
		}
	case i%200 == 2:
		r.Status, r.Approval = stopgate.StatusAllowed, &stopgate.Approval{ID: "Q", By: "u"}
	}
	return r
}

// BenchmarkGrowth measures what operators wait for in an SQLite file with 10^4, 10^5 and, with STOPGATE_BENCH_ROWS=1000000, 10^6
// rows: the newest 20 rows by several filters, a report, verification, and retention.
func BenchmarkGrowth(b *testing.B) {
	most, _ := strconv.Atoi(os.Getenv("STOPGATE_BENCH_ROWS"))
	for n := 10_000; n <= max(most, 10_000); n *= 10 {
		b.Run(fmt.Sprint(n), func(b *testing.B) { growth(b, n) })
	}
}

func growth(b *testing.B, n int) {
	path := filepath.Join(b.TempDir(), "s.db")
	db, err := database.Open(b.Context(), path, sqlite.Tables)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	rec, err := sqlite.New(b.Context(), db, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	for i := 0; i < n; {
		err := db.Change(b.Context(), func(tx *database.Tx) error {
			for end := min(i+2000, n); i < end; i++ {
				e, err := rec.Prepare(grown(i, n))
				if err == nil {
					err = rec.Write(tx, e)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d rows of %d bytes written in %v", n, info.Size()/int64(n), time.Since(start))
	log, err := records.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	last := at.Add(30 * 24 * time.Hour)
	measure := func(name string, do func() error) {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms")
		})
	}
	for _, c := range []struct {
		name   string
		filter records.Filter
	}{
		{"all", records.Filter{}},
		{"tool", records.Filter{Tool: tool("Edit")}},
		{"rare tool", records.Filter{Tool: tool("rare_1")}},
		{"glob", records.Filter{Tool: tool("mcp__*")}},
		{"absent tool", records.Filter{Tool: tool("absent")}},
		{"rule", records.Filter{Rules: []stopgate.RuleID{grown(8, n).Rule.ID}}},
		{"rare rule", records.Filter{Rules: []stopgate.RuleID{ruleB}}},
		{"absent rule", records.Filter{Rules: []stopgate.RuleID{ruleA}}},
		{"session", records.Filter{Session: grown(n/2, n).Session}},
		{"session and tool", records.Filter{Session: grown(n/2, n).Session, Tool: tool("Edit")}},
		{"denied", records.Filter{Modes: []stopgate.Mode{stopgate.Deny}}},
		{"asked", records.Filter{Events: []stopgate.AuditEvent{stopgate.AuditAsked}}},
		{"absent principal", records.Filter{Principal: "absent"}},
		{"rare code", records.Filter{Codes: []stopgate.Code{stopgate.CodeNoApprover}}},
		{"the last hour", records.Filter{Since: last.Add(-time.Hour)}},
		{"the first hour", records.Filter{Until: at.Add(time.Hour)}},
		{"the first day of a tool", records.Filter{Tool: tool("Edit"), Until: at.Add(24 * time.Hour)}},
	} {
		measure("log "+c.name, func() error {
			_, _, err := log.Newest(b.Context(), 20, &c.filter)
			return err
		})
	}
	measure("report", func() error {
		_, err := log.Prompts(b.Context(), time.Time{}, time.Time{}, nil, func(int) {})
		return err
	})
	measure("report of a day", func() error {
		_, err := log.Prompts(b.Context(), last.Add(-24*time.Hour), time.Time{}, nil, func(int) {})
		return err
	})
	measure("report of a rule", func() error {
		_, err := log.Prompts(b.Context(), time.Time{}, time.Time{}, []stopgate.RuleID{grown(8, n).Rule.ID}, func(int) {})
		return err
	})
	measure("verify", func() error {
		c, err := log.Verify(b.Context())
		return cmpErr(err, c.Err())
	})
	start = time.Now()
	gone, err := rec.Prune(context.Background(), sqlite.Retention{Rows: at.Add(15 * 24 * time.Hour)}, last)
	b.Logf("half of them pruned in %v: %+v, %v", time.Since(start), gone, err)
}
