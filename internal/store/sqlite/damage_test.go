package sqlite_test

import (
	"cmp"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/record/records"
	rows "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/internal/store/sqlite"
)

// deciding returns a gate with a store of a few rows.
func deciding(t *testing.T, s *sqlite.Store, calls int) *gate.Gate {
	t.Helper()
	p, err := program()
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.New(p, gate.WithRecorder(s.Recorder()), gate.WithStore(s), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	for range calls {
		if out := decideYes(t, g); !out.Allowed() {
			t.Fatalf("before: %v", out.Verdict)
		}
	}
	return g
}

func decideYes(t *testing.T, g *gate.Gate) stopgate.Outcome {
	t.Helper()
	out, err := g.Decide(ctx, stopgate.Call{Tool: "t", Session: "s", Principal: "local", Args: []byte(`{"a":"yes"}`)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func overwrite(t *testing.T, path string, n int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	garbage := make([]byte, n)
	for i := range garbage {
		garbage[i] = byte(i*7 + 13)
	}
	if _, err := f.WriteAt(garbage, 0); err != nil {
		t.Fatal(err)
	}
	// f stays open: closing a file of a store drops this process's locks on it.
	t.Cleanup(func() { f.Close() })
}

// Damage in place ends all releases at the next inspection, which runs once a second, and is found
// again when the store is opened or its records are verified.
func TestDamageInPlace(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"cut to nothing":  func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) },
		"the first 8 KiB": func(t *testing.T, path string) { overwrite(t, path, 8<<10) },
		"the log's head":  func(t *testing.T, path string) { overwrite(t, path+"-wal", 32) },
		"the log's 8 KiB": func(t *testing.T, path string) { overwrite(t, path+"-wal", 8<<10) },
		"the log cut":     func(t *testing.T, path string) { must(t, os.Truncate(path+"-wal", 100)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			s, err := sqlite.Open(ctx, path, sqlite.Options{})
			must(t, err)
			g := deciding(t, s, 10)
			must(t, s.Database().CheckNow())
			damage(t, path)
			if err := s.Database().CheckNow(); err == nil {
				// The log may hold intact copies of the damaged pages, which are then written
				// again.
				if name != "the first 8 KiB" {
					t.Fatal("not found")
				}
			} else if out := decideYes(t, g); out.Allowed() {
				t.Errorf("a call left: %v", out.Verdict)
			}
			// The state that the next process finds after this one is killed: complete if the log
			// holds all that was overwritten.
			crashed := filepath.Join(t.TempDir(), "s.db")
			for _, end := range []string{"", "-wal", "-head"} {
				text, err := os.ReadFile(path + end)
				must(t, err)
				must(t, os.WriteFile(crashed+end, text, 0o600))
			}
			_ = s.Close()
			log, err := records.Open(ctx, crashed)
			if err == nil {
				defer log.Close()
				var c records.Check
				c, err = log.Verify(ctx)
				err = cmp.Or(err, c.Err())
			}
			again, openErr := sqlite.Open(ctx, crashed, sqlite.Options{})
			if openErr == nil {
				defer again.Close()
			}
			switch {
			case err == nil && openErr == nil && name == "the first 8 KiB" && count(t, again)["allowed"] == 10:
			case err == nil || openErr == nil:
				t.Errorf("opened: %v, verified: %v", openErr, err)
			}
		})
	}
}

// Damage that shows without reading the file is detected before the next change is written: a
// process that handles one call has no other inspection.
func TestDamageIsSeenBeforeWrite(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"cut to nothing":  func(t *testing.T, path string) { must(t, os.Truncate(path, 0)) },
		"the log's head":  func(t *testing.T, path string) { overwrite(t, path+"-wal", 32) },
		"the log's 8 KiB": func(t *testing.T, path string) { overwrite(t, path+"-wal", 8<<10) },
		"the log cut":     func(t *testing.T, path string) { must(t, os.Truncate(path+"-wal", 10)) },
		"an empty log":    func(t *testing.T, path string) { must(t, os.Truncate(path+"-wal", 0)) },
		"no log":          func(t *testing.T, path string) { must(t, os.Remove(path+"-wal")) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.db")
			s, err := sqlite.Open(ctx, path, sqlite.Options{})
			must(t, err)
			defer s.Close()
			g := deciding(t, s, 10)
			damage(t, path)
			if out := decideYes(t, g); out.Allowed() {
				t.Errorf("a call left: %v", out.Verdict)
			}
			if s.Database().Err() == nil {
				t.Error("the file is still trusted")
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A head that is behind the store is the result of a crash and is moved; one that is ahead is
// damage, until an operator accepts it by name.
func TestHeadBehindAndAhead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	read := func(name string) []byte {
		t.Helper()
		text, err := os.ReadFile(name)
		must(t, err)
		return text
	}
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	must(t, err)
	deciding(t, s, 3)
	must(t, s.Close())
	oldHead, oldStore := read(database.HeadPath(path)), read(path)
	s, err = sqlite.Open(ctx, path, sqlite.Options{})
	must(t, err)
	deciding(t, s, 3)
	must(t, s.Close())

	must(t, os.WriteFile(database.HeadPath(path), oldHead, 0o600)) // as after a crash
	s, err = sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		t.Fatalf("a head behind the store: %v", err)
	}
	must(t, s.Close())

	must(t, os.WriteFile(path, oldStore, 0o600)) // a backup
	_, err = sqlite.Open(ctx, path, sqlite.Options{})
	var damaged *database.DamagedError
	if !errors.As(err, &damaged) {
		t.Fatalf("a head ahead of the store: %v", err)
	}
	log, err := records.Open(ctx, path)
	must(t, err)
	if c, err := log.Verify(ctx); err != nil || !errors.As(c.Err(), &damaged) {
		t.Errorf("verify: %v", err)
	}
	before, after, err := log.Accept(ctx, "ann", time.Now())
	if err != nil || before.Seq != 6 || after.Seq != 4 {
		t.Errorf("%v: %+v %+v", err, before, after)
	}
	must(t, log.Close())
	s = open(t, path)
	deciding(t, s, 1)
	if got := count(t, s); got["reconciled"] != 1 || got["allowed"] != 4 {
		t.Errorf("rows %v", got)
	}
}

// Two processes share one head, in any order of commits.
func TestTwoWritersShareHead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	a, b := open(t, path), open(t, path)
	for range 5 {
		deciding(t, a, 1)
		deciding(t, b, 1)
	}
	for _, s := range []*sqlite.Store{a, b} {
		must(t, s.Database().CheckNow())
		must(t, rows.CheckHead(ctx, s.Database()))
	}
}

// Pruning keeps the end of the chain, and verification does not miss pruned rows.
func TestPruningKeepsTheHead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	deciding(t, s, 5)
	_, err := s.Retain(ctx, rows.Retention{Rows: time.Now().Add(time.Hour)}, time.Now())
	must(t, err)
	must(t, s.Database().CheckNow())
	must(t, rows.CheckHead(ctx, s.Database()))
}

// Modified arguments are found by verification, and reported when they are read.
func TestChangedArgumentsAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := openWith(t, path, sqlite.Options{Records: rows.Options{Arguments: audit.KeepFull}})
	deciding(t, s, 1)
	check := func(changed int) {
		t.Helper()
		log, err := records.Open(ctx, path)
		must(t, err)
		defer log.Close()
		c, err := log.Verify(ctx)
		if err != nil || c.Err() != nil || len(c.Changed) != changed {
			t.Errorf("%v, %q", err, c.Changed)
		}
		_, err = log.Rows(ctx, records.Mark{}, nil, func(r records.Row) bool {
			if a, ok, err := log.Arguments(ctx, &r.Record); err != nil || !ok || a.Changed != (changed > 0) {
				t.Errorf("%v %t %+v", err, ok, a)
			}
			return true
		})
		must(t, err)
	}
	check(0)
	other, err := sql.Open("sqlite", path)
	must(t, err)
	defer other.Close()
	_, err = other.Exec(`UPDATE audit_calls SET text = CAST('{"a":"no"}' AS BLOB)`)
	must(t, err)
	check(1)
}
