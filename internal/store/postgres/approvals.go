package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/approve"
)

var _ approve.Store = (*Store)(nil)

// bindingOf returns the key under which equal questions are found, or "" while the question is
// incomplete.
func bindingOf(e *approve.Entry) string {
	if !e.Complete {
		return ""
	}
	return e.Binding.Hash()
}

// AddEntry implements [approve.Store]. Questions with the same binding are added one after the other.
func (s *Store) AddEntry(ctx context.Context, e approve.Entry, same func(approve.Entry) bool) (kept approve.Entry, err error) {
	binding := bindingOf(&e)
	err = s.db.Change(ctx, func(tx pgx.Tx) error {
		kept = e
		if binding != "" {
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", binding); err != nil {
				return err
			}
			found := false
			err := list(ctx, tx, func(old approve.Entry) bool {
				if found = old.Complete && old.Binding == e.Binding && same(old); found {
					kept = old
				}
				return !found
			}, "SELECT body FROM approvals WHERE binding = $1 AND binding <> '' ORDER BY number DESC", []byte(binding))
			if err != nil || found {
				return err
			}
		}
		body, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO approvals(id, binding, state, principal, session, expires, body) VALUES($1, $2, $3, $4, $5, $6, $7)",
			[]byte(e.ID), []byte(binding), []byte(e.State), []byte(e.Principal), []byte(e.Session), e.Expires.UnixMicro(), body)
		if err != nil {
			return err
		}
		return s.db.Notify(ctx, tx, question)
	})
	return kept, operation("store the question", err)
}

// Entry implements [approve.Store].
func (s *Store) Entry(ctx context.Context, id string) (e approve.Entry, err error) {
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		e, err = one[approve.Entry](rows)
		return err
	}, "SELECT body FROM approvals WHERE id = $1", []byte(id))
	return e, operation("read the question", err)
}

// Entries implements [approve.Store].
func (s *Store) Entries(ctx context.Context, f approve.Filter) (out []approve.Entry, err error) {
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		out = nil
		return bodies(rows, func(e approve.Entry) bool {
			if f.Matches(e) {
				out = append(out, e)
			}
			return f.Limit <= 0 || len(out) < f.Limit
		})
	}, "SELECT body FROM approvals WHERE ($1::bytea = '' OR state = $1) AND ($2::bytea = '' OR principal = $2) AND ($3::bytea = '' OR session = $3) "+
		"AND expires >= $4 ORDER BY number DESC", []byte(f.State), []byte(f.Principal), []byte(f.Session), earliestEnd(f.Live))
	return out, operation("list the questions", err)
}

// ChangeEntry implements [approve.Store].
func (s *Store) ChangeEntry(ctx context.Context, id string, change func(approve.Entry) (approve.Entry, error)) (approve.Entry, error) {
	e, err := rewrite(ctx, s, "SELECT body FROM approvals WHERE id = $1 FOR UPDATE", id, change, func(tx pgx.Tx, e *approve.Entry) error {
		body, err := s.bodyOf(*e)
		if err != nil {
			return err
		}
		if _, err = tx.Exec(ctx, "UPDATE approvals SET binding = $1, state = $2, principal = $3, session = $4, expires = $5, body = $6 WHERE id = $7",
			[]byte(bindingOf(e)), []byte(e.State), []byte(e.Principal), []byte(e.Session), e.Expires.UnixMicro(), body, []byte(id)); err != nil {
			return err
		}
		return s.db.Notify(ctx, tx, question)
	})
	return e, operation("change the question", err)
}

// AddGrant implements [approve.Store].
func (s *Store) AddGrant(ctx context.Context, g approve.Grant) error {
	body, err := json.Marshal(g)
	if err != nil {
		return operation("store the grant", err)
	}
	return operation("store the grant", s.db.Change(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO grants(id, principal, tool, expires, body) VALUES($1, $2, $3, $4, $5)",
			[]byte(g.ID), []byte(g.Principal), []byte(g.Tool), g.Expires.UnixMicro(), body)
		return err
	}))
}

// Grants implements [approve.Store].
func (s *Store) Grants(ctx context.Context, f approve.GrantFilter) (out []approve.Grant, err error) {
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		out = nil
		return bodies(rows, func(g approve.Grant) bool {
			if f.Matches(g) {
				out = append(out, g)
			}
			return true
		})
	}, "SELECT body FROM grants WHERE ($1::bytea = '' OR principal = $1) AND ($2::bytea = '' OR tool = $2) AND expires >= $3 ORDER BY number DESC",
		[]byte(f.Principal), []byte(f.Tool), earliestEnd(f.Live))
	return out, operation("list the grants", err)
}

// ChangeGrant implements [approve.Store].
func (s *Store) ChangeGrant(ctx context.Context, id string, change func(approve.Grant) (approve.Grant, error)) (approve.Grant, error) {
	g, err := rewrite(ctx, s, "SELECT body FROM grants WHERE id = $1 FOR UPDATE", id, change, func(tx pgx.Tx, g *approve.Grant) error {
		body, err := json.Marshal(g)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE grants SET principal = $1, tool = $2, expires = $3, body = $4 WHERE id = $5",
			[]byte(g.Principal), []byte(g.Tool), g.Expires.UnixMicro(), body, []byte(id))
		return err
	})
	return g, operation("change the grant", err)
}

// rewrite locks and reads a body, changes it and writes it. It returns a zero x after an error.
func rewrite[T any](ctx context.Context, s *Store, query, id string, change func(T) (T, error), write func(pgx.Tx, *T) error) (x T, err error) {
	var none T
	err = s.db.Change(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, query, []byte(id))
		if err != nil {
			return err
		}
		now, err := one[T](rows)
		if err != nil {
			return err
		}
		if x, err = change(now); err != nil {
			return err
		}
		return write(tx, &x)
	})
	if err != nil {
		return none, err
	}
	return x, nil
}

// Attend implements [approve.Store].
func (s *Store) Attend(ctx context.Context, until time.Time) error {
	return operation("store the attendance", s.db.Change(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO attendance AS a(until) VALUES($1) ON CONFLICT(one) DO UPDATE SET until = excluded.until "+
			"WHERE a.until < $1 OR a.until > $1 + $2", until.UnixMicro(), approve.MaxAttendance.Microseconds())
		return err
	}))
}

// Attended implements [approve.Store].
func (s *Store) Attended(ctx context.Context) (until time.Time, err error) {
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		until = time.Time{}
		var micro int64
		_, err := pgx.ForEachRow(rows, []any{&micro}, func() error {
			until = time.UnixMicro(micro).UTC()
			return nil
		})
		return err
	}, "SELECT until FROM attendance")
	return until, operation("read the attendance", err)
}

// Prune implements [approve.Store].
func (s *Store) Prune(ctx context.Context, before time.Time) (n int, err error) {
	for _, query := range []string{
		"DELETE FROM approvals WHERE number IN (SELECT number FROM approvals WHERE expires < $1 ORDER BY expires LIMIT $2)",
		"DELETE FROM grants WHERE number IN (SELECT number FROM grants WHERE expires < $1 ORDER BY expires LIMIT $2)",
	} {
		removed, err := s.inSteps(ctx, query, before.UnixMicro(), pruneStep)
		n += int(removed)
		if err != nil {
			return n, operation("prune questions and grants", err)
		}
	}
	return n, nil
}

// earliestEnd returns the earliest expiry, in microseconds, that a filter accepts: any for the zero
// time.
func earliestEnd(t time.Time) int64 {
	if t.IsZero() {
		return -1 << 63
	}
	return t.UnixMicro()
}

// one reads the only body of a query.
func one[T any](rows pgx.Rows) (x T, err error) {
	found := false
	err = bodies(rows, func(v T) bool {
		x, found = v, true
		return true
	})
	if err == nil && !found {
		err = approve.ErrUnknown
	}
	return x, err
}

// bodies reads bodies until more returns false.
func bodies[T any](rows pgx.Rows, more func(T) bool) error {
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

// list is bodies of a query.
func list[T any](ctx context.Context, tx pgx.Tx, more func(T) bool, query string, args ...any) error {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	return bodies(rows, more)
}

// operation adds the operation to an error of the database. Errors of callers are returned unchanged.
func operation(name string, err error) error {
	if err == nil || errors.Is(err, approve.ErrUnknown) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
