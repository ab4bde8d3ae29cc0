package postgres

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
	"github.com/stopgate/stopgate/jsonstream"
)

// page is the number of rows that one statement reads, so that a slow reader holds no locks that
// dropping a partition waits for.
const page = 1000

// Chain is a chain of the database with its head.
type Chain struct {
	Number int32
	Gate   string
	audit.Head
}

// Chains returns the chains that have rows, ordered by gate and age.
func Chains(ctx context.Context, db *pgdb.DB) (list []Chain, err error) {
	err = db.Read(ctx, func(tx pgx.Tx) error {
		list, err = chains(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the chains of audit rows: %w", err)
	}
	return list, nil
}

func chains(ctx context.Context, tx pgx.Tx) ([]Chain, error) {
	found, err := tx.Query(ctx, "SELECT number, gate, id, seq, hash FROM record_chains WHERE seq > 0 ORDER BY gate, number")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) (c Chain, err error) {
		var gate []byte
		err = row.Scan(&c.Number, &gate, &c.Chain, &c.Seq, &c.Hash)
		c.Gate = string(gate)
		return c, err
	})
}

// Line is a sealed row without its line end.
type Line struct {
	Chain   int32
	Seq     int64
	Text    []byte
	written int64
}

// ChainLines calls f with the lines of one chain after a number, in their order, until f returns
// false.
func ChainLines(ctx context.Context, db *pgdb.DB, chain int32, after int64, f func(Line) bool) error {
	for {
		lines, err := query(ctx, db, "SELECT chain, seq, packed, written FROM records WHERE chain = $1 AND seq > $2 ORDER BY seq LIMIT $3", chain, after, page)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if !f(l) {
				return nil
			}
			after = l.Seq
		}
		if len(lines) < page {
			return nil
		}
	}
}

// readTimeout bounds a statement that may read a whole partition.
const readTimeout = "SET LOCAL statement_timeout = '5min'"

// query reads lines.
func query(ctx context.Context, db *pgdb.DB, sql string, args ...any) (lines []Line, err error) {
	err = db.Read(ctx, func(tx pgx.Tx) error {
		var batch pgx.Batch
		batch.Queue(readTimeout)
		batch.Queue(sql, args...).Query(func(found pgx.Rows) (err error) {
			lines, err = pgx.CollectRows(found, func(row pgx.CollectableRow) (l Line, err error) {
				var stored auditrow.Stored
				err = row.Scan(&l.Chain, &l.Seq, (*[]byte)(&stored), &l.written)
				l.Text = stored.Line(l.Seq, nil)
				return l, err
			})
			return err
		})
		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return nil, fmt.Errorf("read audit rows: %w", err)
	}
	return lines, nil
}

// Newest returns the time of the newest row, by the clock of its writer, or the zero time if there is
// none.
func Newest(ctx context.Context, db *pgdb.DB) (at time.Time, err error) {
	err = db.Read(ctx, func(tx pgx.Tx) error {
		var micro int64
		err := tx.QueryRow(ctx, "SELECT time FROM records ORDER BY written DESC, chain DESC, seq DESC LIMIT 1").Scan(&micro)
		if errors.Is(err, pgx.ErrNoRows) {
			at = time.Time{}
			return nil
		}
		at = time.UnixMicro(micro)
		return err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("read audit rows: %w", err)
	}
	return at, nil
}

// Of returns the lines about one proposal, oldest first.
func Of(ctx context.Context, db *pgdb.DB, id stopgate.ProposalID) ([]Line, error) {
	return query(ctx, db, "SELECT chain, seq, packed, written FROM records WHERE id = $1 ORDER BY written, chain, seq", []byte(id))
}

// Arguments are the stored arguments of a row.
type Arguments struct {
	Text []byte
	// Redacted are the pointers of the redacted values.
	Redacted []string
	// Changed reports that the arguments no longer have the hash of the row. Redacted arguments are
	// not compared.
	Changed bool
}

// ArgumentsOf returns the arguments of a hash; ok is false if they are not stored.
func ArgumentsOf(ctx context.Context, db *pgdb.DB, hash string) (a Arguments, ok bool, err error) {
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return a, false, nil
	}
	err = db.Read(ctx, func(tx pgx.Tx) error {
		var redacted *string
		a = Arguments{}
		err := tx.QueryRow(ctx, "SELECT text, redacted FROM record_arguments WHERE hash = $1 ORDER BY redacted NULLS FIRST, chain LIMIT 1", sum).Scan(&a.Text, &redacted)
		if ok = err == nil; errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if redacted != nil {
			return json.Unmarshal([]byte(*redacted), &a.Redacted)
		}
		a.Changed = differs(sum, a.Text)
		return nil
	})
	if err != nil {
		return Arguments{}, false, fmt.Errorf("read audit arguments: %w", err)
	}
	return a, ok, nil
}

// differs reports whether arguments that are stored in full have another hash.
func differs(hash, text []byte) bool {
	v, err := jsonstream.Parse(text, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return true
	}
	sum := jsonstream.HashCanonical(v)
	return string(sum[:]) != string(hash)
}

// ChangedArguments lists the hashes of arguments that were modified after they were stored.
func ChangedArguments(ctx context.Context, db *pgdb.DB) (changed []string, err error) {
	hash, chain := []byte{}, int32(0)
	for more := true; more; {
		err := db.Read(ctx, func(tx pgx.Tx) error {
			found, err := tx.Query(ctx, "SELECT hash, chain, text, redacted IS NOT NULL FROM record_arguments WHERE (hash, chain) > ($1, $2) ORDER BY hash, chain LIMIT $3", hash, chain, page)
			if err != nil {
				return err
			}
			n := 0
			var sum, text []byte
			var of int32
			var redacted bool
			_, err = pgx.ForEachRow(found, []any{&sum, &of, &text, &redacted}, func() error {
				if n++; !redacted && differs(sum, text) {
					changed = append(changed, hex.EncodeToString(sum))
				}
				hash, chain = append(hash[:0], sum...), of
				return nil
			})
			more = n == page
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read audit arguments: %w", err)
		}
	}
	return changed, nil
}

// FirstRow returns the number of the first row of a chain, 0 without rows.
func FirstRow(ctx context.Context, db *pgdb.DB, chain int32) (seq int64, err error) {
	lines, err := query(ctx, db, "SELECT chain, seq, packed, written FROM records WHERE chain = $1 ORDER BY seq LIMIT 1", chain)
	if len(lines) > 0 {
		seq = lines[0].Seq
	}
	return seq, err
}

// foreignRows finds the numbers of chains by skipping from one to the next in the index.
const foreignRows = "WITH RECURSIVE found AS ((SELECT chain FROM records ORDER BY chain LIMIT 1) UNION ALL " +
	"SELECT (SELECT chain FROM records WHERE chain > f.chain ORDER BY chain LIMIT 1) FROM found f WHERE f.chain IS NOT NULL) " +
	"SELECT chain FROM found WHERE chain IS NOT NULL AND NOT EXISTS (SELECT FROM record_chains WHERE number = found.chain AND seq > 0)"

// ForeignRows returns the numbers of chains that have rows and are not in the list of chains.
func ForeignRows(ctx context.Context, db *pgdb.DB) (numbers []int32, err error) {
	err = db.Read(ctx, func(tx pgx.Tx) error {
		found, err := tx.Query(ctx, foreignRows)
		if err != nil {
			return err
		}
		numbers, err = pgx.CollectRows(found, pgx.RowTo[int32])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the chains of audit rows: %w", err)
	}
	return numbers, nil
}
