package database

import (
	"math/bits"
	"strings"
	"sync/atomic"
)

// maxRowsPerInsert bounds the rows that one statement writes.
const maxRowsPerInsert = 32 // 1 << 5

// singleRows is the number of rows that a connection writes one at a time before it prepares
// statements for several: preparing them costs more than they save until then.
const singleRows = 8

// Insert is a statement that writes rows into a table, many at once: executing a statement costs
// more than writing a small row.
type Insert struct {
	width      int // arguments of a row
	text, tail string
	queries    [6]atomic.Pointer[string] // for 1, 2, 4 ... rows, made when they are needed
}

// NewInsert returns the statement for rows of width arguments. The text is "INSERT INTO
// table(columns)", the tail is the part of the statement that follows the values.
func NewInsert(text string, width int, tail string) *Insert {
	return &Insert{width: width, text: text, tail: tail}
}

// Row returns the statement for one row.
func (in *Insert) Row() string { return in.query(0) }

// query returns the statement for 1<<size rows.
func (in *Insert) query(size int) string {
	if q := in.queries[size].Load(); q != nil {
		return *q
	}
	row := "(?" + strings.Repeat(", ?", in.width-1) + ")"
	q := in.text + " VALUES" + row + strings.Repeat(", "+row, 1<<size-1) + " " + in.tail
	in.queries[size].Store(&q)
	return q
}

// Insert writes rows. args holds the arguments of one row after the other.
func (tx *Tx) Insert(in *Insert, args []any) error {
	for len(args) > 0 {
		size := bits.Len(uint(min(len(args)/in.width, maxRowsPerInsert))) - 1
		if tx.c.rows < singleRows {
			size = 0
		}
		n := in.width << size
		tx.c.rows += 1 << size
		if _, err := tx.Exec(in.query(size), args[:n]...); err != nil {
			return err
		}
		args = args[n:]
	}
	return nil
}

// MarkWritten marks a change whose rows are written by a function of [Tx.Finally]: if the change
// fails afterwards, the transaction is rolled back as if the change had already written them.
func (tx *Tx) MarkWritten() { tx.wrote = true }
