package sqlite

import "github.com/stopgate/stopgate/internal/store/database"

// Tables are the tables of this package.
//
// audit_rows holds the sealed lines; its other columns only serve to find them. Times are
// microseconds since 1970.
var Tables = database.Component{Name: "audit", Migrations: []string{`
CREATE TABLE audit_chain(
	one INTEGER PRIMARY KEY CHECK(one = 1),
	id TEXT NOT NULL
) STRICT;
INSERT INTO audit_chain VALUES(1, upper(hex(randomblob(13))));

CREATE TABLE audit_rows(
	seq INTEGER PRIMARY KEY,
	time INTEGER NOT NULL,
	final INTEGER NOT NULL,
	id TEXT,
	session TEXT,
	line BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX audit_decisions ON audit_rows(id) WHERE final;
CREATE INDEX audit_events ON audit_rows(id) WHERE id IS NOT NULL AND NOT final;
CREATE INDEX audit_sessions ON audit_rows(session) WHERE session IS NOT NULL;

CREATE TABLE audit_arguments(
	hash TEXT PRIMARY KEY,
	time INTEGER NOT NULL,
	redacted TEXT,
	text BLOB NOT NULL
) STRICT;
CREATE INDEX audit_ages ON audit_arguments(time);
`, `
DROP INDEX audit_ages;
`, `
CREATE TABLE audit_texts(
	id INTEGER PRIMARY KEY,
	log TEXT NOT NULL,
	number INTEGER NOT NULL,
	time INTEGER NOT NULL,
	redacted INTEGER NOT NULL,
	text BLOB NOT NULL,
	UNIQUE(log, number)
) STRICT;
`}}
