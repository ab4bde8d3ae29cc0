package database_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/store/database"
)

// Proves FM4: a process that runs while a newer version changes the tables stops using the
// file, reports the cause and the remedy, and writes nothing more.
func TestNewerVersionMigratesMeanwhile(t *testing.T) {
	later := database.Component{Name: "numbers", Migrations: append(numbers.Migrations[:1:1],
		"CREATE TABLE figures(n INTEGER PRIMARY KEY) STRICT; INSERT INTO figures SELECT n FROM numbers; DROP TABLE numbers")}
	read := func(db *database.DB) error {
		return db.Snapshot(ctx, func(tx *database.Tx) error {
			_, err := tx.Get([]any{new(int)}, "SELECT count(*) FROM numbers")
			return err
		})
	}
	uses := map[string]func(db *database.DB) error{
		"change":   func(db *database.DB) error { return db.Change(ctx, insert(2)) },
		"snapshot": read,
		"row": func(db *database.DB) error {
			_, err := db.Get(ctx, []any{new(int)}, "SELECT count(*) FROM numbers")
			return err
		},
		"snapshot of its own connection": func(db *database.DB) error {
			err := read(db)
			for range 20 {
				err = read(db)
			}
			return err
		},
		"change after another": func(db *database.DB) error {
			return db.Change(ctx, func(tx *database.Tx) error {
				if _, err := tx.Exec("INSERT INTO others VALUES(1)"); err != nil {
					return err
				}
				return insert(2)(tx)
			})
		},
	}
	for name, use := range uses {
		path := file(t)
		others := database.Component{Name: "others", Migrations: []string{"CREATE TABLE others(n INTEGER) STRICT"}}
		db := open(t, path, numbers, others)
		if err := db.Change(ctx, insert(1)); err != nil {
			t.Fatal(err)
		}
		if err := read(db); err != nil {
			t.Fatal(err)
		}
		newer := open(t, path, later, others)
		var untrusted *database.UntrustedError
		var refused *database.NewerError
		err := use(db)
		if !errors.As(err, &untrusted) || !errors.As(err, &refused) || refused.Have != 2 || refused.Latest != 1 {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		if text := err.Error(); !strings.Contains(text, "use the newer stopgate, and start this again") {
			t.Errorf("%s: %s", name, text)
		}
		select {
		case <-db.Failed():
		default:
			t.Errorf("%s: Failed is not closed", name)
		}
		var n, m int
		if _, err := newer.Get(ctx, []any{&n, &m}, "SELECT (SELECT count(*) FROM figures), (SELECT count(*) FROM others)"); err != nil || n != 1 || m != 0 {
			t.Errorf("%s: %d rows and %d others, %v", name, n, m, err)
		}
	}
}

// Proves FM4: a wrong statement is no evidence about the file.
func TestWrongStatement(t *testing.T) {
	db := open(t, file(t))
	for range 10 {
		if _, err := db.Get(ctx, []any{new(int)}, "SELECT n FROM nothing"); err == nil {
			t.Fatal("there is no such table")
		}
	}
	if err := db.Change(ctx, insert(1)); err != nil {
		t.Error(err)
	}
	if got := count(t, db); got != 1 {
		t.Errorf("%d rows, want 1", got)
	}
}

// Proves FM2: a file that cannot be opened for writing is refused with the remedy.
func TestFileThatCannotBeOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	db, err := database.Open(ctx, path, numbers)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+"-wal", 0o700); err != nil { // fails for root, too, unlike a directory without write permission
		t.Fatal(err)
	}
	if db, err = database.Open(ctx, path, numbers); err == nil {
		db.Close()
		t.Fatal("it was opened")
	}
	if !strings.Contains(err.Error(), "read a copy elsewhere") {
		t.Errorf("error %v", err)
	}
}
