package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/internal/store/fleet"
)

// fleetTables are the tables of accepted policy bundles and of the gates. Times are Unix microseconds.
var fleetTables = database.Component{Name: "fleet", Migrations: []string{`
CREATE TABLE bundles(
	channel TEXT PRIMARY KEY,
	generation INTEGER NOT NULL,
	digest TEXT NOT NULL,
	at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE gates(
	name TEXT PRIMARY KEY,
	seen INTEGER NOT NULL,
	body BLOB NOT NULL
) STRICT, WITHOUT ROWID;
`}}

// AcceptBundle implements [fleet.Store].
func (s *Store) AcceptBundle(ctx context.Context, channel string, b stopgate.Bundle, at time.Time) (newest stopgate.Bundle, err error) {
	read := func(tx *database.Tx) error {
		var generation int64
		found, err := tx.Get([]any{&generation, &newest.Digest}, "SELECT generation, digest FROM bundles WHERE channel = ?", channel)
		if found {
			newest.Generation = uint64(generation)
		}
		return err
	}
	if b == (stopgate.Bundle{}) {
		err = s.db.Snapshot(ctx, read)
	} else {
		err = s.db.Change(ctx, func(tx *database.Tx) error {
			_, err := tx.Exec("INSERT INTO bundles(channel, generation, digest, at) VALUES(?, ?, ?, ?) ON CONFLICT(channel) DO UPDATE SET "+
				"generation = excluded.generation, digest = excluded.digest, at = excluded.at WHERE excluded.generation > generation",
				channel, int64(b.Generation), b.Digest, at.UnixMicro())
			if err != nil {
				return err
			}
			return read(tx)
		})
	}
	if err != nil {
		return stopgate.Bundle{}, fmt.Errorf("accept a policy bundle: %w", err)
	}
	return newest, nil
}

// PutGate implements [fleet.Store].
func (s *Store) PutGate(ctx context.Context, g fleet.Gate) error {
	body, err := json.Marshal(g)
	if err == nil {
		err = s.db.Change(ctx, func(tx *database.Tx) error {
			if _, err := tx.Exec("DELETE FROM gates WHERE seen < ?", g.Seen.Add(-fleet.Kept).UnixMicro()); err != nil {
				return err
			}
			_, err := tx.Exec("INSERT INTO gates(name, seen, body) VALUES(?, ?, ?) ON CONFLICT(name) DO UPDATE SET seen = excluded.seen, body = excluded.body",
				g.Name, g.Seen.UnixMicro(), body)
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
	err = s.db.Snapshot(ctx, func(tx *database.Tx) error {
		list = nil
		rows, err := tx.Query("SELECT body FROM gates ORDER BY name")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var body []byte
			if err := rows.Scan(&body); err != nil {
				return err
			}
			var g fleet.Gate
			if err := json.Unmarshal(body, &g); err != nil {
				return err
			}
			list = append(list, g)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list the gates: %w", err)
	}
	return list, nil
}
