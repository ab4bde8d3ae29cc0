package servers

import (
	"context"
	"time"

	records "github.com/stopgate/stopgate/internal/record/postgres"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/postgres"
)

func openPostgres(ctx context.Context, at string, o backend.Options) (backend.Store, error) {
	s, err := postgres.Open(ctx, at, records.Options{Gate: o.Gate, Arguments: o.Arguments, Redactor: o.Redactor, Local: o.Local})
	if err != nil {
		return nil, err
	}
	return postgresStore{s}, nil
}

// postgresStore is a PostgreSQL database as a [backend.Store].
type postgresStore struct{ *postgres.Store }

// Recorder returns the recorder that writes to the database.
func (s postgresStore) Recorder() backend.Recorder { return s.Store.Recorder() }

// Newest returns the time of the newest record.
func (s postgresStore) Newest(ctx context.Context) (time.Time, error) {
	return records.Newest(ctx, s.Database())
}

// Convert has nothing to do: rows of an earlier version have the columns of this one, and leave with their partitions.
func (s postgresStore) Convert(context.Context, func(left int64)) error { return nil }
