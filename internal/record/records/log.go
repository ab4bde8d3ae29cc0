// Package records reads audit logs of every kind: files of JSON lines with their full files, and
// stores. Its table has a row for each kind, with its [source].
//
//	log, err := records.Open(ctx, "stopgate.db")
//	if err != nil {
//		return err
//	}
//	defer log.Close()
//	_, err = log.Rows(ctx, records.Mark{}, nil, func(r records.Row) bool {
//		fmt.Println(r.Tool, r.Code)
//		return true
//	})
//
// A log has one hash chain, or one for every gate that writes to it. It can be read while gates
// are running. Opening a store may write to it; nothing else in this package does.
package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/flow"
)

// Row is one audit row.
type Row struct {
	stopgate.Record
	// Line is the sealed row without its line end.
	Line []byte
}

// Log is an open log.
type Log struct {
	location string
	source   source
}

// Mark is a position in a log: the number of the last row that was read, of every chain. The zero
// Mark is the beginning.
type Mark struct{ seqs map[string]int64 }

// After returns the position after a row of a log with one chain.
func After(seq int64) Mark { return Mark{map[string]int64{"": seq}} }

// seq returns the number of the last row of a log with one chain.
func (m Mark) seq() int64 { return m.seqs[""] }

// Close closes the log.
func (l *Log) Close() error { return l.source.close() }

// Location returns the location of the log, without a password.
func (l *Log) Location() string { return l.location }

// Lines calls f with the sealed lines after a mark, without their line ends, until f returns
// false, and returns the mark of the last line. Lines of one chain come in their order, lines of
// several chains by the time at which they were written. f may keep the line.
func (l *Log) Lines(ctx context.Context, after Mark, f func(line []byte) bool) (Mark, error) {
	return l.source.lines(ctx, after, &Filter{}, f)
}

// Chain calls f with the sealed lines of one chain after a number, without their line ends, until f
// returns false.
func (l *Log) Chain(ctx context.Context, id string, after int64, f func(line []byte) bool) error {
	heads, err := l.Heads(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(heads, func(h Head) bool { return h.Chain == id }) {
		return fmt.Errorf("there is no chain %q in %s", id, l.location)
	}
	return l.source.chain(ctx, id, after, f)
}

// ChainRows is Chain with decoded rows.
func (l *Log) ChainRows(ctx context.Context, id string, after int64, f func(Row) bool) error {
	var bad error
	err := l.Chain(ctx, id, after, func(line []byte) bool {
		r, err := parse(line)
		bad = err
		return err == nil && f(r)
	})
	return errors.Join(err, bad)
}

// Rows calls f with the rows after a mark that the filter selects, like [Log.Lines]. A nil filter
// selects all.
func (l *Log) Rows(ctx context.Context, after Mark, filter *Filter, f func(Row) bool) (Mark, error) {
	if filter == nil {
		filter = &Filter{}
	}
	var bad error
	end, err := l.source.lines(ctx, after, filter, func(line []byte) bool {
		r, err := parse(line)
		if err != nil {
			bad = err
			return false
		}
		return !filter.Matches(&r.Record) || f(r)
	})
	return end, errors.Join(err, bad)
}

// Newest returns the newest n rows that the filter selects, oldest first, and the mark after the
// last row of the log.
func (l *Log) Newest(ctx context.Context, n int64, filter *Filter) (rows []Row, end Mark, err error) {
	lines, end, err := l.source.newest(ctx, n, filter)
	for _, line := range lines {
		r, bad := parse(line)
		rows, err = append(rows, r), errors.Join(err, bad)
	}
	return rows, end, err
}

func parse(line []byte) (r Row, err error) {
	r.Line = line
	if err := json.Unmarshal(line, &r.Record); err != nil {
		return Row{}, fmt.Errorf("audit row: %w (verify says where the log is broken)", err)
	}
	return r, nil
}

// Of returns the rows about a proposal, oldest first.
func (l *Log) Of(ctx context.Context, id stopgate.ProposalID) (rows []Row, err error) {
	lines, err := l.source.of(ctx, id)
	for _, line := range lines {
		r, bad := parse(line)
		rows, err = append(rows, r), errors.Join(err, bad)
	}
	return rows, err
}

// Head is the end of a chain.
type Head struct {
	audit.Head
	Gate string // the gate that the chain is of, "" if the kind of the log does not name gates
}

// Heads returns the ends of all chains. A log of one chain without rows has the zero Head.
func (l *Log) Heads(ctx context.Context) ([]Head, error) { return l.source.heads(ctx) }

// Check is the result of [Log.Verify].
type Check struct {
	Chains []ChainCheck
	// Changed are the hashes of stored arguments that no longer match them.
	Changed []string
	// Spooled reports that rows are spooled next to the store and not in the chain yet.
	Spooled bool
	// Known has the number of the row for every hash of a row that was asked for and found.
	Known map[string]int64
}

// ChainCheck is the result of verifying one chain.
type ChainCheck struct {
	audit.Report
	Gate string
	// Err is an *audit.BrokenError or a *database.DamagedError if the chain is not whole.
	Err error
}

// Verify reads all chains completely. heads are hashes of rows that must be in them, from a copy
// kept elsewhere. The error is that of reading; what is wrong with a chain is in its ChainCheck.
func (l *Log) Verify(ctx context.Context, heads ...string) (Check, error) {
	c := Check{Known: map[string]int64{}}
	for _, hash := range heads {
		c.Known[hash] = 0
	}
	err := l.source.verify(ctx, &c)
	maps.DeleteFunc(c.Known, func(_ string, seq int64) bool { return seq == 0 })
	return c, err
}

// Err returns the errors of all chains, nil if they are whole.
func (c *Check) Err() error {
	var errs []error
	for i := range c.Chains {
		errs = append(errs, c.Chains[i].Err)
	}
	return errors.Join(errs...)
}

// found notes the row of a hash if it was asked for.
func (c *Check) found(at audit.Head) {
	if len(c.Known) > 0 {
		if _, asked := c.Known[at.Hash]; asked {
			c.Known[at.Hash] = at.Seq
		}
	}
}

// Arguments are the stored arguments of a row.
type Arguments struct {
	Text []byte
	// Redacted are the pointers of the redacted values.
	Redacted []string
	// Changed reports that the arguments no longer have the hash of the row. Redacted arguments
	// are not compared.
	Changed bool
}

// Arguments returns the stored arguments of a row.
func (l *Log) Arguments(ctx context.Context, r *stopgate.Record) (a Arguments, ok bool, err error) {
	if r.ArgsHash == "" {
		return a, false, nil
	}
	return l.source.arguments(ctx, r.ArgsHash)
}

// Texts returns the texts of a session's log, as far as they are kept; id is that of a
// [stopgate.TextPosition].
func (l *Log) Texts(ctx context.Context, id string) ([]flow.KeptText, error) {
	return l.source.texts(ctx, id)
}

// Accept makes the end of the chain the head, after an operator replaced the store by a backup.
func (l *Log) Accept(ctx context.Context, by string, now time.Time) (before, after audit.Head, err error) {
	return l.source.accept(ctx, by, now)
}
