package postgres_test

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/postgres"
	"github.com/stopgate/stopgate/internal/record/spool"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/kinds"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
	server "github.com/stopgate/stopgate/internal/testkit/postgres"
)

// Proves FM4, S26: rows that the database cannot take are kept on the machine and added to the chain
// when it answers again, once, also those of a process that has ended or did not open the database.
func TestSpool(t *testing.T) {
	s := server.Start(t, server.Fast)
	location := s.Database(t)
	local := filepath.Join(t.TempDir(), "postgres-x")
	begin := func() *postgres.Recorder {
		db, err := pgdb.Open(t.Context(), location, postgres.Tables)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		r, err := postgres.New(db, postgres.Options{Gate: "a", Arguments: audit.KeepFull, Local: local})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := begin()
	write(t, r, row("before", 1))
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := r.Record(late, row("out", 1)); err == nil {
		t.Error("a row is recorded without a database")
	}
	spooled := r.Capabilities().Spool
	event := &stopgate.Record{Version: 1, Time: at, Kind: stopgate.RecordEvent, Event: stopgate.AuditAsked, ID: "out1", Session: "s"}
	if err := spooled([]*stopgate.Record{event, row("out", 1), row("out", 2), row("before", 1)}); err != nil {
		t.Fatal(err)
	}
	if !r.Spooled() {
		t.Error("the rows do not wait")
	}
	hook := row("hook", 1)
	if err := kinds.Spool("postgres://gate:pw@127.0.0.1:1/db", backend.Options{Local: local}, hook); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	// Collecting garbage closes the file of the "hook", as the end of its process does.
	for deadline := time.Now().Add(time.Minute); spool.At(local).Waiting() > 0; time.Sleep(20 * time.Millisecond) {
		if runtime.GC(); time.Now().After(deadline) {
			t.Fatalf("the rows are not taken: %v", r.Merge(t.Context()))
		}
	}
	if _, rows, err := verify(t, location); rows != 5 || err != nil {
		t.Errorf("%d rows, %v", rows, err)
	}
	log := logOf(t, location)
	for id, want := range map[stopgate.ProposalID]int{"out1": 2, "out2": 1, "hook1": 1, "before1": 1} {
		rows, err := log.Of(t.Context(), id)
		if err != nil || len(rows) != want || rows[0].Gate != "a" {
			t.Errorf("%s: %d rows, want %d: %v", id, len(rows), want, err)
		}
	}
	if a, ok, err := log.Arguments(t.Context(), row("out", 2)); err != nil || !ok || a.Changed {
		t.Errorf("%+v, %v, %v", a, ok, err)
	}
}
