package pgdb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// partitions are the functions that add and drop the partitions of tables: one for every month, by
// a column with the time as a number, and a default one for all other times. They run with the
// rights of the owner of the tables, so that a gate needs none to create or drop tables.
//
// A component registers its table in its migration:
//
//	CREATE TABLE facts(...) PARTITION BY RANGE(at);
//	CREATE TABLE facts_default PARTITION OF facts DEFAULT;
//	INSERT INTO partitioned VALUES('facts', 1000); -- the unit of at is a thousandth of a second
var partitions = Component{Name: "partitions", Migrations: []string{`
CREATE TABLE partitioned(
	name text PRIMARY KEY,
	units bigint NOT NULL -- of a second
);

-- add_partitions creates the partitions of this month and the next two. A month of which the default
-- partition has rows already keeps them there.
CREATE FUNCTION add_partitions() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
	t partitioned;
	month timestamptz;
	part text;
BEGIN
	FOR t IN SELECT * FROM partitioned LOOP
		FOR n IN 0..2 LOOP
			month := date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
			month := (month AT TIME ZONE 'UTC' + make_interval(months => n)) AT TIME ZONE 'UTC';
			part := t.name || to_char(month AT TIME ZONE 'UTC', '"_"YYYY"_"MM');
			CONTINUE WHEN to_regclass(part) IS NOT NULL;
			BEGIN
				EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%s) TO (%s)', part, t.name,
					(extract(epoch FROM month) * t.units)::bigint,
					(extract(epoch FROM (month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC') * t.units)::bigint);
			EXCEPTION WHEN check_violation OR duplicate_table OR lock_not_available THEN
				NULL;
			END;
		END LOOP;
	END LOOP;
END $$;

-- partitions_of lists the partitions of months that end before a time, in the unit of the table.
CREATE FUNCTION partitions_of(parent text, before bigint) RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
	SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, partitioned t
	WHERE t.name = parent AND i.inhparent = parent::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'
	AND (extract(epoch FROM (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month')) * t.units)::bigint <= before
	ORDER BY 1
$$;

-- drop_partition drops one of them and returns how many rows it had. It locks the partition first: while
-- it waits for others that use it, such as autovacuum, rows go into other partitions.
CREATE FUNCTION drop_partition(parent text, part text, before bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
	n bigint;
BEGIN
	IF NOT EXISTS (SELECT FROM partitions_of(parent, before) p WHERE p = part) THEN
		RETURN 0;
	END IF;
	EXECUTE format('SELECT count(*) FROM %I', part) INTO n;
	EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', part);
	EXECUTE format('DROP TABLE %I', part);
	RETURN n;
END $$;
`}}

// keepPartitions adds the partitions of new months before they begin.
func (db *DB) keepPartitions() {
	tick := time.NewTicker(6 * time.Hour)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			db.addPartitions(ctx)
			cancel()
		case <-db.closing:
			return
		}
	}
}

// addPartitions is not necessary for any change: rows without a partition of their month go to the
// default one.
func (db *DB) addPartitions(ctx context.Context) {
	_, _ = db.pool.Exec(ctx, "SELECT add_partitions()")
}

// DropPartitions drops the partitions of a table whose months end before a time, in the unit of the
// table, each in a transaction of its own. It returns how many rows they had.
func (db *DB) DropPartitions(ctx context.Context, table string, before int64) (n int64, err error) {
	var parts []string
	err = db.Query(ctx, func(rows pgx.Rows) error {
		parts, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}, "SELECT partitions_of($1, $2)", table, before)
	for _, part := range parts {
		if err != nil {
			return n, err
		}
		var dropped int64
		err = db.Change(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SELECT set_config('statement_timeout', '600s', true), set_config('lock_timeout', '3s', true)"); err != nil {
				return err
			}
			return tx.QueryRow(ctx, "SELECT drop_partition($1, $2, $3)", table, part, before).Scan(&dropped)
		})
		n += dropped
	}
	return n, err
}
