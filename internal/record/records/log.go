// Package records reads audit logs wherever they are kept: a file of JSON lines, with
// the full ones beside it if it is rotated, or an SQLite store.
//
//	log, err := records.Open(ctx, "stopgate.db")
//	if err != nil {
//		return err
//	}
//	defer log.Close()
//	err = log.Rows(ctx, 0, func(r records.Row) bool {
//		fmt.Println(r.Tool, r.Code)
//		return true
//	})
//
// It writes nothing but what opening a store does, and reads beside a gate that is
// running.
package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/spool"
	"github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
)

// Row is one audit row.
type Row struct {
	stopgate.Record
	// Line is the sealed row as it is kept, without its line end.
	Line []byte
}

// Log is an open log.
type Log struct {
	path string
	db   *database.DB // nil: a file of JSON lines
	file reader
}

// Open opens the log at a path. A path with nothing there is an error that is
// fs.ErrNotExist.
func Open(ctx context.Context, path string) (*Log, error) {
	head, err := beginning(path)
	if errors.Is(err, fs.ErrNotExist) && headed(path) {
		return nil, &database.DamagedError{Path: path, Err: errors.New("the file is gone")}
	}
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	switch {
	case headed(path): // whatever it begins with: the log may hold its first page
	case len(head) == 0, head[0] == '{':
		return &Log{path: path, file: reader{path: path}}, nil
	case string(head) != magic:
		return nil, fmt.Errorf("audit log: %s holds no records: it is neither a store nor a file of JSON Lines", path)
	}
	db, err := database.Open(ctx, path, sqlite.Tables)
	if err != nil {
		return nil, err
	}
	if spool.At(path).Waiting() > 0 {
		moveSpooled(ctx, db)
	}
	return &Log{path: path, db: db}, nil
}

// mergeTime bounds how long a reader waits for rows that are not in the chain yet.
const mergeTime = 5 * time.Second

// moveSpooled moves rows into the chain that wait next to it, if the store takes them:
// [Log.Verify] says what is left.
func moveSpooled(ctx context.Context, db *database.DB) {
	ctx, cancel := context.WithTimeout(ctx, mergeTime)
	defer cancel()
	if r, err := sqlite.New(ctx, db, sqlite.Options{}); err == nil {
		_ = r.Merge(ctx)
	}
}

// headed reports whether a head file says that a store with rows was here.
func headed(path string) bool {
	info, err := os.Stat(database.HeadPath(path))
	return err == nil && info.Size() > 0
}

// magic is how a store's file begins.
const magic = "SQLite format 3\x00"

// beginning is how a file begins.
func beginning(path string) ([]byte, error) {
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

// Close lets go of the files.
func (l *Log) Close() error {
	if l.db != nil {
		return l.db.Close()
	}
	return nil
}

// Path is where the log is.
func (l *Log) Path() string { return l.path }

// Lines calls f with the sealed lines behind a number, oldest first, without their
// line ends, until f returns false. The line is f's.
func (l *Log) Lines(ctx context.Context, after int64, session stopgate.SessionID, f func(line []byte) bool) error {
	if l.db != nil {
		return sqlite.Rows(ctx, l.db, after, session, func(_ int64, line []byte) bool { return f(line) })
	}
	return l.file.lines(ctx, after, f)
}

// Rows is Lines, read.
func (l *Log) Rows(ctx context.Context, after int64, session stopgate.SessionID, f func(Row) bool) error {
	var bad error
	err := l.Lines(ctx, after, session, func(line []byte) bool {
		r, err := parse(line)
		if err != nil {
			bad = err
			return false
		}
		return (session != "" && r.Session != session) || f(r)
	})
	return errors.Join(err, bad)
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
	if l.db != nil {
		lines, err := sqlite.Of(ctx, l.db, id)
		for _, line := range lines {
			r, bad := parse(line)
			rows, err = append(rows, r), errors.Join(err, bad)
		}
		return rows, err
	}
	needle := []byte(`"id":` + quote(string(id)))
	err = l.Lines(ctx, 0, "", func(line []byte) bool {
		if bytes.Contains(line, needle) {
			if r, bad := parse(line); bad == nil && r.ID == id {
				rows = append(rows, r)
			}
		}
		return true
	})
	return rows, err
}

func quote(s string) string {
	text, _ := json.Marshal(s) // a string always marshals
	return string(text)
}

// Last returns the number behind which the newest n rows stand.
func (l *Log) Last(ctx context.Context, n int64) (after int64, err error) {
	if l.db != nil {
		return sqlite.Last(ctx, l.db, n)
	}
	head, err := l.Head(ctx)
	return max(0, head.Seq-n), err
}

// Head is the end of the chain, as its last row says.
func (l *Log) Head(ctx context.Context) (head audit.Head, err error) {
	if l.db != nil {
		return sqlite.Head(ctx, l.db)
	}
	last, err := l.file.last(ctx)
	if err != nil || last == nil {
		return audit.Head{}, err
	}
	r, err := parse(last)
	return audit.Head{Chain: r.Chain, Seq: r.Seq, Hash: r.Hash}, err
}

// Check is what [Log.Verify] found.
type Check struct {
	audit.Report
	// Changed are the hashes of stored arguments that are not those any more that their rows
	// name.
	Changed []string
	// Spooled says that rows wait next to the store, and are not in the chain yet.
	Spooled bool
	// Known is the number of the row that has the hash that was asked for, 0 if the
	// chain has none.
	Known int64
}

// Verify reads the whole chain. head is the hash of a row, kept elsewhere, that has
// to be in it; "" asks for none.
func (l *Log) Verify(ctx context.Context, head string) (c Check, err error) {
	v := audit.NewVerifier()
	torn, err := l.sealed(ctx, func(line []byte) error {
		if err := v.Row(line); err != nil {
			return err
		}
		if at := v.Report().Head; head != "" && at.Hash == head {
			c.Known = at.Seq
		}
		return nil
	}, v.File)
	if err != nil {
		c.Report = v.Report()
		return c, err
	}
	c.Report, err = v.End()
	c.Torn = torn
	if err != nil || l.db == nil {
		return c, err
	}
	c.Spooled = spool.At(l.path).Waiting() > 0
	if err := sqlite.CheckHead(ctx, l.db); err != nil {
		return c, err
	}
	c.Changed, err = sqlite.ChangedArguments(ctx, l.db)
	return c, err
}

// sealed reads every line with its line end, and says how many bytes behind the
// last one an unfinished write left. next is told of every file but the first.
func (l *Log) sealed(ctx context.Context, f func(line []byte) error, next func()) (torn int64, err error) {
	if l.db == nil {
		return l.file.read(ctx, 0, f, next)
	}
	var bad error
	err = l.Lines(ctx, 0, "", func(line []byte) bool {
		bad = f(append(line, '\n'))
		return bad == nil
	})
	return 0, errors.Join(err, bad)
}

// Arguments returns the arguments behind a row as far as they are kept.
func (l *Log) Arguments(ctx context.Context, r *stopgate.Record) (a sqlite.Arguments, ok bool, err error) {
	if l.db == nil || r.ArgsHash == "" {
		return a, false, nil
	}
	return sqlite.ArgumentsOf(ctx, l.db, r.ArgsHash)
}

// Accept makes the end of the chain what the head file names, after an operator put a
// backup in place of the store; see [sqlite.Accept].
func (l *Log) Accept(ctx context.Context, by string, now time.Time) (before, after audit.Head, err error) {
	if l.db == nil {
		return before, after, errors.New("records in a file have no head file")
	}
	return sqlite.Accept(ctx, l.db, by, now)
}
