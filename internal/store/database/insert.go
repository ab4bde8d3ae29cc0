package database

import (
	"math/bits"
	"strings"
	"sync/atomic"
)

// maxTogether is how many rows one statement writes at most.
const maxTogether = 32 // 1 << 5

// fewRows are the first rows of a connection, each written by itself: another statement
// costs more to prepare than they save.
const fewRows = 8

// Insert is a statement that writes rows into a table, many at once: most of what a
// small row costs is the statement around it.
type Insert struct {
	width      int // arguments of a row
	text, tail string
	queries    [6]atomic.Pointer[string] // for 1, 2, 4 ... rows, made when they are needed
}

// NewInsert makes the statement for rows of so many arguments. The text is
// "INSERT INTO table(columns)", the tail what stands behind the values.
func NewInsert(text string, width int, tail string) *Insert {
	return &Insert{width: width, text: text, tail: tail}
}

// Row is the statement for one row.
func (in *Insert) Row() string { return in.query(0) }

// query is the statement for 1<<size rows.
func (in *Insert) query(size int) string {
	if q := in.queries[size].Load(); q != nil {
		return *q
	}
	row := "(?" + strings.Repeat(", ?", in.width-1) + ")"
	q := in.text + " VALUES" + row + strings.Repeat(", "+row, 1<<size-1) + " " + in.tail
	in.queries[size].Store(&q)
	return q
}

// Insert writes the rows whose arguments follow each other.
func (tx *Tx) Insert(in *Insert, args []any) error {
	for len(args) > 0 {
		size := bits.Len(uint(min(len(args)/in.width, maxTogether))) - 1
		if tx.c.rows < fewRows {
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

// Later says that the change will be written by a function of [Tx.Finally]: from
// here on its failure leaves something behind, as that of a change that wrote does.
func (tx *Tx) Later() { tx.wrote = true }
