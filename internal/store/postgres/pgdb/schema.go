package pgdb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/stopgate/stopgate/internal/store/upgrade"
)

// Component is a group of tables with its own version. Version n is the result of its first n
// migrations; migrations are only appended.
//
// A running process checks versions only when a table or column of one of its statements is missing.
// A migration after which older statements would read or write something wrong must therefore remove
// or rename a table or column that they name.
type Component struct {
	Name       string
	Migrations []string // SQL, each may have several statements
}

// migrationLock is the key of the advisory lock under which tables are migrated: "stopgate".
const migrationLock = 0x73746f7067617465

// prepare compares the versions of the tables, and migrates them if they are older.
func (db *DB) prepare(ctx context.Context) error {
	current, err := versions(ctx, db.pool)
	switch StateOf(err) {
	case undefinedTable, invalidSchema:
		return db.migrate(ctx)
	}
	if err != nil {
		return err
	}
	upToDate, err := compare(current, db.components)
	if err != nil || upToDate {
		return err
	}
	if slices.ContainsFunc(db.components, func(c Component) bool { return current[c.Name] > 0 && current[c.Name] < len(c.Migrations) }) {
		var size int64
		if db.pool.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&size) != nil {
			size = 0
		}
		upgrade.Begins(ctx, db.name, size)
	}
	return db.migrate(ctx)
}

// compare reports whether all components are up to date.
func compare(current map[string]int, components []Component) (upToDate bool, err error) {
	upToDate = true
	for _, c := range components {
		have := current[c.Name]
		if have > len(c.Migrations) {
			return false, &NewerError{Component: c.Name, Have: have, Latest: len(c.Migrations)}
		}
		upToDate = upToDate && have == len(c.Migrations)
	}
	return upToDate, nil
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// versions reads the version of every component.
func versions(ctx context.Context, from querier) (map[string]int, error) {
	rows, err := from.Query(ctx, "SELECT name, version FROM components")
	if err != nil {
		return nil, err
	}
	current := map[string]int{}
	var name string
	var version int
	_, err = pgx.ForEachRow(rows, []any{&name, &version}, func() error {
		current[name] = version
		return nil
	})
	return current, err
}

// migrate runs the missing migrations in one transaction, on a connection without deadlines for
// statements. Other processes wait; they find the tables up to date.
func (db *DB) migrate(ctx context.Context) error {
	config := db.config.Copy()
	config.RuntimeParams["statement_timeout"] = "0"
	config.RuntimeParams["lock_timeout"] = "0"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return err
		}
		var exists bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", db.schema).Scan(&exists); err != nil {
			return err
		}
		if !exists {
			if _, err := tx.Exec(ctx, "CREATE SCHEMA "+db.schema); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS "+db.schema+".components(name text PRIMARY KEY, version integer NOT NULL)"); err != nil {
			return err
		}
		current, err := versions(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := compare(current, db.components); err != nil {
			return err
		}
		for _, c := range db.components {
			for _, step := range c.Migrations[current[c.Name]:] {
				if _, err := tx.Exec(ctx, step); err != nil {
					return fmt.Errorf("make the %s tables: %w", c.Name, err)
				}
			}
			if _, err := tx.Exec(ctx, "INSERT INTO components VALUES($1, $2) ON CONFLICT(name) DO UPDATE SET version = excluded.version",
				c.Name, len(c.Migrations)); err != nil {
				return err
			}
		}
		return nil
	})
	if StateOf(err) == insufficientRight {
		return fmt.Errorf("%w; open it once as the owner of the database, who creates and migrates the tables, as 'stopgate log verify --store URL' does", err)
	}
	return err
}

// newerSchema returns an error if a statement failed because a newer version has changed the tables
// since the database was opened; this process then has to end. It returns nil for other causes.
func (db *DB) newerSchema(failed error) error {
	switch StateOf(failed) {
	case undefinedTable, undefinedColumn, undefinedFunction:
	default:
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	current, err := versions(ctx, db.pool)
	if err != nil {
		return nil
	}
	var newer *NewerError
	if _, err := compare(current, db.components); errors.As(err, &newer) {
		return db.Distrust(newer)
	}
	return nil
}
