package jsonl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/record/auditrow"
)

// Segment is a full file of a rotated log.
type Segment struct {
	Path string
	Last int64 // number of its last row
}

// Segments returns the full files of a log's chain, oldest first. It leaves out names of the log
// itself, which it has during a rotation or after a crash.
func Segments(path, chain string) ([]Segment, error) {
	if chain == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	var list []Segment
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+"."+chain+"-")
		last, err := strconv.ParseInt(digits, 10, 64)
		if ok && err == nil && len(digits) >= 16 && !same(filepath.Join(filepath.Dir(path), e.Name()), path) {
			list = append(list, Segment{Path: filepath.Join(filepath.Dir(path), e.Name()), Last: last})
		}
	}
	slices.SortFunc(list, func(a, b Segment) int { return int(a.Last - b.Last) })
	return list, nil
}

// same reports whether two names belong to one file.
func same(a, b string) bool {
	one, err1 := os.Stat(a)
	two, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, two)
}

// Pruned counts the items that [Prune] removed.
type Pruned struct {
	Files int   `json:"files"`
	Rows  int64 `json:"rows"`
}

// Prune removes the full files of a log's chain in which every row is older than before. The first
// remaining file begins with the checkpoint that names the last removed row. A writer may be active
// meanwhile.
func Prune(path string, before time.Time) (removed Pruned, err error) {
	current, err := readOpening(path)
	if err != nil || current.chain == "" {
		return removed, err
	}
	list, err := Segments(path, current.chain)
	if err != nil {
		return removed, err
	}
	for i, s := range list {
		first, err := readOpening(s.Path)
		if err != nil {
			return removed, err
		}
		following := current
		if i+1 < len(list) {
			if following, err = readOpening(list[i+1].Path); err != nil {
				return removed, err
			}
		}
		// The next file starts when this one ends.
		if !following.at.Before(before) || following.seq != s.Last+1 {
			return removed, nil
		}
		if err := os.Remove(s.Path); err != nil {
			return removed, fmt.Errorf("prune the audit log: %w", err)
		}
		removed.Files++
		removed.Rows += s.Last - first.seq + 1
	}
	return removed, nil
}

// opening describes the first row of a file.
type opening struct {
	chain string // "" for an empty file
	seq   int64
	at    time.Time
}

// readOpening reads the first row of a file.
func readOpening(path string) (b opening, err error) {
	f, err := os.Open(path)
	if err != nil {
		return b, fmt.Errorf("audit log: %w", err)
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, auditrow.MaxSize).ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		return b, nil // an unfinished row does not count
	}
	if err == nil {
		b.chain, b.seq, b.at, err = auditrow.Opening(line)
	}
	if err != nil {
		return b, fmt.Errorf("audit log %s: %w", path, err)
	}
	return b, nil
}
