package postgres

import "github.com/stopgate/stopgate/internal/store/postgres/pgdb"

// tables are the tables of the store. Times of facts and of the gateway's response log (table
// ledger) are Unix milliseconds, those of approvals Unix microseconds.
//
// Principals and sessions have ids that are made of their names (see idOf), so that an update knows
// the owners of its cells before it reads them. All that an update of a principal writes is written
// under the lock of its row. The owner of a cell is the id of a session or of a principal.
//
// Facts are partitioned by month, so that old ones are dropped whole. Facts and cells are in the form of package compact,
// those of earlier versions in JSON.
var tables = pgdb.Component{Name: "store", Migrations: []string{`
CREATE TABLE principals(
	id bytea PRIMARY KEY,
	name bytea NOT NULL,
	head bigint NOT NULL DEFAULT 0,
	last bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE sessions(
	id bytea PRIMARY KEY,
	principal bytea NOT NULL,
	name bytea NOT NULL,
	facts bigint NOT NULL,
	first bigint NOT NULL,
	last bigint NOT NULL,
	head bigint NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX sessions_principal ON sessions(principal);

CREATE TABLE cells(
	owner bytea NOT NULL,
	key bytea NOT NULL,
	at bigint NOT NULL,
	cell bytea NOT NULL,
	PRIMARY KEY(owner, key)
) WITH (fillfactor = 80);

CREATE TABLE facts(
	session bytea NOT NULL,
	seq bigint NOT NULL,
	at bigint NOT NULL,
	fact bytea NOT NULL,
	PRIMARY KEY(session, seq, at)
) PARTITION BY RANGE(at);
CREATE TABLE facts_default PARTITION OF facts DEFAULT;
INSERT INTO partitioned VALUES('facts', 1000);

CREATE TABLE approvals(
	number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id bytea NOT NULL UNIQUE,
	binding bytea NOT NULL,
	state bytea NOT NULL,
	principal bytea NOT NULL,
	session bytea NOT NULL,
	expires bigint NOT NULL,
	body bytea NOT NULL
);
CREATE INDEX approvals_binding ON approvals(binding) WHERE binding <> '';
CREATE INDEX approvals_expires ON approvals(expires);

CREATE TABLE grants(
	number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id bytea NOT NULL UNIQUE,
	principal bytea NOT NULL,
	tool bytea NOT NULL,
	expires bigint NOT NULL,
	body bytea NOT NULL
);
CREATE INDEX grants_expires ON grants(expires);

CREATE TABLE attendance(
	one boolean PRIMARY KEY DEFAULT true CHECK(one),
	until bigint NOT NULL
);

CREATE TABLE lockdown(
	one boolean PRIMARY KEY DEFAULT true CHECK(one),
	since bigint NOT NULL,
	author bytea NOT NULL,
	reason bytea NOT NULL
);

CREATE TABLE ledger(
	id bytea PRIMARY KEY, -- of the principal and the key
	at bigint NOT NULL,
	text bytea NOT NULL
);
CREATE INDEX ledger_at ON ledger(at);

CREATE TABLE objections(
	proposal bytea PRIMARY KEY,
	probability double precision NOT NULL,
	explanation bytea NOT NULL,
	time bigint NOT NULL
);
CREATE INDEX objections_time ON objections(time);

CREATE TABLE conversations(
	id bytea PRIMARY KEY, -- of the name
	number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
	dir bytea NOT NULL,
	changed bigint NOT NULL,
	body bytea NOT NULL
);

CREATE TABLE conversation_entries(
	conversation bigint NOT NULL,
	seq integer NOT NULL,
	body bytea NOT NULL,
	PRIMARY KEY(conversation, seq)
);

CREATE TABLE texts(
	number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id bytea NOT NULL UNIQUE, -- of the names
	session bytea NOT NULL,   -- id of the session
	at bigint NOT NULL,
	position bigint NOT NULL,
	bytes bigint NOT NULL,
	lost boolean NOT NULL,
	key bytea NOT NULL,
	meaning bytea NOT NULL
);

CREATE TABLE text_segments(
	texts bigint NOT NULL,
	seq bigint NOT NULL,
	segment bytea NOT NULL,
	PRIMARY KEY(texts, seq)
);
`, `
ALTER TABLE texts ADD COLUMN kept bigint NOT NULL DEFAULT 0;
`, `
ALTER TABLE facts RENAME COLUMN fact TO packed;
ALTER TABLE cells RENAME COLUMN cell TO packed;
`}}
