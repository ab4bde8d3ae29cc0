package pgdb_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
	"github.com/stopgate/stopgate/internal/testkit/postgres"
)

// Partitions of months that are over are dropped whole, others stay.
func TestPartitions(t *testing.T) {
	location := postgres.Database(t)
	table := pgdb.Component{Name: "rows", Migrations: []string{`
CREATE TABLE rows(at bigint NOT NULL) PARTITION BY RANGE(at);
CREATE TABLE rows_default PARTITION OF rows DEFAULT;
INSERT INTO partitioned VALUES('rows', 1000);
CREATE TABLE rows_2024_01 PARTITION OF rows FOR VALUES FROM (1704067200000) TO (1706745600000);
`}}
	db := open(t, location, table)
	now := time.Now().UTC()
	january := time.Date(2024, 1, 15, 0, 0, 0, 0, time.UTC)
	err := db.Change(t.Context(), func(tx pgx.Tx) error {
		for _, at := range []time.Time{january, january, now, now.AddDate(0, 0, 35), now.AddDate(1, 0, 0), time.UnixMilli(1)} {
			if _, err := tx.Exec(t.Context(), "INSERT INTO rows VALUES($1)", at.UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	var elsewhere, dropped, left int64
	err = db.Change(t.Context(), func(tx pgx.Tx) error {
		rows, err := tx.Query(t.Context(), "SELECT partitions_of('rows', $1)", now.UnixMilli())
		if err != nil {
			return err
		}
		if parts, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return err
		}
		if err := tx.QueryRow(t.Context(), "SELECT count(*) FROM rows_default").Scan(&elsewhere); err != nil {
			return err
		}
		for _, part := range []string{"rows_2024_01", "rows_default", "rows", "components", now.Format("rows_2006_01")} {
			var n int64
			if err := tx.QueryRow(t.Context(), "SELECT drop_partition('rows', $1, $2)", part, now.UnixMilli()).Scan(&n); err != nil {
				return err
			}
			dropped += n
		}
		return tx.QueryRow(t.Context(), "SELECT count(*) FROM rows").Scan(&left)
	})
	if err != nil || len(parts) != 1 || parts[0] != "rows_2024_01" || elsewhere != 2 || dropped != 2 || left != 4 {
		t.Errorf("%v: over %v, %d rows in the default partition, %d dropped, %d left", err, parts, elsewhere, dropped, left)
	}
}
