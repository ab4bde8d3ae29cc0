package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/store/database"
)

// page is the number of rows that one snapshot reads: a slow reader must not keep the database from
// restarting its log.
const page = 1000

// Rows calls f with the sealed lines after a number that are selected, oldest first, without their line ends, until f
// returns false. f may keep the line.
func Rows(ctx context.Context, db *database.DB, after int64, s Selection, f func(seq int64, line []byte) bool) error {
	var p *plan
	var numbers []int64 // of the rows of a session
	err := db.Snapshot(ctx, func(tx *database.Tx) (err error) {
		if p, err = planOf(tx, s); err == nil && p.indexed() {
			numbers, err = p.ofSession(tx, after)
		}
		return err
	})
	var rows []found
	var names Names
	for more := err == nil; more; {
		err = db.Snapshot(ctx, func(tx *database.Tx) (err error) {
			if !p.indexed() {
				rows, err = queryRows(tx, rows[:0], scanRows, max(after+1, p.first), p.last, p.since(), p.until(), p.list, page)
				more = len(rows) == page
			} else {
				next := numbers[:min(page, len(numbers))]
				rows, err = queryRows(tx, rows[:0], rowsByNumber, listOf(next))
				more = len(next) == page
			}
			for i, in := 0, names.In(tx); i < len(rows); i++ {
				rows[i].expand(in)
			}
			return err
		})
		if err != nil {
			break
		}
		numbers = numbers[min(page, len(numbers)):]
		for _, r := range rows {
			if !f(r.seq, r.line) {
				return nil
			}
			after = r.seq
		}
	}
	if err != nil {
		return fmt.Errorf("read audit rows: %w", err)
	}
	return nil
}

// indexed reports whether all rows of a session are found by their owner.
func (p *plan) indexed() bool { return p.Session != "" && p.converted >= p.old }

// ofSession returns the numbers of the rows of a session after a number.
func (p *plan) ofSession(tx *database.Tx, after int64) (numbers []int64, err error) {
	rows, err := tx.Query(rowsOfOwner, ownerOf(p.Session), max(after+1, p.first), p.last)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers, rows.Err()
}

// listOf returns numbers as a list in JSON, for json_each.
func listOf(numbers []int64) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, n := range numbers {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(n, 10))
	}
	b.WriteByte(']')
	return b.String()
}

// maxSteps bounds the steps in indexes that find the newest rows; beyond, the rows are read one after the other.
const maxSteps = 100_000

// Newest returns the newest n lines that are selected and that accept accepts, oldest first, and the number of the last row of
// the file.
func Newest(ctx context.Context, db *database.DB, n int64, s Selection, accept func(line []byte) (bool, error)) (lines [][]byte, end int64, err error) {
	err = db.Snapshot(ctx, func(tx *database.Tx) error {
		lines = nil
		p, err := planOf(tx, s)
		if err != nil {
			return err
		}
		end = p.end
		before, size, names := p.last+1, n, new(Names).In(tx)
		for int64(len(lines)) < n {
			rows, err := p.back(tx, before, size)
			if err != nil || len(rows) == 0 {
				return err
			}
			for _, r := range rows {
				before = r.seq
				r.expand(names)
				ok, err := accept(r.line)
				if err != nil {
					return err
				}
				if ok && int64(len(lines)) < n {
					lines = append(lines, r.line)
				}
			}
			size = max(n, page)
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read audit rows: %w", err)
	}
	slices.Reverse(lines)
	return lines, end, nil
}

// back returns at most n rows before a number, the newest first; none if there are no more.
func (p *plan) back(tx *database.Tx, before, n int64) (rows []found, err error) {
	// Rows of earlier versions have no class and are between the converted rows and the others.
	for _, part := range []struct {
		from, to int64
		scan     bool
	}{{p.old + 1, p.last, false}, {p.converted + 1, p.old, true}, {p.first, min(p.converted, p.old), false}} {
		from, to := max(part.from, p.first), min(part.to, p.last, before-1)
		if from > to {
			continue
		}
		if part.scan || p.classes == nil || int64(len(p.classes))*n > maxSteps {
			rows, err = queryRows(tx, rows, scanBack, from, to, p.since(), p.until(), p.list, n)
		} else {
			rows, err = p.newestOfClasses(tx, from, to, n)
		}
		if err != nil || len(rows) > 0 {
			return rows, err
		}
	}
	return nil, nil
}

// newestOfClasses returns the newest n rows of the classes between two numbers.
func (p *plan) newestOfClasses(tx *database.Tx, from, to, n int64) (rows []found, err error) {
	owner := ownerOf(p.Session)
	for _, id := range p.classes {
		if owner == nil {
			rows, err = queryRows(tx, rows, newestOfClass, id, from, to, p.since(), p.until(), n)
		} else {
			rows, err = queryRows(tx, rows, newestOfOwner, owner, id, from, to, p.since(), p.until(), n)
		}
		if err != nil {
			return nil, err
		}
		if int64(len(rows)) >= n { // rows of the next classes have to be newer
			slices.SortFunc(rows, func(a, b found) int { return int(b.seq - a.seq) })
			rows = rows[:n]
			from = max(from, rows[n-1].seq)
		}
	}
	slices.SortFunc(rows, func(a, b found) int { return int(b.seq - a.seq) })
	return rows, nil
}
