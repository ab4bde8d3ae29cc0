package sqlite

import "github.com/stopgate/stopgate/internal/store/database"

// Tables are the tables of this package.
//
// audit_rows holds the rows in their stored form ([auditrow.Stored]); its other columns only serve to find them. Times are
// microseconds since 1970. class is the number of a [class] of rows in audit_classes, owner a number made of the
// session. Rows up to the number old are of earlier versions: those after the number converted are lines, with the session in a
// column and without a class.
//
// newest is a time that no row is more than [newestStep] after, behind the longest time by which a row is before it: both bound
// the numbers of the rows of a time. epoch changes when classes are removed.
//
// audit_names has the texts that rows and facts refer to by numbers; see [Names].
//
// audit_calls has the arguments, audit_arguments those that an earlier version stored.
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
`, `
ALTER TABLE audit_rows RENAME COLUMN line TO packed;
ALTER TABLE audit_rows ADD COLUMN class INTEGER;
ALTER TABLE audit_rows ADD COLUMN owner INTEGER;
DROP INDEX audit_sessions;
CREATE INDEX audit_class ON audit_rows(class) WHERE class IS NOT NULL;
CREATE INDEX audit_owner ON audit_rows(owner, class) WHERE owner IS NOT NULL;

CREATE TABLE audit_classes(
	id INTEGER PRIMARY KEY,
	members TEXT NOT NULL UNIQUE
) STRICT;

ALTER TABLE audit_chain ADD COLUMN newest INTEGER NOT NULL DEFAULT 0;
ALTER TABLE audit_chain ADD COLUMN behind INTEGER NOT NULL DEFAULT 0;
ALTER TABLE audit_chain ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE audit_chain ADD COLUMN old INTEGER NOT NULL DEFAULT 0;
ALTER TABLE audit_chain ADD COLUMN converted INTEGER NOT NULL DEFAULT 0;
UPDATE audit_chain SET old = coalesce((SELECT max(seq) FROM audit_rows), 0), newest = coalesce((SELECT max(time) FROM audit_rows), 0),
	behind = coalesce((SELECT max(highest - time) FROM (SELECT time, max(time) OVER (ORDER BY seq) AS highest FROM audit_rows)), 0);

CREATE TABLE audit_calls(
	hash BLOB PRIMARY KEY,
	time INTEGER NOT NULL,
	redacted TEXT,
	text BLOB NOT NULL
) STRICT, WITHOUT ROWID;
`, `
ALTER TABLE audit_rows RENAME COLUMN packed TO stored;
CREATE TABLE audit_names(
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL UNIQUE
) STRICT;
`}}
