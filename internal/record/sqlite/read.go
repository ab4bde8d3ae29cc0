package sqlite

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/jsonstream"
)

// page is the number of rows that one snapshot reads: a slow reader must not keep the database from
// restarting its log.
const page = 1000

// Rows calls f with the sealed lines after a number, oldest first, without their line ends, until f
// returns false. If session is not "", it selects the rows of that session. The line is valid only
// during the call.
func Rows(ctx context.Context, db *database.DB, after int64, session stopgate.SessionID, f func(seq int64, line []byte) bool) error {
	type row struct {
		seq  int64
		line []byte
	}
	query := "SELECT seq, line FROM audit_rows WHERE seq > ? ORDER BY seq LIMIT ?"
	args := []any{nil, page}
	if session != "" {
		query = "SELECT seq, line FROM audit_rows WHERE seq > ? AND session = ? ORDER BY seq LIMIT ?"
		args = []any{nil, string(session), page}
	}
	var rows []row
	for more := true; more; {
		args[0] = after
		err := db.Snapshot(ctx, func(tx *database.Tx) error {
			rows = rows[:0]
			found, err := tx.Query(query, args...)
			if err != nil {
				return err
			}
			defer found.Close()
			for found.Next() {
				var r row
				if err := found.Scan(&r.seq, &r.line); err != nil {
					return err
				}
				rows = append(rows, r)
			}
			return found.Err()
		})
		if err != nil {
			return fmt.Errorf("read audit rows: %w", err)
		}
		for _, r := range rows {
			if !f(r.seq, r.line) {
				return nil
			}
			after = r.seq
		}
		more = len(rows) == page
	}
	return nil
}

// Last returns the number of the row before the newest n rows.
func Last(ctx context.Context, db *database.DB, n int64) (after int64, err error) {
	err = db.Snapshot(ctx, func(tx *database.Tx) error {
		_, err := tx.Get([]any{&after}, "SELECT coalesce(max(seq), 0) - ? FROM audit_rows", n)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read audit rows: %w", err)
	}
	return max(after, 0), nil
}

// Newest returns the time of the last row, by the clock of its writer, or the zero time if there is
// none.
func Newest(ctx context.Context, db *database.DB) (at time.Time, err error) {
	var micro int64
	found, err := db.Get(ctx, []any{&micro}, "SELECT time FROM audit_rows ORDER BY seq DESC LIMIT 1")
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("read audit rows: %w", err)
	case found:
		at = time.UnixMicro(micro)
	}
	return at, nil
}

// Of returns the lines about one proposal, oldest first.
func Of(ctx context.Context, db *database.DB, id stopgate.ProposalID) (lines [][]byte, err error) {
	err = db.Snapshot(ctx, func(tx *database.Tx) error {
		lines = nil
		found, err := tx.Query("SELECT line FROM (SELECT seq, line FROM audit_rows WHERE final AND id = ?1 "+
			"UNION ALL SELECT seq, line FROM audit_rows WHERE NOT final AND id = ?1) ORDER BY seq", string(id))
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var line []byte
			if err := found.Scan(&line); err != nil {
				return err
			}
			lines = append(lines, line)
		}
		return found.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read audit rows: %w", err)
	}
	return lines, nil
}

// Head returns the end of the chain, for comparison with a copy kept elsewhere (S25).
func Head(ctx context.Context, db *database.DB) (head audit.Head, err error) {
	err = db.Snapshot(ctx, func(tx *database.Tx) error {
		var chain string
		if _, err := tx.Get([]any{&chain}, "SELECT id FROM audit_chain"); err != nil {
			return err
		}
		end, err := headOf(tx, chain)
		if err == nil {
			head = *end
		}
		return err
	})
	return head, err
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

// differs reports whether arguments that are stored in full have another hash.
func differs(hash string, text []byte) bool {
	v, err := jsonstream.Parse(text, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return true
	}
	sum := jsonstream.HashCanonical(v)
	return hex.EncodeToString(sum[:]) != hash
}

// ChangedArguments lists the hashes of arguments that were modified after they were stored.
func ChangedArguments(ctx context.Context, db *database.DB) (changed []string, err error) {
	for after, more := int64(0), true; more; {
		err := db.Snapshot(ctx, func(tx *database.Tx) error {
			rows, err := tx.Query("SELECT rowid, hash, text FROM audit_arguments WHERE rowid > ? AND redacted IS NULL ORDER BY rowid LIMIT ?", after, page)
			if err != nil {
				return err
			}
			defer rows.Close()
			n := 0
			for ; rows.Next(); n++ {
				var hash string
				var text []byte
				if err := rows.Scan(&after, &hash, &text); err != nil {
					return err
				}
				if differs(hash, text) {
					changed = append(changed, hash)
				}
			}
			more = n == page
			return rows.Err()
		})
		if err != nil {
			return nil, fmt.Errorf("read audit arguments: %w", err)
		}
	}
	return changed, nil
}

// ArgumentsOf returns the arguments of a hash; ok is false if they are not stored.
func ArgumentsOf(ctx context.Context, db *database.DB, hash string) (a Arguments, ok bool, err error) {
	err = db.Snapshot(ctx, func(tx *database.Tx) error {
		var redacted *string
		a = Arguments{}
		if ok, err = tx.Get([]any{&a.Text, &redacted}, "SELECT text, redacted FROM audit_arguments WHERE hash = ?", hash); err != nil {
			return err
		}
		a.Changed = ok && redacted == nil && differs(hash, a.Text)
		if redacted != nil {
			return json.Unmarshal([]byte(*redacted), &a.Redacted)
		}
		return nil
	})
	if err != nil {
		return Arguments{}, false, fmt.Errorf("read audit arguments: %w", err)
	}
	return a, ok, nil
}
