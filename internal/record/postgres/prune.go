package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/auditrow"
)

// Retention is the time of the oldest rows and arguments to keep. A zero time keeps all.
type Retention struct {
	Rows      time.Time
	Arguments time.Time
}

// Pruned counts the rows that [Recorder.Prune] removed.
type Pruned struct {
	Rows      int64
	Arguments int64
	KeptTexts int64
}

const (
	// pruneStep is how many rows or arguments one transaction deletes.
	pruneStep = 5000
	// exact is the longest retention of rows that is kept to the moment, by deleting rows one by one.
	// Longer ones are kept to the month, by dropping partitions.
	exact = 35 * 24 * time.Hour
)

// Prune removes data older than keep: rows by the time at which they were written, arguments by the
// last time they were proposed, texts by their own. Each chain whose rows are removed gets a checkpoint row in the same
// transaction, which names the last of them (S25). Rows are kept for up to a month longer, unless the
// retention is shorter than [exact].
func (r *Recorder) Prune(ctx context.Context, keep Retention, now time.Time) (p Pruned, err error) {
	if !keep.Arguments.IsZero() {
		if p.Arguments, err = r.pruneArguments(ctx, keep.Arguments.UnixMicro()); err != nil {
			return p, fmt.Errorf("prune audit arguments: %w", err)
		}
	}
	if p.KeptTexts, err = r.pruneTexts(ctx, keep); err != nil {
		return p, err
	}
	if !keep.Rows.IsZero() {
		if p.Rows, err = r.pruneRows(ctx, keep.Rows, now); err != nil {
			return p, fmt.Errorf("prune audit rows: %w", err)
		}
	}
	return p, nil
}

const (
	deleteArguments = "DELETE FROM record_arguments WHERE time < $1 AND ctid = ANY(ARRAY(" +
		"SELECT ctid FROM record_arguments WHERE time < $1 ORDER BY time LIMIT $2 FOR UPDATE SKIP LOCKED))"
	deleteDecisions = "DELETE FROM record_decisions WHERE written < $1 AND ctid = ANY(ARRAY(" +
		"SELECT ctid FROM record_decisions WHERE written < $1 ORDER BY written LIMIT $2 FOR UPDATE SKIP LOCKED))"
)

func (r *Recorder) pruneArguments(ctx context.Context, before int64) (n int64, err error) {
	return r.deleteAll(ctx, deleteArguments, before)
}

// deleteAll runs a statement that deletes a step of what is older than a time until nothing is left.
func (r *Recorder) deleteAll(ctx context.Context, query string, before int64) (n int64, err error) {
	for {
		gone := int64(0)
		err := r.db.Change(ctx, func(tx pgx.Tx) error {
			done, err := tx.Exec(ctx, query, before, pruneStep)
			gone = done.RowsAffected()
			return err
		})
		if n += gone; err != nil || gone < pruneStep {
			return n, err
		}
	}
}

func (r *Recorder) pruneRows(ctx context.Context, before, now time.Time) (n int64, err error) {
	parts, err := r.oldPartitions(ctx, before.UnixMicro())
	if err != nil {
		return n, err
	}
	for _, p := range parts {
		// Rows before the partition are in the default one. The rows of the partition are the first
		// ones of their chains only after they are gone.
		gone, err := r.deleteRows(ctx, p.begin, now)
		if n += gone; err != nil {
			return n, err
		}
		gone, err = r.drop(ctx, p, before.UnixMicro(), now)
		if n += gone; err != nil {
			return n, err
		}
	}
	end := before
	if now.Sub(before) > exact {
		u := before.UTC()
		end = time.Date(u.Year(), u.Month(), 1, 0, 0, 0, 0, time.UTC) // the rest of its month is in a partition
	}
	gone, err := r.deleteRows(ctx, end.UnixMicro(), now)
	if n += gone; err != nil {
		return n, err
	}
	_, err = r.deleteAll(ctx, deleteDecisions, end.UnixMicro())
	return n, err
}

// partition is the partition of a month.
type partition struct {
	name  string
	begin int64
}

// oldPartitions returns the partitions of months that end before a time, oldest first.
func (r *Recorder) oldPartitions(ctx context.Context, before int64) (parts []partition, err error) {
	var names []string
	err = r.db.Read(ctx, func(tx pgx.Tx) error {
		found, err := tx.Query(ctx, "SELECT partitions_of('records', $1)", before)
		if err != nil {
			return err
		}
		names, err = pgx.CollectRows(found, pgx.RowTo[string])
		return err
	})
	for _, name := range names {
		month, bad := time.Parse("records_2006_01", name)
		parts, err = append(parts, partition{name, month.UnixMicro()}), errors.Join(err, bad)
	}
	return parts, err
}

// deleteRows deletes the rows that were written before a time, in steps.
func (r *Recorder) deleteRows(ctx context.Context, before int64, now time.Time) (n int64, err error) {
	var old []int32
	err = r.db.Read(ctx, func(tx pgx.Tx) error {
		found, err := tx.Query(ctx, "SELECT number FROM record_chains c WHERE (SELECT written FROM records WHERE chain = c.number ORDER BY seq LIMIT 1) < $1", before)
		if err != nil {
			return err
		}
		old, err = pgx.CollectRows(found, pgx.RowTo[int32])
		return err
	})
	for _, chain := range old {
		for gone := int64(pruneStep); err == nil && gone == pruneStep; n += gone {
			gone = 0
			err = r.db.Change(ctx, func(tx pgx.Tx) (err error) {
				gone, err = r.deleteStep(ctx, tx, chain, before, now)
				return err
			})
		}
	}
	return n, err
}

// deleteStep deletes the first rows of a chain, if they were written before a time.
func (r *Recorder) deleteStep(ctx context.Context, tx pgx.Tx, chain int32, before int64, now time.Time) (n int64, err error) {
	ends, err := lockChains(ctx, tx, chain)
	if err != nil || len(ends) == 0 {
		return 0, err
	}
	var c removed
	found, err := tx.Query(ctx, "SELECT seq, written < $2, packed FROM records WHERE chain = $1 ORDER BY seq LIMIT $3", chain, before, pruneStep)
	if err != nil {
		return 0, err
	}
	var seq int64
	var old bool
	var stored, last []byte
	done := false
	_, err = pgx.ForEachRow(found, []any{&seq, &old, &stored}, func() error {
		if done = done || !old; !done {
			if c.count++; c.first == 0 {
				c.first = seq
			}
			c.last.Seq, last = seq, append(last[:0], stored...)
		}
		return nil
	})
	if err != nil || c.count == 0 {
		return 0, err
	}
	if c.last.Hash, err = hashOf(c.last.Seq, last); err != nil {
		return 0, err
	}
	if err := r.checkpoint(ctx, tx, ends[0], c, now); err != nil {
		return 0, err
	}
	deleted, err := tx.Exec(ctx, "DELETE FROM records WHERE chain = $1 AND seq <= $2", chain, c.last.Seq)
	return deleted.RowsAffected(), err
}

// drop drops a partition. It locks the partition first, to which nobody writes any more: while it waits
// for that, gates go on. The lock of the table, which they wait for, is held only for the rest.
func (r *Recorder) drop(ctx context.Context, p partition, before int64, now time.Time) (n int64, err error) {
	err = r.db.Change(ctx, func(tx pgx.Tx) error {
		n = 0
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = '10s'"); err != nil {
			return err
		}
		var exists bool
		if err := tx.QueryRow(ctx, "SELECT lock_records($1, $2)", p.name, before).Scan(&exists); err != nil || !exists {
			return err
		}
		ends, err := lockChains(ctx, tx, 0)
		if err != nil {
			return err
		}
		for _, t := range ends {
			c, err := removedWith(ctx, tx, p, t.chain.number)
			if err != nil {
				return err
			}
			if c.count == 0 {
				continue
			}
			if err := r.checkpoint(ctx, tx, t, c, now); err != nil {
				return err
			}
			n += c.count
		}
		_, err = tx.Exec(ctx, "SELECT drop_records($1, $2)", p.name, before)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// removed are the first rows of a chain, which are removed.
type removed struct {
	count, first int64
	last         stopgate.Checkpoint
}

// hashOf returns the hash of a stored row.
func hashOf(seq int64, stored auditrow.Stored) (string, error) {
	hash, ok := auditrow.HashOf(stored.Line(seq, nil))
	if !ok {
		return "", fmt.Errorf("row %d is not a row", seq)
	}
	return hash, nil
}

// removedWith returns the rows of a chain in a partition.
func removedWith(ctx context.Context, tx pgx.Tx, p partition, chain int32) (c removed, err error) {
	name := pgx.Identifier{p.name}.Sanitize()
	var last []byte
	err = tx.QueryRow(ctx, "SELECT (SELECT min(seq) FROM "+name+" WHERE chain = $1), seq, packed"+
		" FROM "+name+" WHERE chain = $1 ORDER BY seq DESC LIMIT 1", chain).Scan(&c.first, &c.last.Seq, &last)
	if errors.Is(err, pgx.ErrNoRows) {
		return removed{}, nil
	}
	if err == nil {
		c.last.Hash, err = hashOf(c.last.Seq, last)
	}
	if err != nil {
		return c, err
	}
	var before bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM records WHERE chain = $1 AND seq < $2)", chain, c.first).Scan(&before); err != nil {
		return c, err
	}
	if before {
		return c, fmt.Errorf("the rows in %s are not the first ones of chain %d", p.name, chain)
	}
	c.count = c.last.Seq - c.first + 1
	return c, nil
}

// lockChains locks a chain, or all of them, and returns their ends.
func lockChains(ctx context.Context, tx pgx.Tx, one int32) (ends []*chainEnd, err error) {
	found, err := tx.Query(ctx, "SELECT number, id, gate, seq, hash, written FROM record_chains WHERE $1 IN (0, number) ORDER BY number FOR UPDATE", one)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) (*chainEnd, error) {
		t := &chainEnd{chain: &chain{}}
		var gate []byte
		err := row.Scan(&t.chain.number, &t.chain.id, &gate, &t.head.Seq, &t.head.Hash, &t.written)
		t.chain.gate = string(gate)
		t.head = audit.Head{Chain: t.chain.id, Seq: t.head.Seq, Hash: t.head.Hash}
		return t, err
	})
}

// checkpoint appends the row that names the last of the removed rows.
func (r *Recorder) checkpoint(ctx context.Context, tx pgx.Tx, t *chainEnd, c removed, now time.Time) error {
	e, err := r.prepare(&stopgate.Record{
		Version: stopgate.RecordVersion, Time: now.UTC(), Kind: stopgate.RecordEvent, Event: stopgate.AuditCheckpoint,
		Cause: "pruned by " + r.o.Gate, Count: c.count, Checkpoint: &c.last,
	}, t.chain.gate)
	if err != nil {
		return err
	}
	var clock int64
	if err := tx.QueryRow(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").Scan(&clock); err != nil {
		return err
	}
	var batch pgx.Batch
	t.append(e)
	t.flush(func(query string, args ...any) { batch.Queue(query, args...) }, time.UnixMicro(clock))
	return tx.SendBatch(ctx, &batch).Close()
}
