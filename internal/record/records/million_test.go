package records_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	rows "github.com/stopgate/stopgate/internal/record/postgres"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/testkit/postgres"
)

// BenchmarkServer measures what operators wait for in a store of several gates with
// STOPGATE_BENCH_ROWS rows (default 20000): the newest 20 rows by several filters, verification, and
// retention.
func BenchmarkServer(b *testing.B) {
	n, _ := strconv.Atoi(os.Getenv("STOPGATE_BENCH_ROWS"))
	if n == 0 {
		n = 20000
	}
	location := postgres.Database(b)
	r := gateAt(b, location, "a")
	start := time.Now()
	for i := 0; i < n; i += 500 {
		var batch []*stopgate.Record
		for j := i; j < i+500; j++ {
			batch = append(batch, benchRow(j))
		}
		if err := r.Capabilities().RecordAll(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d rows written in %v", n, time.Since(start))
	log, err := records.Open(b.Context(), location)
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	all, _ := glob.ParseName("rare_*")
	for _, c := range []struct {
		name   string
		filter records.Filter
	}{
		{"all", records.Filter{}},
		{"tool", records.Filter{Tool: tool("fs_3")}},
		{"rare tool", records.Filter{Tool: tool("rare_1")}},
		{"glob of a rare tool", records.Filter{Tool: all}},
		{"absent tool", records.Filter{Tool: tool("absent")}},
		{"rule", records.Filter{Rules: []stopgate.RuleID{benchRow(3).Rule.ID}}},
		{"rare rule", records.Filter{Rules: []stopgate.RuleID{ruleB}}},
		{"absent rule", records.Filter{Rules: []stopgate.RuleID{ruleA}}},
		{"two rules", records.Filter{Rules: []stopgate.RuleID{benchRow(3).Rule.ID, ruleB}}},
		{"session", records.Filter{Session: "s7"}},
		{"denied", records.Filter{Modes: []stopgate.Mode{stopgate.Deny}}},
		{"absent principal", records.Filter{Principal: "absent"}},
		{"rare code", records.Filter{Codes: []stopgate.Code{stopgate.CodeNoApprover}}},
		{"gate", records.Filter{Gate: "a"}},
		{"the last hour", records.Filter{Since: at.Add(time.Duration(n)*time.Second - time.Hour)}},
		{"the first hour", records.Filter{Until: at.Add(time.Hour)}},
		{"glob of many tools", records.Filter{Tool: tool("fs_*")}},
		{"the last hour by a common tool", records.Filter{Tool: tool("fs_3"), Since: at.Add(time.Duration(n)*time.Second - time.Hour)}},
		{"rare agent", records.Filter{Agent: "rare"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := log.Newest(b.Context(), 20, &c.filter); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for name, do := range map[string]func() error{
		"verify": func() error { c, err := log.Verify(b.Context()); return cmpErr(err, c.Err()) },
		"head":   func() error { _, err := log.Heads(b.Context()); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	size(b, location)
	prune(b, location, r, n)
}

// size logs how much space the tables take.
func size(b *testing.B, location string) {
	conn, err := pgx.Connect(b.Context(), location)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	var rows, decisions, arguments int64
	err = conn.QueryRow(b.Context(), "SELECT (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('stopgate.records')), "+
		"pg_total_relation_size('stopgate.record_decisions'), pg_total_relation_size('stopgate.record_arguments')").Scan(&rows, &decisions, &arguments)
	b.Logf("MiB: %d of rows, %d of decisions, %d of arguments: %v", rows>>20, decisions>>20, arguments>>20, err)
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func prune(b *testing.B, location string, r *rows.Recorder, n int) {
	now := time.Now()
	for name, keep := range map[string]rows.Retention{"arguments": {Arguments: at.AddDate(1, 0, 0)}, "rows of a partition, and the ids of decisions": {Rows: now.AddDate(0, 2, 0)}} {
		start := time.Now()
		gone, err := r.Prune(b.Context(), keep, now.AddDate(0, 6, 0))
		b.Logf("%s: pruned %+v in %v: %v", name, gone, time.Since(start), err)
	}
}

func tool(name string) *glob.Name {
	g, err := glob.ParseName(name)
	if err != nil {
		panic(err)
	}
	return g
}

func benchRow(i int) *stopgate.Record {
	r := row(i)
	r.Time = at.Add(time.Duration(i) * time.Second)
	r.ID = stopgate.ProposalID(fmt.Sprintf("01M8EQ55D5C9PJ2DNY%08d", i))
	r.Session, r.Principal, r.Agent, r.Tool = stopgate.SessionID(fmt.Sprint("s", i%5000)), stopgate.Principal(fmt.Sprint("p", i%50)), "main", stopgate.ToolName(fmt.Sprint("fs_", i%20))
	r.ArgsHash = fmt.Sprintf("%064x", i)
	r.Args = []byte(fmt.Sprintf(`{"path":"/srv/project/file-%d.txt","content":"some text of ordinary length for a call"}`, i))
	r.Policy, r.Pointer, r.Surface = "fd472119418214adfff444c27e4d6e8a0f0b7f7b9a21a5013939e360de0f83e6", "/path", "gateway"
	r.Rule = &stopgate.RuleRef{File: "policy.toml", Line: i % 100, ID: stopgate.RuleID(fmt.Sprintf("%032x", i%100))}
	if i%50021 == 7 {
		r.Tool, r.Code, r.Agent, r.Rule.ID = "rare_1", stopgate.CodeNoApprover, "rare", ruleB
	}
	return r
}
