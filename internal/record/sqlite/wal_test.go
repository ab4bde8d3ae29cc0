package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
)

// Proves FM4: a write-ahead log of which only the header was overwritten loses no row. A process
// that has the store open accepts no further row, and writes all rows into the database when it
// closes. After a crash SQLite ignores such a log; the head file is then ahead of the database, and
// the store is refused.
func TestOverwrittenLogHeader(t *testing.T) {
	const rows = 5
	write := func(t *testing.T) (path string, db *database.DB) {
		path = filepath.Join(t.TempDir(), "a.db")
		db = open(t, path)
		rec := recorder(t, db, sqlite.Options{})
		for n := range rows {
			record(t, rec, decision(fmt.Sprint("p", n)))
		}
		f, err := os.OpenFile(path+"-wal", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt([]byte(strings.Repeat("garbage\n", 4)), 0); err != nil {
			t.Fatal(err)
		}
		if err := rec.Record(ctx, decision("late")); err == nil {
			t.Error("a row was accepted after the log was overwritten")
		}
		return path, db
	}
	t.Run("a clean stop", func(t *testing.T) {
		path, db := write(t)
		db.Close()
		again := open(t, path)
		if report := verify(t, again); report.Rows != rows || report.Lost != 0 {
			t.Errorf("%+v", report)
		}
		if err := sqlite.CheckHead(ctx, again); err != nil {
			t.Error(err)
		}
	})
	t.Run("a crash", func(t *testing.T) {
		path, _ := write(t)
		crashed := filepath.Join(t.TempDir(), "a.db")
		for _, end := range []string{"", "-wal", "-head"} {
			text, err := os.ReadFile(path + end)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(crashed+end, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		db, err := database.Open(ctx, crashed, sqlite.Tables)
		if err == nil {
			defer db.Close()
			err = sqlite.CheckHead(ctx, db)
		}
		if err == nil {
			t.Error("a store that lost rows is accepted")
		}
		t.Log(err)
	})
}
