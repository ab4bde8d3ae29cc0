package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
)

// A command says that it changes the tables of a large store, once, and not of a small one.
func TestUpgradesAreAnnounced(t *testing.T) {
	for _, size := range []int{0, 40 << 20} {
		path := filepath.Join(t.TempDir(), "s.db")
		db, err := database.Open(t.Context(), path, database.Component{Name: sqlite.Tables.Name, Migrations: sqlite.Tables.Migrations[:3]})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Change(t.Context(), func(tx *database.Tx) error {
			_, err := tx.Exec("INSERT INTO audit_texts(log, number, time, redacted, text) VALUES('l', 1, 1, 0, zeroblob(?))", size)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		for n := range 2 {
			var out, talk strings.Builder
			code := run([]string{"log", "--store", "sqlite:" + path}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk})
			if said := strings.Contains(talk.String(), path+", 4"); code != cli.ExitOK || said != (size > 0 && n == 0) {
				t.Errorf("%d bytes, run %d: exit %d, %s", size, n, code, &talk)
			}
		}
	}
}
