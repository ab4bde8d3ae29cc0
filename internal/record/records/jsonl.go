package records

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/record/jsonl"
)

// reader is a log of JSON lines with its full files. It stores its position, so that following a
// long log reads only new rows.
type reader struct {
	path string
	at   int64       // bytes read
	seq  int64       // number of the row before at
	file os.FileInfo // the file of at
}

// atLines reports whether a file holds JSON lines, or nothing yet.
func atLines(_ string, head []byte) bool { return head != nil && (len(head) == 0 || head[0] == '{') }

func openLines(_ context.Context, path string) (source, error) { return &reader{path: path}, nil }

func (r *reader) close() error { return nil }

func (r *reader) lines(ctx context.Context, after Mark, _ *Filter, f func(line []byte) bool) (Mark, error) {
	stop := errors.New("enough")
	last := after.seq()
	_, err := r.read(ctx, last, func(line []byte) error {
		seq, ok := seqOf(line)
		if ok && seq <= after.seq() {
			return nil
		}
		last = max(last, seq)
		if !f(bytes.Clone(bytes.TrimSuffix(line, []byte("\n")))) {
			return stop
		}
		return nil
	}, func() {})
	if errors.Is(err, stop) {
		err = nil
	}
	return After(last), err
}

func (r *reader) chain(ctx context.Context, _ string, after int64, f func(line []byte) bool) error {
	_, err := r.lines(ctx, After(after), &Filter{}, f)
	return err
}

func (r *reader) newest(ctx context.Context, n int64, filter *Filter) (lines [][]byte, end Mark, err error) {
	if !filter.zero() {
		return newestOf(ctx, r, n, filter)
	}
	heads, err := r.heads(ctx)
	if err != nil {
		return nil, Mark{}, err
	}
	return newestAfter(ctx, r, After(max(0, heads[0].Seq-n)))
}

func (r *reader) of(ctx context.Context, id stopgate.ProposalID) (lines [][]byte, err error) {
	text, _ := json.Marshal(string(id)) // marshalling a string cannot fail
	needle := append([]byte(`"id":`), text...)
	_, err = r.lines(ctx, Mark{}, nil, func(line []byte) bool {
		if bytes.Contains(line, needle) {
			if row, bad := parse(line); bad == nil && row.ID == id {
				lines = append(lines, line)
			}
		}
		return true
	})
	return lines, err
}

// heads returns the end of the chain, from its last row.
func (r *reader) heads(ctx context.Context) ([]Head, error) {
	last, err := r.last(ctx)
	if err != nil || last == nil {
		return []Head{{}}, err
	}
	row, err := parse(last)
	return []Head{{Head: audit.Head{Chain: row.Chain, Seq: row.Seq, Hash: row.Hash}}}, err
}

func (r *reader) verify(ctx context.Context, c *Check) error {
	v := audit.NewVerifier()
	torn, err := r.read(ctx, 0, func(line []byte) error {
		if err := v.Row(line); err != nil {
			return err
		}
		c.found(v.Report().Head)
		return nil
	}, v.File)
	if err != nil {
		return c.add(v.Report(), err)
	}
	report, err := v.End()
	report.Torn = torn
	return c.add(report, err)
}

func (r *reader) texts(context.Context, string) ([]flow.KeptText, error) { return nil, nil }

func (r *reader) arguments(context.Context, string) (a Arguments, ok bool, err error) {
	return a, false, nil
}

func (r *reader) accept(context.Context, string, time.Time) (before, after audit.Head, err error) {
	return before, after, errors.New("records in a file have no head file")
}

// last returns the last line, or nil for a log without rows.
func (r *reader) last(ctx context.Context) (line []byte, err error) {
	file, info, err := open(r.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// A file that was just started has a row, too: its checkpoint.
	_, err = r.one(ctx, file, info, 0, func(l []byte) error {
		line = append(line[:0], bytes.TrimSuffix(l, []byte("\n"))...)
		return nil
	})
	return line, err
}

// read reads the rows after a number, and possibly some before it, file by file; it calls next
// before every file but the first.
func (r *reader) read(ctx context.Context, after int64, f func(line []byte) error, next func()) (torn int64, err error) {
	// The log itself is opened first, so that a file rotated meanwhile is read once.
	file, info, err := open(r.path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if after > 0 && after >= r.seq && r.file != nil && os.SameFile(info, r.file) && info.Size() >= r.at {
		return r.one(ctx, file, info, r.at, f)
	}
	full, err := r.full(file, info, after)
	if err != nil {
		return 0, err
	}
	for _, s := range full {
		err := r.segment(ctx, s, f)
		if errors.Is(err, fs.ErrNotExist) {
			continue // pruned meanwhile
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", s.Path, err)
		}
		next()
	}
	return r.one(ctx, file, info, 0, f)
}

// full lists the full files with rows after a number.
func (r *reader) full(file *os.File, info os.FileInfo, after int64) (list []jsonl.Segment, err error) {
	line, err := bufio.NewReaderSize(io.NewSectionReader(file, 0, info.Size()), auditrow.MaxSize).ReadSlice('\n')
	if err != nil {
		return nil, nil // no row, or an unreadable one, which Verify reports
	}
	chain, _, _, err := auditrow.Opening(line)
	if err != nil {
		return nil, nil
	}
	all, err := jsonl.Segments(r.path, chain)
	for _, s := range all {
		at, err := os.Stat(s.Path)
		if s.Last > after && (err != nil || !os.SameFile(at, info)) {
			list = append(list, s)
		}
	}
	return list, err
}

// segment reads a full file.
func (r *reader) segment(ctx context.Context, s jsonl.Segment, f func(line []byte) error) error {
	file, info, err := open(s.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	torn, err := r.one(ctx, file, info, 0, f)
	if err == nil && torn > 0 {
		err = errors.New("the file ends in the middle of a row, and others follow")
	}
	return err
}

func open(path string) (*os.File, os.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("audit log: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("audit log: %w", err)
	}
	return file, info, nil
}

// one reads a file from an offset.
func (r *reader) one(ctx context.Context, file *os.File, info os.FileInfo, from int64, f func(line []byte) error) (torn int64, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(file, from, info.Size()-from), auditrow.MaxSize)
	for at := from; ; {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return int64(len(line)), nil
		case errors.Is(err, bufio.ErrBufferFull):
			return 0, fmt.Errorf("audit log %s: the line at byte %d is too long", file.Name(), at)
		case err != nil:
			return 0, fmt.Errorf("audit log: %w", err)
		}
		if err := errors.Join(ctx.Err(), f(line)); err != nil {
			return 0, err
		}
		at += int64(len(line))
		r.at, r.file = at, info
		if seq, ok := seqOf(line); ok {
			r.seq = seq
		}
	}
}

// seqOf returns the number of a row without decoding the row.
func seqOf(line []byte) (int64, bool) {
	_, rest, ok := bytes.Cut(line[:min(len(line), 64)], []byte(`"seq":`))
	digits, _, ok2 := bytes.Cut(rest, []byte(","))
	n, err := strconv.ParseInt(string(digits), 10, 64)
	return n, ok && ok2 && err == nil
}
