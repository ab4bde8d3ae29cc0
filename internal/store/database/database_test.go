package database_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/store/database"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"
)

var ctx = context.Background()

var numbers = database.Component{Name: "numbers", Migrations: []string{
	"CREATE TABLE numbers(n INTEGER PRIMARY KEY) STRICT",
}}

func open(t *testing.T, path string, components ...database.Component) *database.DB {
	t.Helper()
	if components == nil {
		components = []database.Component{numbers}
	}
	db, err := database.Open(ctx, path, components...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func file(t *testing.T) string { return filepath.Join(t.TempDir(), "a ?#%.db") }

func insert(n int) func(*database.Tx) error {
	return func(tx *database.Tx) error {
		_, err := tx.Exec("INSERT INTO numbers VALUES(?)", n)
		return err
	}
}

func count(t *testing.T, db *database.DB) (n int) {
	t.Helper()
	err := db.Snapshot(ctx, func(tx *database.Tx) error {
		_, err := tx.Get([]any{&n}, "SELECT count(*) FROM numbers")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Proves I22: an acknowledged change is there when the file is opened again, and only
// its owner can read the file.
func TestChangeIsDurable(t *testing.T) {
	path := file(t)
	db := open(t, path)
	if err := db.Change(ctx, insert(1)); err != nil {
		t.Fatal(err)
	}
	other := open(t, path)
	if got := count(t, other); got != 1 {
		t.Errorf("%d rows, want 1", got)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%q has mode %v", suffix, info.Mode())
		}
	}
}

// Proves that a failed change is rolled back, and that the changes that share its
// transaction are not.
func TestFailedChangeIsRolledBack(t *testing.T) {
	db := open(t, file(t))
	boom := errors.New("boom")
	var callers sync.WaitGroup
	for i := range 200 {
		callers.Go(func() {
			err := db.Change(ctx, func(tx *database.Tx) error {
				if err := insert(i)(tx); err != nil {
					return err
				}
				if i%5 == 0 {
					return boom
				}
				return nil
			})
			if (i%5 == 0) != errors.Is(err, boom) {
				t.Errorf("change %d: %v", i, err)
			}
		})
	}
	callers.Wait()
	if got := count(t, db); got != 160 {
		t.Errorf("%d rows, want 160", got)
	}
}

// Proves that a panic in a change reaches only its caller.
func TestPanicReachesItsCaller(t *testing.T) {
	db := open(t, file(t))
	func() {
		defer func() {
			if v := recover(); v != "boom" {
				t.Errorf("recovered %v", v)
			}
		}()
		db.Change(ctx, func(tx *database.Tx) error {
			insert(1)(tx)
			panic("boom")
		})
	}()
	if err := db.Change(ctx, insert(2)); err != nil {
		t.Error(err)
	}
	if got := count(t, db); got != 1 {
		t.Errorf("%d rows, want 1", got)
	}
}

// Proves that a change reads the writes of all earlier changes, in the same transaction,
// process, or another one.
func TestChangesAreSerial(t *testing.T) {
	path := file(t)
	var callers sync.WaitGroup
	for range 3 {
		db := open(t, path)
		for range 8 {
			callers.Go(func() {
				for range 20 {
					err := db.Change(ctx, func(tx *database.Tx) error {
						var n int
						if _, err := tx.Get([]any{&n}, "SELECT count(*) FROM numbers"); err != nil {
							return err
						}
						return insert(n)(tx) // a duplicate fails
					})
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	callers.Wait()
	if got := count(t, open(t, path)); got != 480 {
		t.Errorf("%d rows, want 480", got)
	}
}

// Proves FM2: a locked database is an error at the caller's deadline, and
// the change is not written later.
func TestBusyUntilDeadline(t *testing.T) {
	path := file(t)
	db := open(t, path)
	other, err := sql.Open("sqlite", "file:"+filepath.Join(filepath.Dir(path), "a%20%3F%23%25.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	holder, err := other.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if _, err := holder.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	if err := db.Change(short, insert(1)); !errors.Is(err, database.ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if got := count(t, db); got != 0 { // readers do not wait
		t.Errorf("%d rows, want 0", got)
	}
	if _, err := holder.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := db.Change(ctx, insert(2)); err != nil {
		t.Error(err)
	}
	if got := count(t, db); got != 1 {
		t.Errorf("%d rows, want 1", got)
	}
}

// Proves that a file of another program and one of a newer version are refused
// and not changed.
func TestRefusedFiles(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("this is not a database, and it is long enough to look at its header, which has 100 bytes...............\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign.db")
	other, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec("CREATE TABLE t(x)"); err != nil {
		t.Fatal(err)
	}
	other.Close()
	for _, path := range []string{text, foreign} {
		before, _ := os.ReadFile(path)
		if _, err := database.Open(ctx, path, numbers); !errors.Is(err, database.ErrForeign) {
			t.Errorf("%s: error %v", path, err)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s was changed", path)
		}
	}
	if _, err := database.Open(ctx, dir, numbers); err == nil {
		t.Error("a directory was opened")
	}

	path := filepath.Join(dir, "new.db")
	newer := database.Component{Name: "numbers", Migrations: append(numbers.Migrations[:1:1], "ALTER TABLE numbers ADD COLUMN m INTEGER")}
	open(t, path, newer)
	var refused *database.NewerError
	if _, err := database.Open(ctx, path, numbers); !errors.As(err, &refused) || refused.Have != 2 || refused.Latest != 1 {
		t.Errorf("error %v", err)
	}
}

// Proves that several processes may make and migrate a file at once, and that
// components migrate independently.
func TestMigrations(t *testing.T) {
	path := file(t)
	var openers sync.WaitGroup
	for range 8 {
		openers.Go(func() {
			db, err := database.Open(ctx, path, numbers)
			if err != nil {
				t.Error(err)
				return
			}
			db.Close()
		})
	}
	openers.Wait()
	words := database.Component{Name: "words", Migrations: []string{"CREATE TABLE words(w TEXT) STRICT"}}
	db := open(t, path, numbers, words)
	err := db.Change(ctx, func(tx *database.Tx) error {
		_, err := tx.Exec("INSERT INTO words VALUES('a')")
		return err
	})
	if err != nil {
		t.Error(err)
	}
	broken := database.Component{Name: "numbers", Migrations: append(numbers.Migrations[:1:1], "CREATE TABLE half(x); NONSENSE")}
	if _, err := database.Open(ctx, path, broken); err == nil {
		t.Error("a broken migration passed")
	}
	open(t, path, numbers, words) // it was rolled back
}

// Proves FM4: a file that was removed or replaced is not written to: the rows
// would be lost.
func TestRemovedFileIsNotWritten(t *testing.T) {
	path := file(t)
	db := open(t, path)
	if err := os.Rename(path, path+".aside"); err != nil {
		t.Fatal(err)
	}
	var untrusted *database.UntrustedError
	for range 2 {
		if err := db.Change(ctx, insert(1)); !errors.As(err, &untrusted) {
			t.Errorf("error %v", err)
		}
	}
	select {
	case <-db.Failed():
	default:
		t.Error("Failed is not closed")
	}
}

// Proves that Close commits the queued changes and refuses later ones.
func TestClose(t *testing.T) {
	path := file(t)
	db, err := database.Open(ctx, path, numbers)
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	written := make(chan int, 100)
	for i := range 100 {
		callers.Go(func() {
			switch err := db.Change(ctx, insert(i)); {
			case err == nil:
				written <- i
			case !errors.Is(err, database.ErrClosed):
				t.Error(err)
			}
		})
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	callers.Wait()
	close(written)
	if got := count(t, open(t, path)); got != len(written) {
		t.Errorf("%d rows, %d acknowledged", got, len(written))
	}
}

func BenchmarkChange(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			db, err := database.Open(ctx, filepath.Join(b.TempDir(), "b.db"), numbers)
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			b.ReportAllocs()
			next := make(chan int, callers)
			var running sync.WaitGroup
			for range callers {
				running.Go(func() {
					for i := range next {
						if err := db.Change(ctx, insert(i)); err != nil {
							b.Error(err)
						}
					}
				})
			}
			for i := range b.N {
				next <- i
			}
			close(next)
			running.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "changes/s")
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "b.db")
	for range b.N {
		db, err := database.Open(ctx, path, numbers)
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Change(ctx, func(tx *database.Tx) error {
			_, err := tx.Exec("INSERT INTO numbers(n) SELECT coalesce(max(n), 0)+1 FROM numbers")
			return err
		}); err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}

// Proves S4: a file in a directory in which other users can create files is not opened.
// SQLite would take a write-ahead log of theirs for the newest part of its content.
func TestWritableDirectoryIsRefused(t *testing.T) {
	dir, real := t.TempDir(), t.TempDir()
	for _, path := range []string{dir, real} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	private := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(real, "a.db"), nil, 0o600), os.Symlink(filepath.Join(real, "a.db"), filepath.Join(private, "a.db"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "a.db"), filepath.Join(private, "a.db")} {
		if db, err := database.Open(t.Context(), path, numbers); err == nil {
			db.Close()
			t.Errorf("%s was opened", path)
		} else if !strings.Contains(err.Error(), "chmod go-w") {
			t.Error(err)
		}
	}
}
