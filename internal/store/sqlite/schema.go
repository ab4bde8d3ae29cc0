package sqlite

import "github.com/stopgate/stopgate/internal/store/database"

// tables are the tables of the store. Times of facts and of the gateway's response log (table
// ledger) are Unix milliseconds, those of approvals Unix microseconds.
//
// A principal is a row of sessions whose principal column is 0; its sessions refer to it by its id
// with the sign inverted. The rows that a call changes of both are thus on one page and found by
// one statement. The owner of a cell is the id of either.
//
// Facts and cells are in the form of package compact, those of earlier versions in JSON. Facts refer to the names of the records.
//
// The cell of a call refers to the facts of its release and its end by their positions.
//
// There are no indexes for rare queries or for pruning: every process that opens the file would
// read them, and every call would update most of them.
var tables = database.Component{Name: "store", Migrations: []string{`
CREATE TABLE principals(
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	head INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions(
	id INTEGER PRIMARY KEY,
	principal INTEGER NOT NULL,
	name TEXT NOT NULL,
	facts INTEGER NOT NULL,
	first INTEGER NOT NULL,
	last INTEGER NOT NULL,
	head INTEGER NOT NULL,
	UNIQUE(principal, name)
) STRICT;

CREATE TABLE cells(
	owner INTEGER NOT NULL,
	key TEXT NOT NULL,
	at INTEGER NOT NULL,
	cell BLOB NOT NULL,
	PRIMARY KEY(owner, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE facts(
	session INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	at INTEGER NOT NULL,
	fact BLOB NOT NULL,
	PRIMARY KEY(session, seq)
) STRICT, WITHOUT ROWID;
`, `
CREATE TABLE approvals(
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	binding TEXT NOT NULL,
	state TEXT NOT NULL,
	principal TEXT NOT NULL,
	session TEXT NOT NULL,
	expires INTEGER NOT NULL,
	body BLOB NOT NULL
) STRICT;
CREATE INDEX approvals_binding ON approvals(binding) WHERE binding <> '';
CREATE INDEX approvals_state ON approvals(state, expires);

CREATE TABLE grants(
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	principal TEXT NOT NULL,
	tool TEXT NOT NULL,
	expires INTEGER NOT NULL,
	body BLOB NOT NULL
) STRICT;
CREATE INDEX grants_tool ON grants(principal, tool);

CREATE TABLE attendance(
	one INTEGER PRIMARY KEY CHECK(one = 1),
	until INTEGER NOT NULL
) STRICT;
`, `
CREATE TABLE lockdown(
	one INTEGER PRIMARY KEY CHECK(one = 1),
	since INTEGER NOT NULL,
	author TEXT NOT NULL,
	reason TEXT NOT NULL
) STRICT;
`, `
CREATE TABLE ledger(
	principal TEXT NOT NULL,
	key TEXT NOT NULL,
	at INTEGER NOT NULL,
	text BLOB NOT NULL,
	PRIMARY KEY(principal, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_at ON ledger(at);
`, `
INSERT INTO sessions(id, principal, name, facts, first, last, head) SELECT -id, 0, name, 0, 0, 0, head FROM principals;
DROP TABLE principals;
DROP INDEX approvals_state;
DROP INDEX grants_tool;
DROP INDEX ledger_at;
`, `
ALTER TABLE facts RENAME COLUMN fact TO packed;
ALTER TABLE cells RENAME COLUMN cell TO packed;
`, `
ALTER TABLE facts RENAME COLUMN packed TO stored;
ALTER TABLE cells RENAME COLUMN packed TO stored;
`}}
