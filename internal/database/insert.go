package database

import (
	"math/bits"
	"strings"
)

// maxTogether is how many rows one statement writes at most.
const maxTogether = 32

// Insert is a statement that writes rows into a table, many at once: most of what a
// small row costs is the statement around it.
type Insert struct {
	width   int      // arguments of a row
	queries []string // for 1, 2, 4 ... rows
}

// NewInsert makes the statement for rows of so many arguments. The text is
// "INSERT INTO table(columns)", the tail what stands behind the values.
func NewInsert(text string, width int, tail string) *Insert {
	row := "(?" + strings.Repeat(", ?", width-1) + ")"
	in := &Insert{width: width}
	for n := 1; n <= maxTogether; n *= 2 {
		in.queries = append(in.queries, text+" VALUES"+row+strings.Repeat(", "+row, n-1)+" "+tail)
	}
	return in
}

// Insert writes the rows whose arguments follow each other.
func (tx *Tx) Insert(in *Insert, args []any) error {
	for len(args) > 0 {
		size := bits.Len(uint(min(len(args)/in.width, maxTogether))) - 1
		n := in.width << size
		if _, err := tx.Exec(in.queries[size], args[:n]...); err != nil {
			return err
		}
		args = args[n:]
	}
	return nil
}

// Later says that the change will be written by a function of [Tx.Finally]: from
// here on its failure leaves something behind, as that of a change that wrote does.
func (tx *Tx) Later() { tx.wrote = true }
