package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/database"
	"github.com/stopgate/stopgate/session"
)

// Load returns cells as of one moment.
func (s *Store) Load(ctx context.Context, o session.Owner, keys []session.Key) (state session.State, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		at, err := locate(tx, o)
		if err == nil {
			state, err = load(tx, at, keys)
		}
		return err
	})
	if err != nil {
		return session.State{}, fmt.Errorf("load session: %w", err)
	}
	return state, nil
}

// Update decides on the current state and writes what the change says, facts and
// row in one transaction, or nothing.
func (s *Store) Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	return s.db.Change(ctx, func(tx *database.Tx) error {
		at, err := locate(tx, o)
		if err != nil {
			return fmt.Errorf("load session: %w", err)
		}
		state, err := load(tx, at, keys)
		if err != nil {
			return fmt.Errorf("load session: %w", err)
		}
		change, err := decide(state)
		if err != nil {
			return err
		}
		if len(change.Facts) > 0 {
			next, facts, err := state.Append(change.Facts)
			if err != nil {
				return err
			}
			if err := keep(tx, o, at, next, facts); err != nil {
				return fmt.Errorf("keep facts: %w", err)
			}
		}
		if change.Row == nil {
			return nil
		}
		row, err := s.records.Prepare(change.Row)
		if err != nil {
			return err
		}
		return s.records.Write(tx, row)
	})
}

// place is where an owner's state lies; ids are 0 for what nobody wrote to yet.
type place struct {
	principal, session int64
	head               uint64
}

func locate(tx *database.Tx, o session.Owner) (at place, err error) {
	_, err = tx.Get([]any{&at.principal, &at.head, &at.session},
		"SELECT p.id, p.head, coalesce((SELECT id FROM sessions WHERE principal = p.id AND name = ?), 0) FROM principals p WHERE p.name = ?",
		string(o.Session), string(o.Principal))
	return at, err
}

// load reads the cells of both scopes.
func load(tx *database.Tx, at place, keys []session.Key) (session.State, error) {
	cells := make([]session.Entry, len(keys))
	for i, k := range keys {
		cells[i] = session.Entry{Key: k, Cell: new(session.Cell)}
	}
	for _, scope := range []struct {
		of    session.Scope
		owner int64
	}{{session.OfSession, at.session}, {session.OfPrincipal, -at.principal}} {
		if scope.owner == 0 {
			continue
		}
		if err := fill(tx, scope.owner, scope.of, cells); err != nil {
			return session.State{}, err
		}
	}
	return session.NewState(at.head, cells), nil
}

// cellsQuery has room for some keys; the numbers of rooms are powers of two, so
// that there are few statements.
func cellsQuery(rooms int) string {
	return "SELECT key, cell FROM cells WHERE owner = ? AND key IN (?" + strings.Repeat(", ?", rooms-1) + ")"
}

// maxRooms bounds the keys of one query.
const maxRooms = 64

// fill reads the cells of one owner into their places.
func fill(tx *database.Tx, owner int64, scope session.Scope, cells []session.Entry) error {
	places := map[string][]int{}
	var texts []any
	for i := range cells {
		if cells[i].Key.Scope != scope {
			continue
		}
		text := cells[i].Key.Text()
		if places[text] == nil {
			texts = append(texts, text)
		}
		places[text] = append(places[text], i)
	}
	for len(texts) > 0 {
		n := min(len(texts), maxRooms)
		rooms := 1
		for rooms < n {
			rooms *= 2
		}
		args := make([]any, 1, 1+rooms)
		args[0] = owner
		args = append(args, texts[:n]...)
		for len(args) <= rooms {
			args = append(args, nil)
		}
		if err := read(tx, cellsQuery(rooms), args, places, cells); err != nil {
			return err
		}
		texts = texts[n:]
	}
	return nil
}

func read(tx *database.Tx, query string, args []any, places map[string][]int, cells []session.Entry) error {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var text []byte
		if err := rows.Scan(&key, &text); err != nil {
			return err
		}
		cell, err := session.UnmarshalCell(text)
		if err != nil {
			return err
		}
		for _, i := range places[key] {
			cells[i].Cell = &cell
		}
	}
	return rows.Err()
}

// keep writes what an update changed.
func keep(tx *database.Tx, o session.Owner, at place, next session.State, facts []session.Fact) error {
	last := facts[len(facts)-1].At
	if _, err := tx.Get([]any{&at.principal}, "INSERT INTO principals(name, head) VALUES(?, ?) "+
		"ON CONFLICT(name) DO UPDATE SET head = excluded.head RETURNING id", string(o.Principal), next.Head); err != nil {
		return err
	}
	if _, err := tx.Get([]any{&at.session}, "INSERT INTO sessions(principal, name, facts, first, last, head) VALUES(?, ?, ?, ?, ?, ?) "+
		"ON CONFLICT(principal, name) DO UPDATE SET facts = facts + excluded.facts, last = excluded.last, head = excluded.head RETURNING id",
		at.principal, string(o.Session), len(facts), facts[0].At, last, next.Head); err != nil {
		return err
	}
	for _, e := range next.Entries() {
		if !e.Changed {
			continue
		}
		owner := at.session
		if e.Key.Scope == session.OfPrincipal {
			owner = -at.principal
		}
		_, err := tx.Exec("INSERT INTO cells(owner, key, at, cell) VALUES(?, ?, ?, ?) "+
			"ON CONFLICT(owner, key) DO UPDATE SET at = excluded.at, cell = excluded.cell", owner, e.Key.Text(), e.Cell.At, session.MarshalCell(*e.Cell))
		if err != nil {
			return err
		}
	}
	for _, f := range facts {
		text, err := json.Marshal(f)
		if err != nil {
			return err
		}
		_, err = tx.Exec("INSERT INTO facts(session, seq, at, fact) VALUES(?, ?, ?, ?)", at.session, f.Seq, f.At, text)
		if err != nil {
			return err
		}
	}
	return nil
}

// Facts returns facts of the session behind a position.
func (s *Store) Facts(ctx context.Context, o session.Owner, after uint64, limit int) (facts []session.Fact, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		facts = nil
		at, err := locate(tx, o)
		if err != nil {
			return err
		}
		rows, err := tx.Query("SELECT fact FROM facts WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?", at.session, after, max(limit, 0))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text []byte
			var f session.Fact
			if err := rows.Scan(&text); err != nil {
				return err
			}
			if err := json.Unmarshal(text, &f); err != nil {
				return err
			}
			facts = append(facts, f)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return facts, nil
}

// Sessions lists sessions, the one with the newest fact first.
func (s *Store) Sessions(ctx context.Context, of stopgate.Principal, limit int) (list []session.Info, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		list = nil
		rows, err := tx.Query("SELECT p.name, s.name, s.facts, s.first, s.last, s.head FROM sessions s JOIN principals p ON p.id = s.principal "+
			"WHERE ?1 = '' OR p.name = ?1 ORDER BY s.last DESC, s.head DESC, p.name, s.name LIMIT ?2", string(of), max(limit, 0))
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
