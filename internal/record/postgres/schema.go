package postgres

import "github.com/stopgate/stopgate/internal/store/postgres/pgdb"

// Tables are the tables of this package.
//
// records holds the rows in their stored form ([auditrow.Stored]), those of earlier versions as lines; its other columns only serve to find them. It is partitioned by
// written, the time of the database at which a row was written, in microseconds since 1970. It
// never decreases within a chain, so that the rows of a dropped partition are the first ones of their
// chains. time is the time in the row, by the clock of the gate.
//
// rule_id is the id of the rule, NULL without one, and empty in rows of earlier versions, which have any rule.
//
// ahead and behind are the largest differences of time and written in a chain, in both directions. They
// bound written for a condition on time.
//
// Decisions are unique over all partitions, which an index of a partitioned table cannot enforce: their
// ids have a table of their own.
//
// Each chain keeps its own copy of arguments: gates would otherwise wait for each other to commit
// equal ones.
var Tables = pgdb.Component{Name: "audit", Migrations: []string{`
CREATE TABLE record_chains(
	number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id text COLLATE "C" NOT NULL UNIQUE,
	gate bytea NOT NULL,
	seq bigint NOT NULL DEFAULT 0,
	hash text NOT NULL DEFAULT '',
	written bigint NOT NULL DEFAULT 0,
	ahead bigint NOT NULL DEFAULT 0,
	behind bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50); -- each append updates its row: there is room for it on the page
CREATE INDEX record_chains_gate ON record_chains(gate);

CREATE TABLE records(
	written bigint NOT NULL,
	chain integer NOT NULL,
	seq bigint NOT NULL,
	time bigint NOT NULL,
	final boolean NOT NULL,
	event text,
	id bytea,
	session bytea,
	principal bytea,
	agent bytea,
	surface text,
	tool bytea,
	mode smallint,
	status text,
	code text,
	rule text,
	line bytea NOT NULL
) PARTITION BY RANGE(written);
CREATE TABLE records_default PARTITION OF records DEFAULT;
CREATE INDEX records_order ON records(written, chain, seq);
CREATE INDEX records_chain ON records(chain, seq);
CREATE INDEX records_id ON records(id) WHERE id IS NOT NULL;
CREATE INDEX records_session ON records(session, written) WHERE session IS NOT NULL;
CREATE INDEX records_principal ON records(principal, written) WHERE principal IS NOT NULL;
CREATE INDEX records_tool ON records(tool, written) WHERE tool IS NOT NULL;
CREATE INDEX records_code ON records(code, written) WHERE code IS NOT NULL;
CREATE INDEX records_time ON records USING brin(time);
CREATE INDEX records_asked ON records(written) WHERE event = 'asked';
INSERT INTO partitioned VALUES('records', 1000000);

CREATE TABLE record_decisions(
	id bytea PRIMARY KEY,
	written bigint NOT NULL
);
CREATE INDEX record_decisions_written ON record_decisions(written);

CREATE TABLE record_arguments(
	hash bytea NOT NULL,
	chain integer NOT NULL,
	time bigint NOT NULL,
	redacted text,
	text bytea NOT NULL,
	PRIMARY KEY(hash, chain)
);
CREATE INDEX record_arguments_time ON record_arguments(time);

-- claim_chain returns a chain that no session uses, and marks it as used by this one: of the gate if
-- there is one, else a new one.
CREATE FUNCTION claim_chain(of_gate bytea, new_id text, class integer, OUT chain integer, OUT chain_id text) LANGUAGE plpgsql AS $$
BEGIN
	FOR chain, chain_id IN SELECT number, id FROM record_chains WHERE gate = of_gate ORDER BY number LOOP
		IF pg_try_advisory_lock(class, chain) THEN
			RETURN;
		END IF;
	END LOOP;
	INSERT INTO record_chains(id, gate) VALUES(new_id, of_gate) RETURNING number, id INTO chain, chain_id;
	PERFORM pg_advisory_lock(class, chain);
END $$;

-- lock_records locks the partition of a month that ends before a time, and waits for an automatic vacuum of
-- it to give way, which happens after a second.
CREATE FUNCTION lock_records(part text, before bigint) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '3s' AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM partitions_of('records', before) p WHERE p = part) THEN
		RETURN false;
	END IF;
	EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', part);
	RETURN true;
END $$;

-- drop_records drops the partition of a month that ends before a time, with the rights of the owner.
CREATE FUNCTION drop_records(part text, before bigint) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM partitions_of('records', before) p WHERE p = part) THEN
		RETURN false;
	END IF;
	EXECUTE format('DROP TABLE %I', part);
	RETURN true;
END $$;
`, `
CREATE TABLE record_texts(
	log text COLLATE "C" NOT NULL,
	number bigint NOT NULL,
	time bigint NOT NULL,
	redacted boolean NOT NULL,
	text bytea NOT NULL,
	PRIMARY KEY(log, number)
);
CREATE INDEX record_texts_time ON record_texts(time);
`, `
ALTER TABLE records RENAME COLUMN line TO packed;
`, `
ALTER TABLE records ADD COLUMN rule_id bytea DEFAULT '';
CREATE INDEX records_rule ON records(rule_id, written) WHERE rule_id IS NOT NULL;
`}}

// lockClass is the first key of the advisory locks of chains: "SG".
const lockClass = 0x5347
