package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/fleet"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
)

// fleetTables are the tables of accepted policy bundles and of the gates. Times are Unix microseconds.
var fleetTables = pgdb.Component{Name: "fleet", Migrations: []string{`
CREATE TABLE bundles(
	channel bytea PRIMARY KEY,
	generation bigint NOT NULL,
	digest text NOT NULL,
	at bigint NOT NULL
);

CREATE TABLE gates(
	name bytea PRIMARY KEY,
	seen bigint NOT NULL,
	body bytea NOT NULL
);
`}}

// AcceptBundle implements [fleet.Store]. The row of the channel is locked by its own statement, so that
// its generation only rises.
func (s *Store) AcceptBundle(ctx context.Context, channel string, b stopgate.Bundle, at time.Time) (newest stopgate.Bundle, err error) {
	err = s.db.Change(ctx, func(tx pgx.Tx) error {
		newest = stopgate.Bundle{}
		if b != (stopgate.Bundle{}) {
			_, err := tx.Exec(ctx, "INSERT INTO bundles(channel, generation, digest, at) VALUES($1, $2, $3, $4) ON CONFLICT(channel) DO UPDATE SET "+
				"generation = excluded.generation, digest = excluded.digest, at = excluded.at WHERE excluded.generation > bundles.generation",
				[]byte(channel), int64(b.Generation), b.Digest, at.UnixMicro())
			if err != nil {
				return err
			}
		}
		rows, err := tx.Query(ctx, "SELECT generation, digest FROM bundles WHERE channel = $1", []byte(channel))
		if err != nil {
			return err
		}
		var generation int64
		_, err = pgx.ForEachRow(rows, []any{&generation, &newest.Digest}, func() error {
			newest.Generation = uint64(generation)
			return nil
		})
		return err
	})
	if err != nil {
		return stopgate.Bundle{}, fmt.Errorf("accept a policy bundle: %w", err)
	}
	return newest, nil
}

// PutGate implements [fleet.Store].
func (s *Store) PutGate(ctx context.Context, g fleet.Gate) error {
	body, err := json.Marshal(g)
	if err == nil {
		err = s.db.Change(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "DELETE FROM gates WHERE name IN (SELECT name FROM gates WHERE seen < $1 FOR UPDATE SKIP LOCKED)", g.Seen.Add(-fleet.Kept).UnixMicro()); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "INSERT INTO gates(name, seen, body) VALUES($1, $2, $3) ON CONFLICT(name) DO UPDATE SET seen = excluded.seen, body = excluded.body",
				[]byte(g.Name), g.Seen.UnixMicro(), body)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("store the state of a gate: %w", err)
	}
	return nil
}

// Gates implements [fleet.Store].
func (s *Store) Gates(ctx context.Context) (list []fleet.Gate, err error) {
	err = s.db.Query(ctx, func(rows pgx.Rows) error {
		list = nil
		var body []byte
		_, err := pgx.ForEachRow(rows, []any{&body}, func() error {
			var g fleet.Gate
			if err := json.Unmarshal(body, &g); err != nil {
				return err
			}
			list = append(list, g)
			return nil
		})
		return err
	}, "SELECT body FROM gates ORDER BY name")
	if err != nil {
		return nil, fmt.Errorf("list the gates: %w", err)
	}
	return list, nil
}
