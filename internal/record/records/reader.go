package records

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/record/jsonl"
)

// reader reads a log of JSON lines including its full files. It stores its position, so that
// following a long log reads only new rows.
type reader struct {
	path string
	at   int64       // bytes read
	seq  int64       // number of the row before at
	file os.FileInfo // the file of at
}

// lines calls f with the lines after a number.
func (r *reader) lines(ctx context.Context, after int64, f func(line []byte) bool) error {
	stop := errors.New("enough")
	_, err := r.read(ctx, after, func(line []byte) error {
		if seq, ok := seqOf(line); ok && seq <= after {
			return nil
		}
		if !f(bytes.Clone(bytes.TrimSuffix(line, []byte("\n")))) {
			return stop
		}
		return nil
	}, func() {})
	if errors.Is(err, stop) {
		return nil
	}
	return err
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
