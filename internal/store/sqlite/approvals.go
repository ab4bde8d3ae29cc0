package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/store/database"
)

var _ approve.Store = (*Store)(nil)

// AddEntry implements [approve.Store].
func (s *Store) AddEntry(ctx context.Context, e approve.Entry, same func(approve.Entry) bool) (kept approve.Entry, err error) {
	binding := bindingOf(&e)
	err = s.db.Change(ctx, func(tx *database.Tx) error {
		kept = e
		if binding != "" {
			found := false
			err := list(tx, func(old approve.Entry) bool {
				if found = old.Complete && old.Binding == e.Binding && same(old); found {
					kept = old
				}
				return !found
			}, "SELECT body FROM approvals WHERE binding = ? AND binding <> '' ORDER BY number DESC", binding)
			if err != nil || found {
				return err
			}
		}
		body, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = tx.Exec("INSERT INTO approvals(id, binding, state, principal, session, expires, body) VALUES(?, ?, ?, ?, ?, ?, ?)",
			e.ID, binding, string(e.State), string(e.Principal), string(e.Session), e.Expires.UnixMicro(), body)
		return err
	})
	return kept, withOperation("store the question", err)
}

// Entry implements [approve.Store].
func (s *Store) Entry(ctx context.Context, id string) (e approve.Entry, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		e, err = get[approve.Entry](tx, "SELECT body FROM approvals WHERE id = ?", id)
		return err
	})
	return e, withOperation("read the question", err)
}

// Entries implements [approve.Store].
func (s *Store) Entries(ctx context.Context, f approve.Filter) (out []approve.Entry, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		out = nil
		return list(tx, func(e approve.Entry) bool {
			if f.Matches(e) {
				out = append(out, e)
			}
			return f.Limit <= 0 || len(out) < f.Limit
		}, "SELECT body FROM approvals WHERE (?1 = '' OR state = ?1) AND (?2 = '' OR principal = ?2) AND (?3 = '' OR session = ?3) "+
			"AND expires >= ?4 ORDER BY number DESC", string(f.State), string(f.Principal), string(f.Session), earliestEnd(f.Live))
	})
	return out, withOperation("list the questions", err)
}

// ChangeEntry implements [approve.Store].
func (s *Store) ChangeEntry(ctx context.Context, id string, change func(approve.Entry) (approve.Entry, error)) (approve.Entry, error) {
	e, err := rewrite(ctx, s.db, "SELECT body FROM approvals WHERE id = ?", id, change, func(tx *database.Tx, e *approve.Entry) error {
		body, err := s.bodyOf(*e)
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE approvals SET binding = ?, state = ?, principal = ?, session = ?, expires = ?, body = ? WHERE id = ?",
			bindingOf(e), string(e.State), string(e.Principal), string(e.Session), e.Expires.UnixMicro(), body, id)
		return err
	})
	return e, withOperation("change the question", err)
}

// bindingOf returns the key under which equal questions are found, or "" while the question is
// incomplete.
func bindingOf(e *approve.Entry) string {
	if !e.Complete {
		return ""
	}
	return e.Binding.Hash()
}

// AddGrant implements [approve.Store].
func (s *Store) AddGrant(ctx context.Context, g approve.Grant) error {
	body, err := json.Marshal(g)
	if err != nil {
		return withOperation("store the grant", err)
	}
	return withOperation("store the grant", s.db.Change(ctx, func(tx *database.Tx) error {
		_, err := tx.Exec("INSERT INTO grants(id, principal, tool, expires, body) VALUES(?, ?, ?, ?, ?)",
			g.ID, string(g.Principal), string(g.Tool), g.Expires.UnixMicro(), body)
		return err
	}))
}

// Grants implements [approve.Store].
func (s *Store) Grants(ctx context.Context, f approve.GrantFilter) (out []approve.Grant, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		out = nil
		return list(tx, func(g approve.Grant) bool {
			if f.Matches(g) {
				out = append(out, g)
			}
			return true
		}, "SELECT body FROM grants WHERE (?1 = '' OR principal = ?1) AND (?2 = '' OR tool = ?2) AND expires >= ?3 ORDER BY number DESC",
			string(f.Principal), string(f.Tool), earliestEnd(f.Live))
	})
	return out, withOperation("list the grants", err)
}

// ChangeGrant implements [approve.Store].
func (s *Store) ChangeGrant(ctx context.Context, id string, change func(approve.Grant) (approve.Grant, error)) (approve.Grant, error) {
	g, err := rewrite(ctx, s.db, "SELECT body FROM grants WHERE id = ?", id, change, func(tx *database.Tx, g *approve.Grant) error {
		body, err := json.Marshal(g)
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE grants SET principal = ?, tool = ?, expires = ?, body = ? WHERE id = ?",
			string(g.Principal), string(g.Tool), g.Expires.UnixMicro(), body, id)
		return err
	})
	return g, withOperation("change the grant", err)
}

// rewrite reads a body, changes it and writes it. It returns a zero x after an error.
func rewrite[T any](ctx context.Context, db *database.DB, query, id string, change func(T) (T, error), write func(*database.Tx, *T) error) (x T, err error) {
	err = db.Change(ctx, func(tx *database.Tx) error {
		now, err := get[T](tx, query, id)
		if err != nil {
			return err
		}
		if x, err = change(now); err != nil {
			return err
		}
		return write(tx, &x)
	})
	if err != nil {
		var none T
		return none, err
	}
	return x, nil
}

// Attend implements [approve.Store].
func (s *Store) Attend(ctx context.Context, until time.Time) error {
	return withOperation("store the attendance", s.db.Change(ctx, func(tx *database.Tx) error {
		_, err := tx.Exec("INSERT INTO attendance(one, until) VALUES(1, ?1) ON CONFLICT(one) DO UPDATE SET until = excluded.until "+
			"WHERE until < ?1 OR until > ?1 + ?2", until.UnixMicro(), approve.MaxAttendance.Microseconds())
		return err
	}))
}

// Attended implements [approve.Store].
func (s *Store) Attended(ctx context.Context) (until time.Time, err error) {
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		var micro int64
		found, err := tx.Get([]any{&micro}, "SELECT until FROM attendance")
		if until = (time.Time{}); found {
			until = time.UnixMicro(micro).UTC()
		}
		return err
	})
	return until, withOperation("read the attendance", err)
}

// Prune implements [approve.Store].
func (s *Store) Prune(ctx context.Context, before time.Time) (n int, err error) {
	err = s.db.Change(ctx, func(tx *database.Tx) error {
		n = 0
		for _, query := range []string{"DELETE FROM approvals WHERE expires < ?", "DELETE FROM grants WHERE expires < ?"} {
			done, err := tx.Exec(query, before.UnixMicro())
			if err != nil {
				return err
			}
			removed, err := done.RowsAffected()
			if err != nil {
				return err
			}
			n += int(removed)
		}
		return nil
	})
	return n, withOperation("prune questions and grants", err)
}

// earliestEnd returns the earliest expiry, in microseconds, that a filter accepts: any for the zero
// time.
func earliestEnd(t time.Time) int64 {
	if t.IsZero() {
		return -1 << 63
	}
	return t.UnixMicro()
}

// get reads one body.
func get[T any](tx *database.Tx, query, id string) (x T, err error) {
	var body []byte
	found, err := tx.Get([]any{&body}, query, id)
	switch {
	case err != nil:
	case !found:
		err = approve.ErrUnknown
	default:
		err = json.Unmarshal(body, &x)
	}
	return x, err
}

// list reads bodies until more returns false.
func list[T any](tx *database.Tx, more func(T) bool, query string, args ...any) error {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var body []byte
		var x T
		if err := rows.Scan(&body); err != nil {
			return err
		}
		if err := json.Unmarshal(body, &x); err != nil {
			return err
		}
		if !more(x) {
			return nil
		}
	}
	return rows.Err()
}

// withOperation adds the operation to an error of the database. Errors of the queue itself are
// returned unchanged.
func withOperation(operation string, err error) error {
	var u *database.UntrustedError
	if err == nil || !(errors.Is(err, database.ErrBusy) || errors.As(err, &u)) {
		return err
	}
	return fmt.Errorf("%s: %w", operation, err)
}
