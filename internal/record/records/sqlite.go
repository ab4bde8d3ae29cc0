package records

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/record/spool"
	"github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
)

// file is a log in an SQLite file.
type file struct {
	path string
	db   *database.DB
}

// magic starts the file of a store.
const magic = "SQLite format 3\x00"

// atSQLite reports whether a path is that of a store, or of one that is gone.
func atSQLite(path string, head []byte) bool { return string(head) == magic || hasHead(path) }

// hasHead reports whether a head file exists, so that a store with rows was here.
func hasHead(path string) bool {
	info, err := os.Stat(database.HeadPath(path))
	return err == nil && info.Size() > 0
}

func openSQLite(ctx context.Context, path string) (source, error) {
	if !exists(path) {
		return nil, &database.DamagedError{Path: path, Err: errors.New("the file is gone")}
	}
	db, err := database.Open(ctx, path, sqlite.Tables)
	if err != nil {
		return nil, err
	}
	if spool.At(path).Waiting() > 0 {
		moveSpooled(ctx, db)
	}
	return &file{path: path, db: db}, nil
}

// mergeTime bounds how long a reader waits for spooled rows to be merged.
const mergeTime = 5 * time.Second

// moveSpooled merges spooled rows into the chain if the store can take them; verify reports the
// remaining ones.
func moveSpooled(ctx context.Context, db *database.DB) {
	ctx, cancel := context.WithTimeout(ctx, mergeTime)
	defer cancel()
	if r, err := sqlite.New(ctx, db, sqlite.Options{}); err == nil {
		_ = r.Merge(ctx)
	}
}

func (s *file) close() error { return s.db.Close() }

// selectionIn returns the part of a filter that the columns of a file answer.
func selectionIn(f *Filter) sqlite.Selection {
	s := sqlite.Selection{Session: string(f.Session), Rules: f.Rules}
	of := *f
	of.Session, of.Gate, of.Rules, of.Since, of.Until = "", "", nil, time.Time{}, time.Time{}
	if !of.zero() {
		s.Class = of.Matches
	}
	if !f.Since.IsZero() {
		s.Since = f.Since.UnixMicro()
	}
	if !f.Until.IsZero() {
		s.Until = f.Until.Add(time.Microsecond - 1).UnixMicro() // columns have no parts of a microsecond
	}
	return s
}

func (s *file) lines(ctx context.Context, after Mark, filter *Filter, f func(line []byte) bool) (Mark, error) {
	last := after.seq()
	err := sqlite.Rows(ctx, s.db, last, selectionIn(filter), func(seq int64, line []byte) bool {
		last = seq
		return f(line)
	})
	return After(last), err
}

func (s *file) chain(ctx context.Context, _ string, after int64, f func(line []byte) bool) error {
	_, err := s.lines(ctx, After(after), &Filter{}, f)
	return err
}

func (s *file) newest(ctx context.Context, n int64, filter *Filter) (lines [][]byte, end Mark, err error) {
	lines, last, err := sqlite.Newest(ctx, s.db, n, selectionIn(filter), filter.accept)
	return lines, After(last), err
}

func (s *file) of(ctx context.Context, id stopgate.ProposalID) ([][]byte, error) {
	return sqlite.Of(ctx, s.db, id)
}

func (s *file) heads(ctx context.Context) ([]Head, error) {
	head, err := sqlite.Head(ctx, s.db)
	return []Head{{Head: head}}, err
}

func (s *file) verify(ctx context.Context, c *Check) error {
	v := audit.NewVerifier()
	var broken error
	var misfits misfits
	err := sqlite.Inspect(ctx, s.db, func(seq int64, line []byte, misfit string) bool {
		if broken = v.Row(append(line, '\n')); broken != nil {
			return false
		}
		misfits.add(seq, misfit)
		c.found(v.Report().Head)
		return true
	})
	if err != nil || broken != nil {
		return c.add(v.Report(), errors.Join(err, broken))
	}
	report, err := v.End()
	if err != nil {
		return c.add(report, err)
	}
	c.Spooled = spool.At(s.path).Waiting() > 0
	if err := sqlite.CheckHead(ctx, s.db); err != nil {
		return c.add(report, err)
	}
	if err := misfits.err(); err != nil {
		return c.add(report, &database.DamagedError{Path: s.path, Err: err})
	}
	c.Changed, err = sqlite.ChangedArguments(ctx, s.db)
	return c.add(report, err)
}

// add adds the only chain of a log. It returns an error of reading, and keeps one of the chain.
func (c *Check) add(report audit.Report, err error) error {
	chain := ChainCheck{Report: report}
	if errors.As(err, new(*audit.BrokenError)) || errors.As(err, new(*database.DamagedError)) {
		chain.Err, err = err, nil
	}
	c.Chains = append(c.Chains, chain)
	return err
}

func (s *file) arguments(ctx context.Context, hash string) (Arguments, bool, error) {
	a, ok, err := sqlite.ArgumentsOf(ctx, s.db, hash)
	return Arguments(a), ok, err
}

func (s *file) texts(ctx context.Context, id string) ([]flow.KeptText, error) {
	return sqlite.TextsOf(ctx, s.db, id)
}

func (s *file) accept(ctx context.Context, by string, now time.Time) (before, after audit.Head, err error) {
	return sqlite.Accept(ctx, s.db, by, now)
}
