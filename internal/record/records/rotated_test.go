package records_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/jsonl"
	"github.com/stopgate/stopgate/internal/record/records"
)

// Proves S25: a rotated log reads as one: rows from any number, rows of a proposal, the head, the
// chain, also while it is rotated.
func TestRotatedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	lines, err := jsonl.Open(path, jsonl.Options{RotateBytes: 1500})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lines.Close() })
	written := 0
	write := func(n int) {
		t.Helper()
		for range n {
			if err := lines.Record(t.Context(), row(written)); err != nil {
				t.Fatal(err)
			}
			written++
		}
	}
	write(30)
	log, err := records.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	read := func(after int64) (ids string, last int64) {
		t.Helper()
		var list []string
		last = after
		_, err := log.Rows(t.Context(), records.After(after), nil, func(r records.Row) bool {
			if r.Seq != last+1 {
				t.Errorf("row %d behind %d", r.Seq, last)
			}
			last = r.Seq
			if r.Kind == stopgate.RecordDecision {
				list = append(list, string(r.ID))
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(list, " "), last
	}
	want := func(from, to int) string {
		var list []string
		for i := from; i < to; i++ {
			list = append(list, fmt.Sprint("P", i))
		}
		return strings.Join(list, " ")
	}
	got, last := read(0)
	if got != want(0, 30) || last != lines.Head().Seq || last < 35 {
		t.Fatalf("%d rows, head %+v: %s", last, lines.Head(), got)
	}
	// Follow the log through rotations.
	for from := 30; from < 60; from += 10 {
		write(10)
		if got, last = read(last); got != want(from, from+10) {
			t.Fatalf("followed to %d: %s", last, got)
		}
	}
	if heads, err := log.Heads(t.Context()); err != nil || len(heads) != 1 || heads[0].Head != lines.Head() {
		t.Errorf("%+v %v", heads, err)
	}
	if newest, _, err := log.Newest(t.Context(), 5, &records.Filter{}); err != nil || len(newest) != 5 || newest[0].Seq != last-4 {
		t.Error(newest, err)
	}
	fresh, err := records.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if _, err := fresh.Rows(t.Context(), records.After(last-5), nil, func(records.Row) bool { n++; return true }); err != nil || n != 5 {
		t.Error(n, err)
	}
	if rows, err := fresh.Of(t.Context(), "P3"); err != nil || len(rows) != 1 {
		t.Error(rows, err)
	}
	verify := func() (records.ChainCheck, error) {
		t.Helper()
		check, err := fresh.Verify(t.Context())
		if err != nil || len(check.Chains) != 1 {
			return records.ChainCheck{}, cmp.Or(err, errors.New("not one chain"))
		}
		return check.Chains[0], check.Chains[0].Err
	}
	check, err := verify()
	if err != nil || check.Rows != last || check.Head != lines.Head() {
		t.Fatalf("%+v %v", check, err)
	}

	// A modified row and a truncated file are reported with file and line.
	full, err := jsonl.Segments(path, check.Head.Chain)
	if err != nil || len(full) < 5 {
		t.Fatal(full, err)
	}
	text, err := os.ReadFile(full[2].Path)
	if err != nil {
		t.Fatal(err)
	}
	spoil := func(with string) error {
		t.Helper()
		if err := os.WriteFile(full[2].Path, []byte(with), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := verify()
		return err
	}
	var broken *audit.BrokenError
	rows := strings.SplitAfter(string(text), "\n")
	if err := spoil(rows[0] + strings.Replace(rows[1], "fs_", "sf_", 1) + strings.Join(rows[2:], "")); !errors.As(err, &broken) || broken.Line != 2 || broken.Offset != int64(len(rows[0])) ||
		!strings.Contains(err.Error(), full[2].Path) {
		t.Error(err)
	}
	if err := spoil(strings.Join(rows[:2], "")); !errors.As(err, &broken) || !strings.Contains(err.Error(), "missing") {
		t.Error(err)
	}
	if err := spoil(string(text[:len(text)-9])); err == nil || !strings.Contains(err.Error(), "middle of a row") {
		t.Error(err)
	}
	if err := spoil(string(text)); err != nil {
		t.Error(err)
	}
	// Without the oldest files it is a chain that starts later; without one in the middle it is
	// broken.
	if err := errors.Join(os.Remove(full[0].Path), os.Remove(full[1].Path)); err != nil {
		t.Fatal(err)
	}
	if check, err := verify(); err != nil || check.Rows != last-full[1].Last {
		t.Errorf("%+v %v", check, err)
	}
	if err := os.Remove(full[3].Path); err != nil {
		t.Fatal(err)
	}
	if _, err := verify(); !errors.As(err, &broken) {
		t.Error(err)
	}
}
