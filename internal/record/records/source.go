package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/store/location"
)

// source is the port of a kind of logs.
type source interface {
	// lines calls f with the lines after a mark; see [Log.Lines]. It may leave out lines that
	// the filter does not select.
	lines(ctx context.Context, after Mark, filter *Filter, f func(line []byte) bool) (Mark, error)
	// chain calls f with the lines of the chain with an id, which is one of the heads, after a number.
	chain(ctx context.Context, id string, after int64, f func(line []byte) bool) error
	newest(ctx context.Context, n int64, filter *Filter) (lines [][]byte, end Mark, err error)
	of(ctx context.Context, id stopgate.ProposalID) (lines [][]byte, err error)
	heads(ctx context.Context) ([]Head, error)
	verify(ctx context.Context, c *Check) error
	// arguments returns the stored arguments with a hash.
	arguments(ctx context.Context, hash string) (Arguments, bool, error)
	// texts returns the kept texts of a session's log.
	texts(ctx context.Context, id string) ([]flow.KeptText, error)
	accept(ctx context.Context, by string, now time.Time) (before, after audit.Head, err error)
	close() error
}

// kinds has the kinds of logs; the first that has a log at a location opens it.
var kinds = [...]struct {
	// at reports whether a log at a location is of the kind. head are the first bytes of the
	// file with this name, nil if there is none.
	at   func(location string, head []byte) bool
	open func(ctx context.Context, location string) (source, error)
}{
	{atServer, openServer},
	{atSQLite, openSQLite}, // even if its first bytes are lost: its log may hold them
	{atLines, openLines},
}

// Open opens the log at a location: a path or the URL of a store. If there is none, the error is
// fs.ErrNotExist.
func Open(ctx context.Context, at string) (*Log, error) {
	head, err := firstBytes(at)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	for _, k := range kinds {
		if !k.at(at, head) {
			continue
		}
		s, err := k.open(ctx, at)
		if err != nil {
			return nil, err
		}
		return &Log{location: location.Show(at), source: s}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return nil, fmt.Errorf("audit log: %s holds no records: it is neither a store nor a file of JSON Lines", location.Show(at))
}

// firstBytes reads the start of a file; it is not nil if there is a file.
func firstBytes(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return head[:n], nil
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// zero reports whether a filter selects all rows.
func (f *Filter) zero() bool { return reflect.ValueOf(*f).IsZero() }

// accept reports whether the filter selects a line.
func (f *Filter) accept(line []byte) (bool, error) {
	r, err := parse(line)
	return err == nil && f.Matches(&r.Record), err
}

// newestAfter returns the lines after a mark.
func newestAfter(ctx context.Context, s source, after Mark) (lines [][]byte, end Mark, err error) {
	end, err = s.lines(ctx, after, &Filter{}, func(line []byte) bool {
		lines = append(lines, line)
		return true
	})
	return lines, end, err
}

// newestOf reads a whole log for its newest n rows that the filter selects.
func newestOf(ctx context.Context, s source, n int64, filter *Filter) (kept [][]byte, end Mark, err error) {
	var bad error
	end, err = s.lines(ctx, Mark{}, filter, func(line []byte) bool {
		r, err := parse(line)
		if err != nil {
			bad = err
			return false
		}
		if !filter.Matches(&r.Record) {
			return true
		}
		kept = append(kept, line)
		if over := int64(len(kept)) - n; over >= n { // half of them, not each time one
			kept = append(kept[:0], kept[over:]...)
		}
		return true
	})
	return kept[max(0, int64(len(kept))-n):], end, errors.Join(err, bad)
}
