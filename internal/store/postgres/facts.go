package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	records "github.com/stopgate/stopgate/internal/record/postgres"
	"github.com/stopgate/stopgate/internal/store/encoding"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
	"github.com/stopgate/stopgate/session"
)

// update is an update of a session as a part of a transaction.
type update struct {
	s      *Store
	owner  session.Owner
	keys   []session.Key
	decide func(session.State) (gate.Change, error)
}

// Read implements [pgdb.Part].
func (u *update) Read(tx *pgdb.Tx) {
	u.s.records.Read(tx)
	u.s.batchOf(tx).announce(u.owner, u.keys)
}

// Run implements [pgdb.Part].
func (u *update) Run(tx *pgdb.Tx) error {
	b := u.s.batchOf(tx)
	state := b.state(u.owner, u.keys)
	if state == nil {
		return pgdb.ErrLater
	}
	change, err := u.decide(*state)
	if err != nil {
		return err
	}
	if change.Releases && b.lockdown.Active() {
		return &gate.LockdownError{Lockdown: b.lockdown}
	}
	rows := make([]records.Entry, len(change.Rows))
	for i, r := range change.Rows {
		if rows[i], err = u.s.records.Prepare(r); err != nil {
			return err
		}
	}
	if len(change.Facts) > 0 {
		next, facts, err := state.Append(change.Facts)
		if err != nil {
			return err
		}
		b.keep(u.owner, next, facts)
	}
	for _, row := range rows {
		if err := u.s.records.Write(tx, row); err != nil {
			return err
		}
	}
	return nil
}

// Update calls decide with the current state and writes the facts and the rows of the change in one
// transaction, which is rolled back if decide or a write fails.
func (s *Store) Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	return s.db.Do(ctx, &update{s, o, keys, decide})
}

// Facts returns facts of the session after a position.
func (s *Store) Facts(ctx context.Context, o session.Owner, after uint64, limit int) (facts []session.Fact, err error) {
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		facts = nil
		var text []byte
		_, err := pgx.ForEachRow(rows, []any{&text}, func() error {
			f, err := encoding.UnmarshalFact(text, nil)
			facts = append(facts, f)
			return err
		})
		return err
	}, "SELECT packed FROM facts WHERE session = $1 AND seq > $2 ORDER BY seq LIMIT $3",
		idOf(ofSession, string(o.Principal), string(o.Session)), int64(min(after, 1<<62)), max(limit, 0))
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return facts, nil
}

// Principals lists the principals that have a session with this name.
func (s *Store) Principals(ctx context.Context, id stopgate.SessionID, limit int) (list []stopgate.Principal, err error) {
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		list = nil
		var name []byte
		_, err := pgx.ForEachRow(rows, []any{&name}, func() error {
			list = append(list, stopgate.Principal(name))
			return nil
		})
		return err
	}, "SELECT p.name FROM sessions s JOIN principals p ON p.id = s.principal WHERE s.name = $1 ORDER BY p.name LIMIT $2", []byte(id), max(limit, 0))
	if err != nil {
		return nil, fmt.Errorf("list principals: %w", err)
	}
	return list, nil
}

// Sessions lists sessions, the one with the newest fact first.
func (s *Store) Sessions(ctx context.Context, of stopgate.Principal, limit int) (list []session.Info, err error) {
	var principal []byte
	if of != "" {
		principal = idOf(ofPrincipal, string(of))
	}
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		list = nil
		var name, id []byte
		var i session.Info
		_, err := pgx.ForEachRow(rows, []any{&name, &id, &i.Facts, &i.First, &i.Last, &i.Head}, func() error {
			i.Owner = session.Owner{Principal: stopgate.Principal(name), Session: stopgate.SessionID(id)}
			list = append(list, i)
			return nil
		})
		return err
	}, "SELECT p.name, s.name, s.facts, s.first, s.last, s.head FROM sessions s JOIN principals p ON p.id = s.principal "+
		"WHERE $1::bytea IS NULL OR s.principal = $1 ORDER BY s.last DESC, s.head DESC, p.name, s.name LIMIT $2", principal, max(limit, 0))
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return list, nil
}
