package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
)

// keyTables has the secrets that all gates of a database share.
var keyTables = pgdb.Component{Name: "keys", Migrations: []string{`
CREATE TABLE keys(
	name text PRIMARY KEY,
	key bytea NOT NULL
)`}}

// Key returns the secret of a name. It is fresh if there was none; of several gates that begin at
// once all get the same.
func (s *Store) Key(ctx context.Context, name string, fresh []byte) (key []byte, err error) {
	err = s.db.Change(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO keys(name, key) VALUES($1, $2) ON CONFLICT(name) DO NOTHING", name, fresh); err != nil {
			return err
		}
		// A statement of its own, which sees the row that another gate has committed meanwhile.
		return tx.QueryRow(ctx, "SELECT key FROM keys WHERE name = $1", name).Scan(&key)
	})
	if err == nil && len(key) != len(fresh) {
		err = errors.New("the stored key has another length")
	}
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", name, err)
	}
	return key, nil
}
