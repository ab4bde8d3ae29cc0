package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/jsonl"
	"github.com/stopgate/stopgate/internal/testkit/dropfs"
)

// failOnce fails the n-th call of one kind, counted from 1.
func failOnce(op dropfs.Op, n int, err error) dropfs.Fault {
	return func(o dropfs.Op, _ int) error {
		if o == op {
			if n--; n == 0 {
				return err
			}
		}
		return nil
	}
}

// Proves FM4: after one failed sync the file gets no further row, even if the next sync succeeds;
// it is renamed, and the log continues in a new file.
func TestFailedSyncEndsTheFile(t *testing.T) {
	fs := &dropfs.FS{}
	rec := open(t, "/audit.jsonl", jsonl.Options{FS: fs})
	record(t, rec, "A")
	chain := rec.Head().Chain
	fs.Fault = failOnce(dropfs.Sync, 1, dropfs.ErrFault)
	var untrusted *jsonl.UntrustedError
	err := rec.Record(ctx, row("B"))
	if !errors.As(err, &untrusted) || !errors.Is(err, dropfs.ErrFault) {
		t.Fatalf("error %v", err)
	}
	select {
	case <-rec.Failed():
	default:
		t.Error("Failed is not closed")
	}
	for range 3 {
		if err := rec.Record(ctx, row("C")); !errors.As(err, &untrusted) {
			t.Errorf("a row was accepted after the failed sync: %v", err)
		}
	}
	if rec.Head().Seq != 1 {
		t.Errorf("head %+v counts a row that is not on the disk", rec.Head())
	}
	aside := "/audit.jsonl.untrusted-" + chain + "-1"
	if untrusted.Aside != aside || !strings.Contains(err.Error(), aside) {
		t.Errorf("aside %q, text %q", untrusted.Aside, err)
	}
	if _, ok := fs.Bytes(aside); !ok {
		t.Errorf("the file was not set aside: %v", fs.Names())
	}
	rec.Close()
	next := open(t, "/audit.jsonl", jsonl.Options{FS: fs})
	record(t, next, "D")
	text, _ := fs.Bytes("/audit.jsonl")
	if got := ids(rows(t, text)); got != "D" {
		t.Errorf("the new file has rows %q", got)
	}
}

func TestAFailedSyncWhereRenamingFailsToo(t *testing.T) {
	fs := &dropfs.FS{}
	rec := open(t, "/audit.jsonl", jsonl.Options{FS: fs})
	fs.Fault = func(op dropfs.Op, _ int) error {
		if op == dropfs.Sync || op == dropfs.Rename {
			return dropfs.ErrFault
		}
		return nil
	}
	var untrusted *jsonl.UntrustedError
	if err := rec.Record(ctx, row("A")); !errors.As(err, &untrusted) || untrusted.Aside != "/audit.jsonl" {
		t.Errorf("error %v", err)
	}
}

// Proves FM4: a full disk fails only the rows that do not fit. Their bytes are removed, and the log
// continues when there is space.
func TestAFullDisk(t *testing.T) {
	for keep := range 400 {
		fs := &dropfs.FS{}
		rec := open(t, "/audit.jsonl", jsonl.Options{FS: fs})
		record(t, rec, "A")
		fs.Fault = failOnce(dropfs.Write, 1, dropfs.Partial{Keep: keep})
		err := rec.Record(ctx, row("B"))
		var partial dropfs.Partial
		if !errors.As(err, &partial) || !strings.Contains(err.Error(), "audit log /audit.jsonl") {
			t.Fatalf("keep %d: error %v", keep, err)
		}
		record(t, rec, "C")
		rec.Close()
		text, _ := fs.Bytes("/audit.jsonl")
		if got := ids(rows(t, text)); got != "A C" {
			t.Fatalf("keep %d: rows %q", keep, got)
		}
	}
}

// A short write without an error is an error.
func TestAShortWrite(t *testing.T) {
	fs := shortFS{&dropfs.FS{}}
	rec := open(t, "/audit.jsonl", jsonl.Options{FS: fs})
	if err := rec.Record(ctx, row("A")); err == nil || !strings.Contains(err.Error(), "short write") {
		t.Errorf("error %v", err)
	}
	text, _ := fs.Bytes("/audit.jsonl")
	if len(text) != 0 {
		t.Errorf("%d bytes are left", len(text))
	}
}

type shortFS struct{ *dropfs.FS }

type shortFile struct{ jsonl.File }

func (fs shortFS) Open(path string) (jsonl.File, error) {
	f, err := fs.FS.Open(path)
	return shortFile{f}, err
}

func (f shortFile) Write(p []byte) (int, error) { return f.File.Write(p[:len(p)/2]) }

// If the unfinished row cannot be removed, the file is no longer used.
func TestFullDiskWithoutTruncate(t *testing.T) {
	fs := &dropfs.FS{}
	rec := open(t, "/audit.jsonl", jsonl.Options{FS: fs})
	record(t, rec, "A")
	fs.Fault = func(op dropfs.Op, _ int) error {
		switch op {
		case dropfs.Write:
			return dropfs.Partial{Keep: 10}
		case dropfs.Truncate:
			return dropfs.ErrFault
		}
		return nil
	}
	var untrusted *jsonl.UntrustedError
	var partial dropfs.Partial
	err := rec.Record(ctx, row("B"))
	if !errors.As(err, &untrusted) || !errors.As(err, &partial) || !errors.Is(err, dropfs.ErrFault) {
		t.Errorf("error %v", err)
	}
}

// Proves FM4, I22, H19: with a fault at every call of the recorder, a row is acknowledged only if
// it is in the log, the log stays a chain, and every failure returns an error.
func TestFaultAtEveryCall(t *testing.T) {
	healthy := &dropfs.FS{}
	scenario(healthy)
	points := healthy.Calls()
	if points < 20 {
		t.Fatalf("the scenario has only %d calls", points)
	}
	for at := range points {
		for _, fault := range []error{dropfs.ErrFault, dropfs.Partial{Keep: 7}} {
			t.Run(fmt.Sprintf("call %d %v", at, fault), func(t *testing.T) {
				fs := &dropfs.FS{}
				fs.Fault = func(_ dropfs.Op, n int) error {
					if n == at {
						return fault
					}
					return nil
				}
				acknowledged, failures := scenario(fs)
				fs.Fault = nil
				if failures == 0 {
					t.Error("no call returned the fault")
				}
				in := map[string]bool{}
				for _, name := range fs.Names() {
					if strings.Contains(name, ".torn-") {
						continue
					}
					text, _ := fs.Bytes(name)
					report, err := audit.Verify(bytes.NewReader(text))
					if err != nil {
						t.Errorf("%s: %v", name, err)
					}
					for _, r := range rows(t, text[:report.Size]) {
						in[string(r.ID)] = true
					}
				}
				for _, id := range acknowledged {
					if !in[id] {
						t.Errorf("acknowledged row %s is not in the log", id)
					}
				}
			})
		}
	}
}

// scenario opens a log with a torn tail, writes, closes, opens again and writes.
func scenario(fs *dropfs.FS) (acknowledged []string, failures int) {
	seed := &dropfs.FS{}
	if rec, err := jsonl.Open("/a", jsonl.Options{FS: seed}); err == nil {
		rec.Record(ctx, row("0"))
		rec.Close()
	}
	text, _ := seed.Bytes("/a")
	fs.Put("/audit.jsonl", append(text, "\x00\x00\n\x00"...))
	acknowledged = append(acknowledged, "0")
	for _, batch := range [][]string{{"1", "2"}, {"3", "4"}, {"5"}} {
		rec, err := jsonl.Open("/audit.jsonl", jsonl.Options{FS: fs})
		if err != nil {
			failures++
			continue
		}
		for _, id := range batch {
			if rec.Record(ctx, row(id)) == nil {
				acknowledged = append(acknowledged, id)
			} else {
				failures++
			}
		}
		if rec.Close() != nil {
			failures++
		}
	}
	return acknowledged, failures
}

// Every error of Open leaves the log unlocked.
func TestFailedOpenReleasesLock(t *testing.T) {
	for _, op := range []dropfs.Op{dropfs.Size, dropfs.SyncDir} {
		fs := &dropfs.FS{}
		fs.Fault = failOnce(op, 1, dropfs.ErrFault)
		if _, err := jsonl.Open("/audit.jsonl", jsonl.Options{FS: fs}); !errors.Is(err, dropfs.ErrFault) {
			t.Errorf("%s: error %v", op, err)
		}
		rec := open(t, "/audit.jsonl", jsonl.Options{FS: fs})
		record(t, rec, "A")
		rec.Close()
	}
}
