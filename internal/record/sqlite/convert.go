package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/store/database"
)

// convertStep is how many rows, and arguments, of an earlier version one change converts, so that writers need not wait for all of
// them.
const convertStep = 500

// Unconverted returns how many rows and arguments have the form of an earlier version. All of them are read as they are, but
// take more space, and more time to find.
func Unconverted(ctx context.Context, db *database.DB) (n int64, err error) {
	err = db.Snapshot(ctx, func(tx *database.Tx) error {
		n, err = unconverted(tx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("audit rows of an earlier version: %w", err)
	}
	return n, nil
}

func unconverted(tx *database.Tx) (n int64, err error) {
	_, err = tx.Get([]any{&n}, "SELECT max(old - max(converted, coalesce((SELECT min(seq) FROM audit_rows), old + 1) - 1), 0) "+
		"+ EXISTS (SELECT 1 FROM audit_arguments) FROM audit_chain")
	return n, err
}

// Convert writes rows and arguments of an earlier version in the form of this one, in steps, and calls progress after each
// with the number of rows that are left. It can be interrupted, and goes on where it was. The lines of the rows stay what they are.
func Convert(ctx context.Context, db *database.DB, progress func(left int64)) error {
	var names Names
	for {
		var left int64
		err := db.Change(ctx, func(tx *database.Tx) error {
			if err := flush(tx); err != nil {
				return err
			}
			err := convertRows(tx, &names)
			if err == nil {
				err = convertArguments(tx)
			}
			if err == nil {
				left, err = unconverted(tx)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("convert audit rows: %w", err)
		}
		if progress(left); left == 0 {
			return nil
		}
	}
}

const (
	oldRows     = "SELECT seq, stored FROM audit_rows WHERE seq > (SELECT converted FROM audit_chain) AND seq <= (SELECT old FROM audit_chain) ORDER BY seq LIMIT ?"
	convertRow  = "UPDATE audit_rows SET class = ?, owner = ?, session = NULL, stored = ? WHERE seq = ?"
	convertedTo = "UPDATE audit_chain SET converted = ?"

	oldArgumentRows = "SELECT hash, time, redacted, text FROM audit_arguments ORDER BY hash LIMIT ?"
	removeOld       = "DELETE FROM audit_arguments WHERE hash <= ?"
)

func convertRows(tx *database.Tx, names *Names) error {
	rows, err := queryRows(tx, nil, oldRows, convertStep)
	if err != nil {
		return err
	}
	t, epoch, err := endOf(tx, "", names)
	if err != nil {
		return err
	}
	var known classes
	known.at(epoch)
	in := names.In(tx)
	for _, r := range rows {
		r.expand(in)
		number, owner := unclassed, any(nil)
		var row stopgate.Record
		if json.Unmarshal(r.line, &row) == nil { // verify reports the others
			if number, err = t.number(tx, &known, classOf(&row)); err != nil {
				return err
			}
			owner = ownerOf(string(row.Session))
			repeated := namesOf(&row)
			names.Want(tx, row.Chain, repeated[0], repeated[1])
		}
		if _, err := tx.Exec(convertRow, number, owner, []byte(auditrow.Store(r.seq, r.line, names)), r.seq); err != nil {
			return err
		}
	}
	if len(rows) == 0 {
		_, err = tx.Exec("UPDATE audit_chain SET converted = old WHERE converted < old")
		return err
	}
	_, err = tx.Exec(convertedTo, rows[len(rows)-1].seq)
	return err
}

func convertArguments(tx *database.Tx) error {
	type kept struct {
		hash     string
		time     int64
		redacted *string
		text     []byte
	}
	rows, err := tx.Query(oldArgumentRows, convertStep)
	if err != nil {
		return err
	}
	defer rows.Close()
	var list []kept
	for rows.Next() {
		var k kept
		if err := rows.Scan(&k.hash, &k.time, &k.redacted, &k.text); err != nil {
			return err
		}
		list = append(list, k)
	}
	if err := rows.Err(); err != nil || len(list) == 0 {
		return err
	}
	rows.Close()
	for _, k := range list {
		if sum := sumOf(k.hash); sum != nil {
			if _, err := tx.Exec(insertArguments.Row(), sum, k.time, k.redacted, packed(k.text)); err != nil {
				return err
			}
		}
	}
	_, err = tx.Exec(removeOld, list[len(list)-1].hash)
	return err
}
