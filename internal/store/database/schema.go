package database

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/stopgate/stopgate/internal/store/upgrade"
	lib "modernc.org/sqlite/lib"
)

// Component is a group of tables with its own version. Version n is the result of its first n
// migrations; migrations are only appended.
//
// A running process checks versions only when one of its statements fails. A migration after which
// older statements would read or write something wrong must therefore remove or rename a table or
// column that they name.
type Component struct {
	Name       string
	Migrations []string // SQL, each may have several statements
}

// prepare checks that the file belongs to stopgate and creates the tables.
func (db *DB) prepare(ctx context.Context, components []Component) error {
	// A file of stopgate keeps its application id for good.
	var id, schema int
	err := db.conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id)
	if err == nil && id != applicationID {
		err = db.conn.QueryRowContext(ctx, // read together: another process may be creating the tables
			"SELECT application_id, schema_version FROM pragma_application_id, pragma_schema_version").Scan(&id, &schema)
	}
	if err != nil {
		return openError(err)
	}
	if id == applicationID {
		current, err := db.conn.versions(ctx)
		if err != nil {
			return openError(err)
		}
		if upToDate, err := compare(current, components); upToDate || err != nil {
			return err
		}
		if slices.ContainsFunc(components, func(c Component) bool { return current[c.Name] > 0 && current[c.Name] < len(c.Migrations) }) {
			var size int64
			if info, err := os.Stat(db.path); err == nil {
				size = info.Size()
			}
			upgrade.Begins(ctx, db.path, size)
		}
	} else {
		if id != 0 || schema != 0 {
			return ErrForeign
		}
		if _, err := db.conn.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
			return openError(err)
		}
	}
	if err = db.conn.migrate(ctx, components); code(err)&0xff == lib.SQLITE_IOERR {
		return openError(err)
	}
	return err
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

// newerSchema returns an error if a statement failed because a newer version has changed the tables
// since the file was opened; this process then has to end. It returns nil for other causes.
func (db *DB) newerSchema(c *conn, failed error) error {
	if code(failed)&0xff != lib.SQLITE_ERROR || db.untrusted.Load() != nil {
		return nil
	}
	current, err := c.versions(context.Background())
	if err != nil {
		return nil
	}
	var newer *NewerError
	if _, err := compare(current, db.components); errors.As(err, &newer) {
		return db.distrust(newer)
	}
	return nil
}

// versions reads the version of every component.
func (c *conn) versions(ctx context.Context) (map[string]int, error) {
	rows, err := c.QueryContext(ctx, "SELECT name, version FROM components")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	current := map[string]int{}
	for rows.Next() {
		var name string
		var version int
		if err := rows.Scan(&name, &version); err != nil {
			return nil, err
		}
		current[name] = version
	}
	return current, rows.Err()
}

// migrate runs the missing migrations in one transaction. Another process may have run them
// meanwhile.
func (c *conn) migrate(ctx context.Context, components []Component) (err error) {
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	_, err = c.ExecContext(ctx, "PRAGMA application_id = "+strconv.Itoa(applicationID)+
		"; CREATE TABLE IF NOT EXISTS components(name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT")
	if err != nil {
		return err
	}
	current, err := c.versions(ctx)
	if err != nil {
		return err
	}
	if _, err := compare(current, components); err != nil {
		return err
	}
	for _, component := range components {
		for _, step := range component.Migrations[current[component.Name]:] {
			if _, err := c.ExecContext(ctx, step); err != nil {
				return fmt.Errorf("make the %s tables: %w", component.Name, err)
			}
		}
		_, err := c.ExecContext(ctx, "INSERT INTO components VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET version = excluded.version",
			component.Name, len(component.Migrations))
		if err != nil {
			return err
		}
	}
	_, err = c.ExecContext(ctx, "COMMIT")
	return err
}
