package jsonl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/record/jsonl"
	"github.com/stopgate/stopgate/internal/testkit/dropfs"
	"go.uber.org/goleak"
)

var _ gate.Recorder = (*jsonl.Recorder)(nil)

var (
	ctx = context.Background()
	at  = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
)

func row(id string) *stopgate.Record {
	mode := stopgate.Unattended
	return &stopgate.Record{
		Version: 1, Time: at, Kind: stopgate.RecordDecision, ID: stopgate.ProposalID(id),
		Tool: "fs_read", Status: stopgate.StatusAllowed, Mode: &mode, Code: stopgate.CodeRuleMatched,
	}
}

func open(t testing.TB, path string, o jsonl.Options) *jsonl.Recorder {
	t.Helper()
	rec, err := jsonl.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() })
	return rec
}

func record(t testing.TB, rec *jsonl.Recorder, id string) {
	t.Helper()
	if err := rec.Record(ctx, row(id)); err != nil {
		t.Fatal(err)
	}
}

// rows reads a log with encoding/json and checks its chain.
func rows(t testing.TB, text []byte) []stopgate.Record {
	t.Helper()
	if _, err := audit.Verify(bytes.NewReader(text)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var all []stopgate.Record
	for line := range bytes.Lines(text) {
		var r stopgate.Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func ids(records []stopgate.Record) string {
	var b strings.Builder
	for _, r := range records {
		b.WriteString(string(r.ID) + string(r.Event) + " ")
	}
	return strings.TrimSpace(b.String())
}

// Proves I22, S25: rows are in the file when Record returns, and the chain continues after the file
// is opened again.
func TestChainContinuesAfterOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	rec := open(t, path, jsonl.Options{})
	record(t, rec, "A")
	if got := ids(rows(t, read(t, path))); got != "A" {
		t.Errorf("rows %q after the first Record", got)
	}
	record(t, rec, "B")
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	rec = open(t, path, jsonl.Options{})
	record(t, rec, "C")
	all := rows(t, read(t, path))
	if got := ids(all); got != "A B C" {
		t.Errorf("rows %q", got)
	}
	if all[0].Chain == "" || all[2].Chain != all[0].Chain || all[2].Seq != 3 {
		t.Errorf("the chain did not go on: %+v", all[2])
	}
	if h := rec.Head(); h.Seq != 3 || h.Hash != all[2].Hash || h.Chain != all[2].Chain {
		t.Errorf("head %+v", h)
	}
}

// Proves S25: mode 0600, also for a file that others could read.
func TestFileMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		rec := open(t, path, jsonl.Options{})
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
		rec.Close()
		os.Remove(path)
	}
}

// Proves S25: a second writer is refused, with the remedy.
func TestOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	rec := open(t, path, jsonl.Options{})
	_, err := jsonl.Open(path, jsonl.Options{})
	if !errors.Is(err, jsonl.ErrInUse) || !strings.Contains(err.Error(), "audit.jsonl: another stopgate writes") {
		t.Fatalf("second writer: %v", err)
	}
	rec.Close()
	open(t, path, jsonl.Options{})
}

func TestWhatIsNoLogIsRefused(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(other, []byte("dear diary\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "absent", "audit.jsonl"): "audit.jsonl: no such file",
		dir:         "is a directory",
		"/dev/null": "not a regular file",
		fifo:        "not a regular file",
		other:       "broken at line 1",
	} {
		if _, err := jsonl.Open(path, jsonl.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if got := read(t, other); string(got) != "dear diary\n" {
		t.Errorf("the refused file was changed: %q", got)
	}
}

// Proves I22: a modified chain is refused and not written to.
func TestABrokenChainIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	rec := open(t, path, jsonl.Options{})
	for _, id := range []string{"A", "B", "C"} {
		record(t, rec, id)
	}
	rec.Close()
	changed := bytes.Replace(read(t, path), []byte(`"id":"B"`), []byte(`"id":"X"`), 1)
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := jsonl.Open(path, jsonl.Options{})
	var broken *audit.BrokenError
	if !errors.As(err, &broken) || broken.Line != 2 || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("error %v", err)
	}
	if !bytes.Equal(read(t, path), changed) {
		t.Error("the broken file was changed")
	}
}

// Proves I22: at most one unfinished write is removed from the end, and recorded; more than a line
// of it is stored next to the log.
func TestTornTailIsRemovedAndRecorded(t *testing.T) {
	for _, c := range []struct {
		name, tail string
		kept       bool
	}{
		{"half a row", `{"v":1,"seq":3,"cha`, false},
		{"zeros", strings.Repeat("\x00", 700), false},
		{"a hole with a row behind it", strings.Repeat("\x00", 512) + "\"}\n{\"v\":1}\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			rec := open(t, path, jsonl.Options{})
			record(t, rec, "A")
			record(t, rec, "B")
			chain := rec.Head().Chain
			rec.Close()
			intact := read(t, path)
			if err := os.WriteFile(path, append(bytes.Clone(intact), c.tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			rec = open(t, path, jsonl.Options{Now: func() time.Time { return at }})
			record(t, rec, "C")
			all := rows(t, read(t, path))
			if got := ids(all); got != "A B torn_tail C" {
				t.Fatalf("rows %q", got)
			}
			if torn := all[2]; torn.Count != int64(len(c.tail)) || torn.Kind != stopgate.RecordEvent || !torn.Time.Equal(at) {
				t.Errorf("event row %+v", torn)
			}
			kept, err := os.ReadFile(path + ".torn-" + chain + "-2")
			if c.kept != (err == nil) || c.kept && string(kept) != c.tail {
				t.Errorf("kept %q, %v", kept, err)
			}
		})
	}
}

// A log with only an unfinished first row starts anew.
func TestATornFirstRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, []byte(`{"v":1,"s`), 0o600); err != nil {
		t.Fatal(err)
	}
	rec := open(t, path, jsonl.Options{})
	record(t, rec, "A")
	if got := ids(rows(t, read(t, path))); got != "torn_tail A" {
		t.Errorf("rows %q", got)
	}
}

// Proves I22: concurrent callers, one chain, no lost row, fewer syncs than rows.
func TestConcurrentRecordsShareSyncs(t *testing.T) {
	var fs dropfs.FS
	var syncs int
	fs.Fault = func(op dropfs.Op, _ int) error {
		if op == dropfs.Sync {
			syncs++
			time.Sleep(time.Millisecond) // in a synctest bubble: the others queue meanwhile
		}
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		rec, err := jsonl.Open("/audit.jsonl", jsonl.Options{FS: &fs})
		if err != nil {
			t.Fatal(err)
		}
		var callers sync.WaitGroup
		for c := range 16 {
			callers.Go(func() {
				for i := range 20 {
					record(t, rec, fmt.Sprintf("%d-%d", c, i))
				}
			})
		}
		callers.Wait()
		rec.Close()
	})
	text, _ := fs.Bytes("/audit.jsonl")
	seen := map[stopgate.ProposalID]bool{}
	for _, r := range rows(t, text) {
		seen[r.ID] = true
	}
	if len(seen) != 320 {
		t.Errorf("%d rows, want 320", len(seen))
	}
	if syncs > 60 {
		t.Errorf("%d syncs for 320 rows of 16 callers", syncs)
	}
}

// Proves H19: a caller that gives up before the write has no row; one that gives up during the
// write learns that it may have one.
func TestRecordAbandoned(t *testing.T) {
	var fs dropfs.FS
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		fs.Fault = func(op dropfs.Op, n int) error {
			if op == dropfs.Sync {
				<-hang
			}
			return nil
		}
		rec, err := jsonl.Open("/audit.jsonl", jsonl.Options{FS: &fs})
		if err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		first := make(chan error, 1)
		go func() { first <- rec.Record(short, row("written, not synced")) }()
		synctest.Wait()
		if err := rec.Record(short, row("never written")); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "may") {
			t.Errorf("given up in the queue: %v", err)
		}
		if err := <-first; !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "may or may not") {
			t.Errorf("given up in the sync: %v", err)
		}
		if err := rec.Record(short, row("dead on arrival")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended context: %v", err)
		}
		close(hang)
		record(t, rec, "after")
		rec.Close()
		if err := rec.Record(ctx, row("closed")); !errors.Is(err, jsonl.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if err := rec.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
	text, _ := fs.Bytes("/audit.jsonl")
	if got := ids(rows(t, text)); got != "written, not synced after" {
		t.Errorf("rows %q", got)
	}
}

// Close writes the queued rows; later callers get ErrClosed, and no caller hangs.
func TestCloseUnderLoad(t *testing.T) {
	defer goleak.VerifyNone(t)
	for range 50 {
		var fs dropfs.FS
		rec, err := jsonl.Open("/audit.jsonl", jsonl.Options{FS: &fs})
		if err != nil {
			t.Fatal(err)
		}
		var callers sync.WaitGroup
		var mu sync.Mutex
		acknowledged := map[stopgate.ProposalID]bool{}
		for c := range 8 {
			callers.Go(func() {
				for i := 0; ; i++ {
					r := row(fmt.Sprintf("%d-%d", c, i))
					if err := rec.Record(ctx, r); err != nil {
						if !errors.Is(err, jsonl.ErrClosed) {
							t.Error(err)
						}
						return
					}
					mu.Lock()
					acknowledged[r.ID] = true
					mu.Unlock()
				}
			})
		}
		for rec.Head().Seq < 20 {
			runtime.Gosched()
		}
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
		callers.Wait()
		text, _ := fs.Bytes("/audit.jsonl")
		for _, r := range rows(t, text) {
			delete(acknowledged, r.ID)
		}
		if len(acknowledged) != 0 {
			t.Fatalf("%d acknowledged rows are not in the log", len(acknowledged))
		}
	}
}

// A row that cannot be encoded fails without affecting others.
func TestRowThatCannotBeEncoded(t *testing.T) {
	var fs dropfs.FS
	rec := open(t, "/audit.jsonl", jsonl.Options{FS: &fs})
	long := row("A")
	long.Cause = strings.Repeat("x", auditrow.MaxSize)
	if err := rec.Record(ctx, long); err == nil {
		t.Error("a row over the limit was accepted")
	}
	record(t, rec, "B")
	text, _ := fs.Bytes("/audit.jsonl")
	if got := ids(rows(t, text)); got != "B" {
		t.Errorf("rows %q", got)
	}
}

// Proves I22: one write is never longer than what counts as torn.
func TestOneWriteIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &measuringFS{FS: &dropfs.FS{}}
		queued := make(chan struct{})
		fs.Fault = func(op dropfs.Op, n int) error {
			if op == dropfs.Sync {
				<-queued
			}
			return nil
		}
		rec, err := jsonl.Open("/audit.jsonl", jsonl.Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		var callers sync.WaitGroup
		for i := range 40 {
			callers.Go(func() {
				r := row(fmt.Sprint(i))
				r.Cause = strings.Repeat("x", 30000)
				if err := rec.Record(ctx, r); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait() // the first row is being synced, the others wait
		close(queued)
		callers.Wait()
		rec.Close()
		if fs.largest > auditrow.MaxTorn || fs.largest < auditrow.MaxTorn/2 {
			t.Errorf("%d bytes in one write", fs.largest)
		}
		if n := rec.Head().Seq; n != 40 {
			t.Errorf("%d rows", n)
		}
	})
}

// measuringFS records the largest write.
type measuringFS struct {
	*dropfs.FS
	largest int
}

type measuringFile struct {
	jsonl.File
	fs *measuringFS
}

func (fs *measuringFS) Open(path string) (jsonl.File, error) {
	f, err := fs.FS.Open(path)
	return measuringFile{f, fs}, err
}

func (f measuringFile) Write(p []byte) (int, error) {
	f.fs.largest = max(f.fs.largest, len(p))
	return f.File.Write(p)
}

// Proves I22, FM4: the rows of one call share their syncs, are in order, and are on the disk when
// the call returns; a fault fails all of them.
func TestRecordAll(t *testing.T) {
	var fs dropfs.FS
	var syncs int
	broken := false
	fs.Fault = func(op dropfs.Op, _ int) error {
		if op == dropfs.Sync {
			syncs++
		}
		if broken && op == dropfs.Write {
			return errors.New("no space left")
		}
		return nil
	}
	rec, err := jsonl.Open("/audit.jsonl", jsonl.Options{FS: &fs})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	some := func(names ...string) (list []*stopgate.Record) {
		for _, n := range names {
			list = append(list, row(n))
		}
		return list
	}
	syncs = 0
	if err := rec.RecordAll(t.Context(), some("A", "B", "C", "D", "E", "F", "G", "H")); err != nil {
		t.Fatal(err)
	}
	if syncs > 3 {
		t.Errorf("%d syncs for eight rows", syncs)
	}
	text, _ := fs.Bytes("/audit.jsonl")
	if got := ids(rows(t, text)); got != "A B C D E F G H" {
		t.Errorf("rows %q", got)
	}
	broken = true
	if err := rec.RecordAll(t.Context(), some("I", "J")); err == nil {
		t.Error("a write that failed is no error")
	}
	broken = false
	if err := rec.RecordAll(t.Context(), nil); err != nil {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := rec.RecordAll(gone, some("K")); err == nil {
		t.Error("nobody waits, and it is no error")
	}
	record(t, rec, "L")
	text, _ = fs.Bytes("/audit.jsonl")
	if got := ids(rows(t, text)); got != "A B C D E F G H L" {
		t.Errorf("rows %q", got)
	}
}
