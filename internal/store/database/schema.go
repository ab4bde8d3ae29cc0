package database

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	lib "modernc.org/sqlite/lib"
)

// Component is a group of tables with a version of its own. Version n is what its
// first n migrations made; they are only ever appended to.
//
// A process that runs looks at versions only when a statement of its own fails. A
// migration after which older statements would read or write something wrong has to take
// from them a table or a column that they name.
type Component struct {
	Name       string
	Migrations []string // SQL, several statements each
}

// prepare checks whose file it is and makes the tables.
func (db *DB) prepare(ctx context.Context, components []Component) error {
	// One of ours has the mark for good.
	var id, schema int
	err := db.conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id)
	if err == nil && id != applicationID {
		err = db.conn.QueryRowContext(ctx, // both of one moment: another process may be making the tables
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
	} else {
		if id != 0 || schema != 0 {
			return ErrForeign
		}
		if _, err := db.conn.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
			return openError(err)
		}
	}
	return db.conn.migrate(ctx, components)
}

// compare reports whether there is nothing to do.
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

// left is why a statement failed that was good when the file was opened: a newer version
// has changed the tables since, and this process has to end. It is nil for other reasons.
func (db *DB) left(c *conn, failed error) error {
	if code(failed)&0xff != lib.SQLITE_ERROR || db.untrusted.Load() != nil {
		return nil
	}
	current, err := c.versions(context.Background())
	if err != nil {
		return nil
	}
	var newer *NewerError
	if _, err := compare(current, db.parts); errors.As(err, &newer) {
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

// migrate runs what is missing in one transaction. Another process may have done
// it since we looked.
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
