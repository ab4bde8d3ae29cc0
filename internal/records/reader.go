package records

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/stopgate/stopgate/audit"
)

// reader reads a file of JSON lines. It remembers how far it came, so that following
// a long log reads only what is new.
type reader struct {
	path string
	at   int64       // bytes that were read
	seq  int64       // number of the row before at
	file os.FileInfo // the file that at is about
}

// lines calls f with the lines behind a number.
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
	})
	if errors.Is(err, stop) {
		return nil
	}
	return err
}

// sealed calls f with every line.
func (r *reader) sealed(ctx context.Context, f func(line []byte) error) (torn int64, err error) {
	return r.read(ctx, 0, f)
}

func (r *reader) read(ctx context.Context, after int64, f func(line []byte) error) (torn int64, err error) {
	if after > 0 && after >= r.seq && r.file != nil {
		if info, err := os.Stat(r.path); err == nil && os.SameFile(info, r.file) && info.Size() >= r.at {
			return r.one(ctx, r.at, f)
		}
	}
	return r.one(ctx, 0, f)
}

// one reads the file from an offset.
func (r *reader) one(ctx context.Context, from int64, f func(line []byte) error) (torn int64, err error) {
	file, err := os.Open(r.path)
	if err != nil {
		return 0, fmt.Errorf("audit log: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, fmt.Errorf("audit log: %w", err)
	}
	in := bufio.NewReaderSize(io.NewSectionReader(file, from, info.Size()-from), audit.MaxRow)
	for at := from; ; {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return int64(len(line)), nil
		case errors.Is(err, bufio.ErrBufferFull):
			return 0, fmt.Errorf("audit log %s: the line at byte %d is too long", r.path, at)
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

// seqOf reads the number of a row without reading the row.
func seqOf(line []byte) (int64, bool) {
	_, rest, ok := bytes.Cut(line[:min(len(line), 64)], []byte(`"seq":`))
	digits, _, ok2 := bytes.Cut(rest, []byte(","))
	n, err := strconv.ParseInt(string(digits), 10, 64)
	return n, ok && ok2 && err == nil
}
