package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/postgres"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
	server "github.com/stopgate/stopgate/internal/testkit/postgres"
)

var at = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func row(name string, i int) *stopgate.Record {
	mode, enforced := stopgate.Mode(i%5), true
	return &stopgate.Record{
		Version: 1, Time: at.Add(time.Duration(i) * time.Minute), Kind: stopgate.RecordDecision, ID: stopgate.ProposalID(fmt.Sprintf("%s%d", name, i)),
		Session: stopgate.SessionID(fmt.Sprintf("s\x00%d", i%2)), Principal: "p\xff", Tool: stopgate.ToolName(fmt.Sprintf("fs_%d", i%3)), Mode: &mode,
		Status: stopgate.StatusDenied, Code: stopgate.CodeRuleMatched, Enforced: &enforced,
		Args: []byte(`{"a":1}`), ArgsHash: "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862",
	}
}

// open opens a recorder as a process of a gate does, and returns a function that ends it.
func open(t *testing.T, location, gate string) (*postgres.Recorder, func()) {
	t.Helper()
	db, err := pgdb.Open(t.Context(), location, postgres.Tables)
	if err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() { db.Close() })
	t.Cleanup(end)
	r, err := postgres.New(db, postgres.Options{Gate: gate, Arguments: audit.KeepFull})
	if err != nil {
		t.Fatal(err)
	}
	return r, end
}

func write(t *testing.T, r *postgres.Recorder, rows ...*stopgate.Record) {
	t.Helper()
	for _, row := range rows {
		if err := r.Record(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
}

// logOf opens the log of a database.
func logOf(t *testing.T, location string) *records.Log {
	t.Helper()
	log, err := records.Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}

// verify returns how many chains and rows there are, and what is wrong with them.
func verify(t *testing.T, location string, heads ...string) (chains int, rows int64, err error) {
	t.Helper()
	check, err := logOf(t, location).Verify(t.Context(), heads...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range check.Chains {
		rows += c.Rows
	}
	return len(check.Chains), rows, check.Err()
}

// exec runs statements in a database, as its owner can.
func execute(t *testing.T, location string, statements ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // also after the test
	conn, err := pgx.Connect(ctx, location)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, s := range append([]string{"SET search_path = stopgate"}, statements...) {
		if _, err := conn.Exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Proves I23, S25: processes of several gates write at once, each to a chain of its own, and all
// chains verify.
func TestChainPerGate(t *testing.T) {
	location := server.Database(t)
	var writers sync.WaitGroup
	for _, gate := range []string{"a", "b", "c"} {
		r, _ := open(t, location, gate)
		for w := range 4 {
			writers.Go(func() {
				for i := range 25 {
					if err := r.Record(t.Context(), row(fmt.Sprint(gate, w, "-"), i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	writers.Wait()
	if chains, rows, err := verify(t, location); chains != 3 || rows != 300 || err != nil {
		t.Errorf("%d chains with %d rows: %v", chains, rows, err)
	}
	heads, err := logOf(t, location).Heads(t.Context())
	if err != nil || len(heads) != 3 || heads[0].Gate != "a" || heads[2].Gate != "c" || heads[1].Seq != 100 {
		t.Errorf("%+v, %v", heads, err)
	}
	for _, h := range heads {
		if _, _, err := verify(t, location, h.Hash); err != nil {
			t.Error(err)
		}
	}
}

// Proves S25: a process uses the chain of an ended process of its gate, and never one that another
// process uses.
func TestChainsAreUsedAgain(t *testing.T) {
	location := server.Database(t)
	for i := range 20 {
		r, end := open(t, location, "cli")
		write(t, r, row("x", i))
		end()
	}
	if chains, rows, err := verify(t, location); chains != 1 || rows != 20 || err != nil {
		t.Errorf("one after the other: %d chains with %d rows: %v", chains, rows, err)
	}
	for i := range 3 {
		r, _ := open(t, location, "cli")
		write(t, r, row("y", i))
	}
	r, _ := open(t, location, "other")
	write(t, r, row("z", 0))
	if chains, rows, err := verify(t, location); chains != 4 || rows != 24 || err != nil {
		t.Errorf("at once: %d chains with %d rows: %v", chains, rows, err)
	}
}

// Proves I23: a proposal has one decision row, whichever gates decide about it, and a refused row
// leaves the chain and the rows of others whole.
func TestOneDecision(t *testing.T) {
	location := server.Database(t)
	a, _ := open(t, location, "a")
	b, _ := open(t, location, "b")
	write(t, a, row("x", 1))
	var writers sync.WaitGroup
	for i := range 10 {
		writers.Go(func() {
			if err := b.Record(t.Context(), row("y", i)); err != nil {
				t.Error(err)
			}
		})
	}
	if err := b.Record(t.Context(), row("x", 1)); err == nil {
		t.Error("a second decision is recorded")
	}
	writers.Wait()
	asked := &stopgate.Record{Version: 1, Time: at, Kind: stopgate.RecordEvent, Event: stopgate.AuditAsked, ID: "x1"}
	write(t, b, asked, asked)
	if chains, rows, err := verify(t, location); chains != 2 || rows != 13 || err != nil {
		t.Errorf("%d chains with %d rows: %v", chains, rows, err)
	}
}

// Proves S25, I22: whatever the owner of the database changes in the rows, verification finds it.
func TestVerifyFindsChanges(t *testing.T) {
	for name, change := range map[string]string{
		"changed line":         "UPDATE records SET packed = decode(replace(encode(packed, 'hex'), encode('fs_1', 'hex'), encode('fs_2', 'hex')), 'hex') WHERE seq = 5",
		"removed row":          "DELETE FROM records WHERE seq = 5",
		"removed first rows":   "DELETE FROM records WHERE seq < 3",
		"removed last row":     "DELETE FROM records WHERE seq = 9",
		"removed all rows":     "DELETE FROM records",
		"moved head":           "UPDATE record_chains SET seq = 8",
		"changed head":         "UPDATE record_chains SET hash = repeat('0', 64)",
		"removed chain":        "DELETE FROM record_chains",
		"row twice":            "INSERT INTO records SELECT * FROM records WHERE seq = 9",
		"rows of another gate": "INSERT INTO records(written, chain, seq, time, final, packed) SELECT written, 99, seq, time, final, packed FROM records",
		"row before its turn":  "UPDATE records SET seq = 10 - seq",
	} {
		location := server.Database(t)
		r, _ := open(t, location, "a")
		for i := range 9 {
			write(t, r, row("x", i))
		}
		if _, _, err := verify(t, location); err != nil {
			t.Fatal(err)
		}
		execute(t, location, change)
		if _, _, err := verify(t, location); err == nil {
			t.Errorf("%s: not found", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

// Changed arguments are found; those of a row are read as they were kept.
func TestArguments(t *testing.T) {
	location := server.Database(t)
	for _, gate := range []string{"a", "b"} {
		r, _ := open(t, location, gate)
		write(t, r, row(gate, 1), row(gate, 2))
	}
	log := logOf(t, location)
	args, ok, err := log.Arguments(t.Context(), row("a", 1))
	if err != nil || !ok || string(args.Text) != `{"a":1}` || args.Changed {
		t.Fatalf("%s, %v, %v", args.Text, ok, err)
	}
	if check, err := log.Verify(t.Context()); err != nil || len(check.Changed) != 0 {
		t.Errorf("%q, %v", check.Changed, err)
	}
	execute(t, location, `UPDATE record_arguments SET text = '{"a":2}'`)
	if check, err := log.Verify(t.Context()); err != nil || len(check.Changed) != 2 {
		t.Errorf("%q, %v", check.Changed, err)
	}
	if args, _, err := log.Arguments(t.Context(), row("a", 1)); err != nil || !args.Changed {
		t.Errorf("%+v, %v", args, err)
	}
}

// Proves S26: questions of ended processes are cancelled once.
func TestCancel(t *testing.T) {
	location := server.Database(t)
	r, _ := open(t, location, "a")
	for i, id := range []stopgate.ProposalID{"old", "old", "new", "decided"} {
		asked := &stopgate.Record{Version: 1, Time: at, Kind: stopgate.RecordEvent, Event: stopgate.AuditAsked, ID: id, Principal: "p"}
		if id == "new" {
			asked.Time = at.Add(time.Hour)
		}
		write(t, r, asked)
		if id == "decided" {
			decided := row("x", i)
			decided.ID = id
			write(t, r, decided)
		}
	}
	for _, want := range []int{1, 0} {
		if n, err := r.Cancel(t.Context(), at.Add(time.Minute), at.Add(2*time.Hour)); err != nil || n != want {
			t.Errorf("cancelled %d, want %d: %v", n, want, err)
		}
	}
	rows, err := logOf(t, location).Of(t.Context(), "old")
	if err != nil || len(rows) != 3 || rows[2].Status != stopgate.StatusCancelled || rows[2].Gate != "a" || !strings.Contains(rows[2].Cause, "gone") {
		t.Errorf("%+v, %v", rows, err)
	}
}
