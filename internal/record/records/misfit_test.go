package records_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/store/database"
)

// Proves S25: the columns of all rows fit them, also where names have odd bytes and clocks are set back, and every changed
// column that hides a row from filters is reported.
func TestVerifyComparesColumns(t *testing.T) {
	for change, want := range map[string]string{
		"": "",
		"UPDATE audit_rows SET owner = 1 WHERE seq = 30":                                             "row 30 does not fit",
		"UPDATE audit_rows SET owner = NULL WHERE seq > 30 AND owner IS NOT NULL":                    "and 29 more",
		"UPDATE audit_rows SET class = 999 WHERE seq = 30":                                           "its class 999 is not in the file",
		"UPDATE audit_rows SET final = 0 WHERE seq = 33":                                             "the column final",
		"UPDATE audit_rows SET id = 'other' WHERE seq = 31":                                          `the column has "other"`,
		"UPDATE audit_chain SET behind = 0":                                                          "the bound of times",
		"UPDATE audit_chain SET newest = 0":                                                          "after the newest one",
		"UPDATE audit_rows SET class = (SELECT class FROM audit_rows WHERE seq = 34) WHERE seq = 33": "those of its class",
	} {
		path := filepath.Join(t.TempDir(), "s.db")
		r := recorderAt(t, path)
		for i := range 60 {
			row := mixed(i)
			row.ArgsHash = ""
			if i == 40 {
				row.Session, row.Tool = "s\xff\xfe", "t\xff\x00"
			}
			if err := r.Record(t.Context(), row); err != nil {
				t.Fatal(err)
			}
		}
		if change != "" {
			if err := r.Database().Change(t.Context(), func(tx *database.Tx) error { _, err := tx.Exec(change); return err }); err != nil {
				t.Fatal(err)
			}
		}
		log := open(t, path)
		check, err := log.Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := check.Err(); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change, err)
		}
		log.Close()
	}
}
