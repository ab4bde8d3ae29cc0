// Package records reads audit logs in both formats: a file of JSON lines, with its full files if it
// is rotated, or an SQLite store.
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
// It writes only when it opens a store, and can read while a gate is running.
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
	// Line is the sealed row without its line end.
	Line []byte
}

// Log is an open log.
type Log struct {
	path string
	db   *database.DB // nil: a file of JSON lines
	file reader
}

// Open opens the log at a path. If there is none, the error is fs.ErrNotExist.
func Open(ctx context.Context, path string) (*Log, error) {
	head, err := firstBytes(path)
	if errors.Is(err, fs.ErrNotExist) && hasHead(path) {
		return nil, &database.DamagedError{Path: path, Err: errors.New("the file is gone")}
	}
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	switch {
	case hasHead(path): // whatever its first bytes are: the log may hold its first page
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

// mergeTime bounds how long a reader waits for spooled rows to be merged.
const mergeTime = 5 * time.Second

// moveSpooled merges spooled rows into the chain if the store can take them; [Log.Verify] reports
// the remaining ones.
func moveSpooled(ctx context.Context, db *database.DB) {
	ctx, cancel := context.WithTimeout(ctx, mergeTime)
	defer cancel()
	if r, err := sqlite.New(ctx, db, sqlite.Options{}); err == nil {
		_ = r.Merge(ctx)
	}
}

// hasHead reports whether a head file exists, so that a store with rows was here.
func hasHead(path string) bool {
	info, err := os.Stat(database.HeadPath(path))
	return err == nil && info.Size() > 0
}

// magic starts the file of a store.
const magic = "SQLite format 3\x00"

// firstBytes reads the start of a file.
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

// Close closes the files.
func (l *Log) Close() error {
	if l.db != nil {
		return l.db.Close()
	}
	return nil
}

// Path returns the path of the log.
func (l *Log) Path() string { return l.path }

// Lines calls f with the sealed lines after a number, oldest first, without their line ends, until
// f returns false. f may keep the line.
func (l *Log) Lines(ctx context.Context, after int64, session stopgate.SessionID, f func(line []byte) bool) error {
	if l.db != nil {
		return sqlite.Rows(ctx, l.db, after, session, func(_ int64, line []byte) bool { return f(line) })
	}
	return l.file.lines(ctx, after, f)
}

// Rows is Lines with decoded rows.
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
	text, _ := json.Marshal(s) // marshalling a string cannot fail
	return string(text)
}

// Last returns the number of the row before the newest n rows.
func (l *Log) Last(ctx context.Context, n int64) (after int64, err error) {
	if l.db != nil {
		return sqlite.Last(ctx, l.db, n)
	}
	head, err := l.Head(ctx)
	return max(0, head.Seq-n), err
}

// Head returns the end of the chain, from its last row.
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

// Check is the result of [Log.Verify].
type Check struct {
	audit.Report
	// Changed are the hashes of stored arguments that no longer match them.
	Changed []string
	// Spooled reports that rows are spooled next to the store and not in the chain yet.
	Spooled bool
	// Known is the number of the row with the requested hash, 0 if there is none.
	Known int64
}

// Verify reads the whole chain. head is the hash of a row that must be in it, from a copy kept
// elsewhere; "" skips this check.
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

// sealed calls f with every line including its line end, and returns the number of bytes of an
// unfinished write after the last one. It calls next before every file but the first.
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

// Arguments returns the stored arguments of a row.
func (l *Log) Arguments(ctx context.Context, r *stopgate.Record) (a sqlite.Arguments, ok bool, err error) {
	if l.db == nil || r.ArgsHash == "" {
		return a, false, nil
	}
	return sqlite.ArgumentsOf(ctx, l.db, r.ArgsHash)
}

// Accept makes the end of the chain the head, after an operator replaced the store by a backup; see
// [sqlite.Accept].
func (l *Log) Accept(ctx context.Context, by string, now time.Time) (before, after audit.Head, err error) {
	if l.db == nil {
		return before, after, errors.New("records in a file have no head file")
	}
	return sqlite.Accept(ctx, l.db, by, now)
}
