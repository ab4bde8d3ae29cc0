package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/policy"
	rows "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/internal/testkit/cpu"
)

// starterProgram is the policy that coding agents begin with.
func starterProgram(tb testing.TB) gate.Policy {
	files, err := config.StarterFor("coding")
	if err != nil {
		tb.Fatal(err)
	}
	program, found := policy.Compile([]policy.Source{{Name: config.FileName, Text: files[0].Text, Trusted: true}},
		policy.Options{Root: "/srv/project", Home: "/home/u", Known: knowntools.Recognise})
	if program == nil {
		tb.Fatal(found)
	}
	return program
}

// starterCall is a call with 60 bytes of arguments.
func starterCall(caller int, n int64) stopgate.Call {
	return stopgate.Call{
		Tool: "Read", Session: stopgate.SessionID(fmt.Sprintf("5b1a7f0e-4a52-4f1e-%04x-%012x", caller, n/1000)), Principal: "local",
		Surface: stopgate.SurfaceGateway, Dialect: "anthropic", ID: stopgate.CallID(fmt.Sprintf("toolu_01%022x", n)),
		Args: []byte(fmt.Sprintf(`{"file_path":"/srv/project/internal/module/file%09d.go"}`, n)),
	}
}

// BenchmarkStarter measures decisions of a gate as init and up make it: the coding starter, one transaction for the
// facts and the row of a decision, and its arguments. "of-bare" is the ratio to bare inserts in the same run, "B/decision"
// the growth of the file.
func BenchmarkStarter(b *testing.B) {
	program := starterProgram(b)
	for _, keep := range []audit.Keep{audit.KeepNone, audit.KeepFull} {
		for _, callers := range []int{1, 16} {
			b.Run(fmt.Sprintf("keep=%v/callers=%d", keep, callers), func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "s.db")
				s := openWith(b, path, sqlite.Options{Records: rows.Options{Arguments: keep}})
				g, err := gate.New(program, gate.WithStore(s), gate.WithRecorder(s.Recorder()))
				if err != nil {
					b.Fatal(err)
				}
				var next atomic.Int64
				var group sync.WaitGroup
				start := cpu.Time()
				b.ReportAllocs()
				b.ResetTimer()
				for i := range callers {
					group.Go(func() {
						for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
							if out, err := g.Decide(context.Background(), starterCall(i, n)); !out.Allowed() {
								b.Error(out.Verdict.Code, err)
								return
							}
						}
					})
				}
				group.Wait()
				cpu.Report(b, start)
				mine := float64(b.N) / b.Elapsed().Seconds()
				b.StopTimer()
				b.ReportMetric(mine, "decisions/s")
				b.ReportMetric(mine/bare(b, callers), "of-bare")
				if b.N > 1000 {
					b.ReportMetric(float64(pages(b, path))/float64(b.N), "B/decision")
				}
			})
		}
	}
}

// pages returns the size of a database without free pages, and logs the parts.
func pages(b *testing.B, path string) (total int64) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT name, sum(pgsize) FROM dbstat GROUP BY name")
	if err != nil {
		if err := db.QueryRow("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&total); err != nil {
			b.Fatal(err)
		}
		return total
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var size int64
		if err := rows.Scan(&name, &size); err != nil {
			b.Fatal(err)
		}
		if total += size; os.Getenv("STOPGATE_SIZES") != "" {
			fmt.Fprintf(os.Stderr, "%-40s %8.1f\n", name, float64(size)/float64(b.N))
		}
	}
	if os.Getenv("STOPGATE_SIZES") != "" {
		var line, fact []byte
		_ = db.QueryRow("SELECT stored FROM audit_rows ORDER BY seq DESC").Scan(&line)
		fmt.Fprintf(os.Stderr, "%d %q\n", len(line), line)
		facts, _ := db.Query("SELECT stored FROM facts ORDER BY seq DESC LIMIT 2")
		for facts.Next() {
			_ = facts.Scan(&fact)
			fmt.Fprintf(os.Stderr, "%d %q\n", len(fact), fact)
		}
		cells, _ := db.Query("SELECT key, stored FROM cells LIMIT 4")
		for cells.Next() {
			var key string
			_ = cells.Scan(&key, &fact)
			fmt.Fprintf(os.Stderr, "%s %d %q\n", key, len(fact), fact)
		}
	}
	return total
}
