package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/database"
)

// Questions reads what a report on questions to people needs, from a file in which all rows have a class.
type Questions struct {
	db    *database.DB
	p     *plan
	names Names
}

// QuestionsOf returns a reader for the rows of a time. With rules, it counts the decisions of these, and reads the rows of all. ok
// is false if some rows have no class, or one of an earlier version that does not name the rule.
func QuestionsOf(ctx context.Context, db *database.DB, since, until int64, rules []stopgate.RuleID) (q *Questions, ok bool, err error) {
	q = &Questions{db: db}
	err = db.Snapshot(ctx, func(tx *database.Tx) error {
		if q.p, err = planOf(tx, Selection{Since: since, Until: until, Rules: rules}); err != nil {
			return err
		}
		var without int
		found, err := tx.Get([]any{&without}, "SELECT 1 FROM audit_rows WHERE class = 0 LIMIT 1")
		ok = !found && q.p.converted >= q.p.old && (rules == nil || !q.p.anyRule)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read audit rows: %w", err)
	}
	return q, ok, nil
}

// Ends returns the first and the last line of the time, nil without rows.
func (q *Questions) Ends(ctx context.Context) (first, last []byte, err error) {
	err = q.db.Snapshot(ctx, func(tx *database.Tx) error {
		for text, line := range map[string]*[]byte{scanRows: &first, scanBack: &last} {
			rows, err := queryRows(tx, nil, text, q.p.first, q.p.last, q.p.since(), q.p.until(), "", 1)
			if err != nil {
				return err
			}
			for _, r := range rows {
				*line = r.stored.Line(r.seq, q.names.In(tx))
			}
		}
		return nil
	})
	return first, last, err
}

// countStep is the number of rows that one statement counts.
const countStep = 4096

const (
	countRows     = "SELECT min(time), max(time), total(final) FROM audit_rows NOT INDEXED WHERE seq >= ?1 AND seq <= ?2 AND time >= ?3 AND time < ?4"
	timesOfRows   = "SELECT time FROM audit_rows NOT INDEXED WHERE seq >= ?1 AND seq <= ?2 AND time >= ?3 AND time < ?4 AND final"
	timesOfChosen = "SELECT time FROM audit_rows INDEXED BY audit_class WHERE class IN (SELECT value FROM json_each(?5)) " +
		"AND seq >= ?1 AND seq <= ?2 AND time >= ?3 AND time < ?4 AND final"
)

// Count counts the decisions, and those of them that special selects by the members of their class. It calls f with a time and the
// numbers of decisions at times that are the same as that one.
func (q *Questions) Count(ctx context.Context, same func(a, b time.Time) bool, special func(*stopgate.Record) bool, f func(at time.Time, decisions, special int)) error {
	chosen := &plan{Selection: Selection{Class: special, Rules: q.p.Rules}}
	err := q.db.Snapshot(ctx, func(tx *database.Tx) error {
		if err := chosen.findClasses(tx); err != nil {
			return err
		}
		err := eachTime(tx, func(at time.Time) { f(at, 0, 1) }, timesOfChosen, q.p.first, q.p.last, q.p.since(), q.p.until(), chosen.list)
		if err == nil && q.p.Rules != nil {
			err = eachTime(tx, func(at time.Time) { f(at, 1, 0) }, timesOfChosen, q.p.first, q.p.last, q.p.since(), q.p.until(), q.p.list)
		}
		return err
	})
	for from := q.p.first; err == nil && q.p.Rules == nil && from <= q.p.last; from += countStep {
		err = q.db.Snapshot(ctx, func(tx *database.Tx) error {
			args := []any{from, min(from+countStep-1, q.p.last), q.p.since(), q.p.until()}
			var low, high *int64
			var n float64
			if _, err := tx.Get([]any{&low, &high, &n}, countRows, args...); err != nil || n == 0 {
				return err
			}
			if first := time.UnixMicro(*low); same(first, time.UnixMicro(*high)) {
				f(first, int(n), 0)
				return nil
			}
			return eachTime(tx, func(at time.Time) { f(at, 1, 0) }, timesOfRows, args...)
		})
	}
	if err != nil {
		return fmt.Errorf("count audit rows: %w", err)
	}
	return nil
}

// eachTime calls f with the times that a statement finds.
func eachTime(tx *database.Tx, f func(time.Time), text string, args ...any) error {
	rows, err := tx.Query(text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return err
		}
		f(time.UnixMicro(at))
	}
	return rows.Err()
}

const (
	numbersOfQuestions = "SELECT r.seq FROM audit_rows a INDEXED BY audit_class JOIN audit_rows r ON r.id = a.id AND r.final " +
		"WHERE a.class IN (SELECT value FROM json_each(?3)) AND a.seq >= ?1 AND a.seq <= ?2 AND r.seq >= ?1 AND r.seq <= ?2 " +
		"UNION SELECT r.seq FROM audit_rows a INDEXED BY audit_class JOIN audit_rows r ON r.id = a.id AND NOT r.final " +
		"WHERE a.class IN (SELECT value FROM json_each(?3)) AND a.seq >= ?1 AND a.seq <= ?2 AND r.seq >= ?1 AND r.seq <= ?2 ORDER BY 1"
	rowsOfQuestions = "SELECT r.seq, r.time, r.id, c.members ->> 'event', CASE WHEN r.final THEN r.stored END " +
		"FROM json_each(?1) n JOIN audit_rows r ON r.seq = n.value JOIN audit_classes c ON c.id = r.class WHERE r.time >= ?2 AND r.time < ?3 ORDER BY r.seq"
)

// Rows calls f with the rows of the calls that were asked about, in their order: with the line of a decision, and with time, id and
// event of another row.
func (q *Questions) Rows(ctx context.Context, f func(at time.Time, id stopgate.ProposalID, event stopgate.AuditEvent, line []byte) error) error {
	asked := &plan{Selection: Selection{Class: func(r *stopgate.Record) bool { return r.Event == stopgate.AuditAsked }}}
	var numbers []int64
	err := q.db.Snapshot(ctx, func(tx *database.Tx) error {
		if err := asked.findClasses(tx); err != nil {
			return err
		}
		rows, err := tx.Query(numbersOfQuestions, q.p.first, q.p.last, asked.list)
		if err != nil {
			return err
		}
		defer rows.Close()
		for numbers = nil; rows.Next(); {
			var n int64
			if err := rows.Scan(&n); err != nil {
				return err
			}
			numbers = append(numbers, n)
		}
		return rows.Err()
	})
	for err == nil && len(numbers) > 0 {
		next := numbers[:min(page, len(numbers))]
		numbers = numbers[len(next):]
		var list []question
		err = q.db.Snapshot(ctx, func(tx *database.Tx) (err error) {
			list, err = q.read(tx, next)
			return err
		})
		for i := 0; err == nil && i < len(list); i++ {
			r := &list[i]
			err = f(time.UnixMicro(r.at), stopgate.ProposalID(deref(r.id)), stopgate.AuditEvent(deref(r.event)), r.line)
		}
	}
	if err != nil {
		return fmt.Errorf("read audit rows: %w", err)
	}
	return nil
}

// question is a row of a call that was asked about, without a line unless it is that of the decision.
type question struct {
	found
	at        int64
	id, event *string
}

func (q *Questions) read(tx *database.Tx, numbers []int64) (list []question, err error) {
	rows, err := tx.Query(rowsOfQuestions, listOf(numbers), q.p.since(), q.p.until())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r question
		if err := rows.Scan(&r.seq, &r.at, &r.id, &r.event, (*[]byte)(&r.stored)); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	names := q.names.In(tx)
	for i := range list {
		if r := &list[i]; r.stored != nil { // the row of a decision
			r.expand(names)
		}
	}
	return list, rows.Err()
}

// deref returns a text, "" for none.
func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
