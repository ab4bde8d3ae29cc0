package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/record/jsonl"
	"github.com/stopgate/stopgate/internal/testkit/dropfs"
)

// chain reads all files of a log as one chain.
func chain(t *testing.T, path string) (report audit.Report, files []string, all []string) {
	t.Helper()
	text := read(t, path)
	current, err := audit.Verify(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	list, err := jsonl.Segments(path, current.Head.Chain)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		files = append(files, s.Path)
	}
	files = append(files, path)
	v := audit.NewVerifier()
	for _, name := range files {
		v.File()
		text := string(read(t, name))
		if name == path {
			text = text[:current.Size]
		}
		for line := range strings.Lines(text) {
			if err := v.Row([]byte(line)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if _, id, ok := strings.Cut(line, `"id":"`); ok {
				id, _, _ = strings.Cut(id, `"`)
				all = append(all, id)
			}
		}
	}
	report, err = v.End()
	if err != nil {
		t.Fatal(err)
	}
	return report, files, all
}

// Proves S25, I22: a full log continues in a new file, and all its files are one chain, also after
// a restart.
func TestRotateBySize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var want []string
	for life := range 3 {
		rec := open(t, path, jsonl.Options{RotateBytes: 2000})
		for i := range 20 {
			id := fmt.Sprintf("%d-%d", life, i)
			record(t, rec, id)
			want = append(want, id)
		}
		head := rec.Head()
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		report, files, got := chain(t, path)
		if len(files) < 3*(life+1) || report.Head != head || report.Rows != head.Seq || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("%d files, %+v, head %+v: %v", len(files), report, head, got)
		}
	}
	_, files, _ := chain(t, path)
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() > 3000 {
			t.Errorf("%s: %v %v", name, info, err)
		}
		if _, err := audit.Verify(bytes.NewReader([]byte(read(t, name)))); err != nil {
			t.Errorf("%s by itself: %v", name, err)
		}
	}
	if _, err := os.Stat(path + ".next"); !errors.Is(err, os.ErrNotExist) {
		t.Error("the file that comes next is still there")
	}
	// Without rotation the log continues in its file.
	rec := open(t, path, jsonl.Options{})
	for i := range 20 {
		record(t, rec, fmt.Sprint("last", i))
	}
	rec.Close()
	if _, more, _ := chain(t, path); len(more) != len(files) {
		t.Errorf("%d files, want %d", len(more), len(files))
	}
}

// Proves S25, S61: a log continues in a new file when the old one is old enough, and files whose
// rows are all older than the retention are removed.
func TestRotateByAgeAndPrune(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	day := 24 * time.Hour
	start := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	now := start
	o := jsonl.Options{RotateAge: day, Now: func() time.Time { return now }}
	write := func(id string) {
		t.Helper()
		rec := open(t, path, o)
		r := row(id)
		r.Time = now
		if err := rec.Record(ctx, r); err != nil {
			t.Fatal(err)
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		now = start.Add(time.Duration(i) * day / 2)
		write(fmt.Sprint(i))
	}
	report, files, _ := chain(t, path)
	if len(files) != 5 || report.Rows != 14 {
		t.Fatalf("%d files, %d rows", len(files), report.Rows)
	}
	for _, c := range []struct {
		before time.Time
		files  int
		rows   int64
	}{{start, 0, 0}, {start.Add(day), 0, 0}, {start.Add(day + time.Second), 1, 2}, {start.Add(3*day + time.Second), 2, 6}, {start.Add(100 * day), 1, 3}} {
		gone, err := jsonl.Prune(path, c.before)
		if err != nil || gone != (jsonl.Pruned{Files: c.files, Rows: c.rows}) {
			t.Errorf("before %s: %+v %v", c.before, gone, err)
		}
		left, _, _ := chain(t, path)
		if left.Head != report.Head {
			t.Errorf("the head is %+v, was %+v", left.Head, report.Head)
		}
	}
	if left, files, _ := chain(t, path); len(files) != 1 || left.Rows != 3 {
		t.Errorf("%d files, %d rows", len(files), left.Rows)
	}
	// A gap is not repaired.
	write("x")
	if _, err := jsonl.Prune(filepath.Join(t.TempDir(), "none"), now); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Proves FM4: a rotation that fails, at any call, loses no acknowledged row and leaves one chain;
// the log continues if it can.
func TestRotationFaults(t *testing.T) {
	const path = "/log/audit.jsonl"
	run := func(fault dropfs.Fault) (*dropfs.FS, []string, int) {
		f := &dropfs.FS{Fault: fault}
		rec, err := jsonl.Open(path, jsonl.Options{FS: f, RotateBytes: 900, Trouble: func(error) {}})
		if err != nil {
			return f, nil, f.Calls()
		}
		var acknowledged []string
		for i := range 12 {
			if id := fmt.Sprint("r", i); rec.Record(ctx, row(id)) == nil {
				acknowledged = append(acknowledged, id)
			}
		}
		rec.Close()
		return f, acknowledged, f.Calls()
	}
	_, all, calls := run(nil)
	if len(all) != 12 {
		t.Fatal(all)
	}
	for n := range calls {
		var hit dropfs.Op
		f, acknowledged, _ := run(func(op dropfs.Op, call int) error {
			if call == n {
				hit = op
				return dropfs.ErrFault
			}
			return nil
		})
		f.Fault = nil
		found := map[string]bool{}
		for _, name := range f.Names() {
			text, _ := f.Bytes(name)
			for line := range strings.Lines(string(text)) {
				if _, id, ok := strings.Cut(line, `"id":"`); ok {
					id, _, _ = strings.Cut(id, `"`)
					found[id] = true
				}
			}
		}
		for _, id := range acknowledged {
			if !found[id] {
				t.Errorf("%s at call %d: row %s is lost", hit, n, id)
			}
		}
		l := &life{fs: f}
		if err := l.readAll(); err != nil {
			t.Errorf("%s at call %d: %v", hit, n, err)
		}
		// The next start continues the same chain if there is one.
		rec, err := jsonl.Open(path, jsonl.Options{FS: f, RotateBytes: 900})
		if err != nil {
			t.Errorf("%s at call %d: %v", hit, n, err)
			continue
		}
		for range 6 {
			if err := rec.Record(ctx, row("later")); err != nil {
				t.Errorf("%s at call %d: %v", hit, n, err)
			}
		}
		rec.Close()
		if err := l.readAll(); err != nil {
			t.Errorf("%s at call %d, later: %v", hit, n, err)
		}
	}
}

// Proves FM4: a failed rotation is reported, and retried later.
func TestRotationFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	if err := os.Mkdir(path+".next", 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	var troubles []error
	rec := open(t, path, jsonl.Options{RotateBytes: 500, Now: func() time.Time { return now }, Trouble: func(err error) { troubles = append(troubles, err) }})
	for i := range 5 {
		record(t, rec, fmt.Sprint(i))
	}
	if len(troubles) != 1 {
		t.Errorf("%v", troubles)
	}
	if err := os.Remove(path + ".next"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Minute)
	record(t, rec, "5")
	rec.Close()
	if report, files, got := chain(t, path); len(files) != 2 || len(got) != 6 || report.Rows != 7 {
		t.Errorf("%v %v %+v", files, got, report)
	}
	if _, _, _, err := auditrow.Opening([]byte("{}\n")); err == nil {
		t.Error("no row")
	}
	for name, text := range map[string]string{"empty": "", "torn": `{"v":1,"seq":1,"ch`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if gone, err := jsonl.Prune(filepath.Join(dir, name), now); err != nil || gone != (jsonl.Pruned{}) {
			t.Errorf("%s: %+v %v", name, gone, err)
		}
	}
}
