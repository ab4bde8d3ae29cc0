package sqlite

import (
	"context"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/internal/store/encoding"
	"github.com/stopgate/stopgate/session"
)

// Load returns a consistent state of cells.
func (s *Store) Load(ctx context.Context, o session.Owner, keys []session.Key) (state session.State, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		state, err = newBatch(tx, s.records.Names()).load(o, keys)
		return err
	})
	if err != nil {
		return session.State{}, fmt.Errorf("load session: %w", err)
	}
	return state, nil
}

// Update calls decide with the current state and writes the facts and the row of the change in one
// transaction, which it rolls back if decide or a write fails.
func (s *Store) Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	return s.db.Change(ctx, func(tx *database.Tx) error {
		b := s.batchOf(tx)
		state, err := b.load(o, keys)
		if err != nil {
			return fmt.Errorf("load session: %w", err)
		}
		change, err := decide(state)
		if err != nil {
			return err
		}
		if change.Texts != nil { // first: it may refuse the change
			if err := s.appendTexts(tx, change.TextsOf, change.Texts); err != nil {
				return err
			}
		}
		if len(change.Facts) > 0 {
			next, facts, err := state.Append(change.Facts)
			if err != nil {
				return err
			}
			if err := b.keep(o, next, facts); err != nil {
				return fmt.Errorf("store facts: %w", err)
			}
		}
		for _, r := range change.Rows {
			row, err := s.records.Prepare(r)
			if err == nil {
				err = s.records.Write(tx, row)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, s.likely...)
}

// Facts returns facts of the session after a position.
func (s *Store) Facts(ctx context.Context, o session.Owner, after uint64, limit int) (facts []session.Fact, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		facts = nil
		rows, err := tx.Query("SELECT stored FROM facts WHERE session = ("+
			"SELECT s.id FROM sessions p JOIN sessions s ON s.principal = -p.id WHERE p.principal = 0 AND p.name = ? AND s.name = ?) AND seq > ? ORDER BY seq LIMIT ?",
			string(o.Principal), string(o.Session), after, max(limit, 0))
		if err != nil {
			return err
		}
		defer rows.Close()
		var list [][]byte
		for rows.Next() {
			var stored []byte
			if err := rows.Scan(&stored); err != nil {
				return err
			}
			list = append(list, stored)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		names := s.records.Names().In(tx)
		for _, stored := range list {
			f, err := encoding.UnmarshalFact(stored, names)
			if err != nil {
				return err
			}
			facts = append(facts, f)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return facts, nil
}

// Principals lists the principals that have a session with this name.
func (s *Store) Principals(ctx context.Context, id stopgate.SessionID, limit int) (list []stopgate.Principal, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		list = nil
		rows, err := tx.Query("SELECT p.name FROM sessions p JOIN sessions s ON s.principal = -p.id AND s.name = ?1 WHERE p.principal = 0 ORDER BY p.name LIMIT ?2", string(id), max(limit, 0))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name stopgate.Principal
			if err := rows.Scan(&name); err != nil {
				return err
			}
			list = append(list, name)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list principals: %w", err)
	}
	return list, nil
}

// Sessions lists sessions, the one with the newest fact first.
func (s *Store) Sessions(ctx context.Context, of stopgate.Principal, limit int) (list []session.Info, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		list = nil
		rows, err := tx.Query("SELECT p.name, s.name, s.facts, s.first, s.last, s.head FROM sessions s JOIN sessions p ON p.id = -s.principal "+
			"WHERE s.principal > 0 AND (?1 = '' OR p.name = ?1) ORDER BY s.last DESC, s.head DESC, p.name, s.name LIMIT ?2", string(of), max(limit, 0))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var i session.Info
			if err := rows.Scan(&i.Owner.Principal, &i.Owner.Session, &i.Facts, &i.First, &i.Last, &i.Head); err != nil {
				return err
			}
			list = append(list, i)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return list, nil
}
