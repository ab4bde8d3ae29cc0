package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/postgres"
	"github.com/stopgate/stopgate/internal/record/records"
	server "github.com/stopgate/stopgate/internal/testkit/postgres"
)

// past moves rows into the past and creates the partitions of two months: the rows of a chain up to 10
// are older than them, those up to 20 in the first, those up to 30 in the second one.
var past = []string{
	"CREATE TABLE records_2025_03 PARTITION OF records FOR VALUES FROM (1740787200000000) TO (1743465600000000)",
	"CREATE TABLE records_2025_04 PARTITION OF records FOR VALUES FROM (1743465600000000) TO (1746057600000000)",
	"UPDATE records SET written = CASE WHEN seq <= 10 THEN 1735689600000000 WHEN seq <= 20 THEN 1741000000000000 ELSE 1744000000000000 END + seq WHERE seq <= 30",
	"UPDATE record_decisions d SET written = (SELECT written FROM records r WHERE r.id = d.id AND final)",
}

// Proves S25: old rows go with their partitions, in each chain up to a checkpoint that names the last
// of them; what is left verifies, and gates go on writing.
func TestPruneDropsPartitions(t *testing.T) {
	location := server.Database(t)
	a, _ := open(t, location, "a")
	b, endOfB := open(t, location, "b")
	for i := range 40 {
		write(t, a, row("a", i))
		write(t, b, row("b", i))
	}
	endOfB()
	execute(t, location, past...)
	log := logOf(t, location)
	heads, err := log.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i, c := range []struct {
		keep time.Time
		gone int64
		rows int64 // afterwards, with a checkpoint for each chain and step
	}{
		{time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), 0, 80},
		{time.Date(2025, 3, 15, 0, 0, 0, 0, time.UTC), 20, 62}, // the rows of the default partition
		{time.Date(2025, 4, 3, 0, 0, 0, 0, time.UTC), 20, 44},  // the first partition
		{time.Date(2025, 4, 30, 0, 0, 0, 0, time.UTC), 0, 44},  // its month is not over
		{time.Date(2025, 5, 1, 0, 0, 0, 0, time.UTC), 20, 26},
	} {
		gone, err := a.Prune(t.Context(), postgres.Retention{Rows: c.keep}, now)
		if err != nil || gone.Rows != c.gone {
			t.Errorf("%d: %d rows are gone, want %d: %v", i, gone.Rows, c.gone, err)
		}
		if chains, rows, err := verify(t, location); chains != 2 || rows != c.rows || err != nil {
			t.Errorf("%d: %d chains with %d rows, want %d: %v", i, chains, rows, c.rows, err)
		}
		write(t, a, row("later", i))
		if _, rows, err := verify(t, location); rows != c.rows+1 || err != nil {
			t.Errorf("%d: %d rows, %v", i, rows, err)
		}
		execute(t, location, fmt.Sprintf("DELETE FROM record_decisions WHERE id = 'later%d'", i)) // and undo it, for the next counts
		execute(t, location, "UPDATE record_chains c SET (seq, hash) = (SELECT seq - 1, encode(substr(packed, 2, 32), 'hex') FROM records r WHERE r.chain = c.number AND r.seq = c.seq) WHERE gate = 'a'",
			fmt.Sprintf("DELETE FROM records WHERE id = 'later%d'", i))
	}
	// The heads from before are still in the chains, and decisions of pruned proposals are forgotten.
	for _, h := range heads {
		if check, err := log.Verify(t.Context(), h.Hash); err != nil || check.Known[h.Hash] != 40 {
			t.Errorf("the head of %s is row %d, %v", h.Gate, check.Known[h.Hash], err)
		}
	}
	write(t, a, row("a", 5))
	if err := a.Record(t.Context(), row("a", 35)); err == nil {
		t.Error("a second decision is recorded after pruning")
	}
	// So is a head that was the last of the pruned rows, and no other pruned one.
	pruned := map[int64]string{}
	if _, err := log.Rows(t.Context(), records.Mark{}, nil, func(r records.Row) bool {
		if r.Checkpoint != nil {
			pruned[r.Checkpoint.Seq] = r.Checkpoint.Hash
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if check, err := log.Verify(t.Context(), pruned[30]); err != nil || check.Known[pruned[30]] != 30 || pruned[30] == "" {
		t.Errorf("the last pruned row is %v, %v", check.Known, err)
	}
	rows, _, err := log.Newest(t.Context(), 3, &records.Filter{Gate: "b"})
	if err != nil || len(rows) != 3 || rows[2].Checkpoint == nil || rows[2].Checkpoint.Seq != 30 || rows[2].Count != 10 || rows[2].Cause != "pruned by a" {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// Proves S13, S25: a short retention is kept to the moment; arguments go by the last time they were
// proposed.
func TestPruneToTheMoment(t *testing.T) {
	location := server.Database(t)
	r, _ := open(t, location, "a")
	for i := range 30 {
		write(t, r, row("a", i))
	}
	now := time.Now()
	execute(t, location, fmt.Sprintf("UPDATE records SET written = %d + seq WHERE seq <= 10", now.Add(-50*time.Hour).UnixMicro()))
	keep := postgres.Retention{Rows: now.Add(-48 * time.Hour), Arguments: at}
	for _, want := range []postgres.Pruned{{Rows: 10}, {}} {
		if gone, err := r.Prune(t.Context(), keep, now); err != nil || gone != want {
			t.Errorf("%+v, want %+v: %v", gone, want, err)
		}
	}
	keep.Arguments = at.Add(time.Hour)
	if gone, err := r.Prune(t.Context(), keep, now); err != nil || gone.Arguments != 1 {
		t.Errorf("%+v, %v", gone, err)
	}
	if _, rows, err := verify(t, location); rows != 21 || err != nil {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// Gates go on while a partition cannot be dropped because somebody uses it; it goes when they have
// ended.
func TestPruneWaitsForReaders(t *testing.T) {
	location := server.Database(t)
	r, _ := open(t, location, "a")
	for i := range 40 {
		write(t, r, row("a", i))
	}
	execute(t, location, past...)
	execute(t, location, "DELETE FROM records WHERE seq <= 10")
	conn, err := pgx.Connect(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE stopgate.records_2025_03 IN ACCESS SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	pruned := make(chan error, 1)
	keep := postgres.Retention{Rows: time.Date(2025, 4, 3, 0, 0, 0, 0, time.UTC)}
	go func() {
		_, err := r.Prune(context.Background(), keep, time.Now())
		pruned <- err
	}()
	for i, began := 0, time.Now(); time.Since(began) < time.Second; i++ {
		start := time.Now()
		write(t, r, row("b", i))
		if took := time.Since(start); took > 500*time.Millisecond {
			t.Errorf("a row took %v", took)
		}
	}
	if _, err := conn.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-pruned; err != nil {
		t.Error(err)
	}
	if lines, _, err := logOf(t, location).Newest(t.Context(), 1000, &records.Filter{Events: []stopgate.AuditEvent{stopgate.AuditCheckpoint}}); err != nil || len(lines) != 1 || lines[0].Count != 10 {
		t.Errorf("%+v, %v", lines, err)
	}
}
