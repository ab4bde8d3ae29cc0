package kinds

import (
	"context"
	"time"

	"github.com/stopgate/stopgate"
	records "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/sqlite"
)

func openSQLite(ctx context.Context, path string, o backend.Options) (backend.Store, error) {
	s, err := sqlite.Open(ctx, path, sqlite.Options{Records: recordOptions(o)})
	if err != nil {
		return nil, err
	}
	return sqliteStore{s}, nil
}

func spoolSQLite(path string, o backend.Options, row *stopgate.Record) error {
	return records.SpoolNextTo(path, recordOptions(o), row)
}

func recordOptions(o backend.Options) records.Options {
	return records.Options{Arguments: o.Arguments, Redactor: o.Redactor}
}

// sqliteStore is an SQLite file as a [backend.Store].
type sqliteStore struct{ *sqlite.Store }

// Recorder returns the recorder that writes to the file.
func (s sqliteStore) Recorder() backend.Recorder { return s.Store.Recorder() }

// Newest returns the time of the newest record.
func (s sqliteStore) Newest(ctx context.Context) (time.Time, error) {
	return records.NewestTime(ctx, s.Database())
}

// Err returns why the file is no longer trusted.
func (s sqliteStore) Err() error { return s.Database().Err() }

// Convert writes the records of an earlier version in the form of this one.
func (s sqliteStore) Convert(ctx context.Context, progress func(left int64)) error {
	return records.Convert(ctx, s.Database(), progress)
}

// Retain removes old data.
func (s sqliteStore) Retain(ctx context.Context, keep backend.Retention, now time.Time) (backend.Pruned, error) {
	pruned, err := s.Store.Retain(ctx, records.Retention(keep), now)
	return backend.Pruned{
		Rows: pruned.Rows, Arguments: pruned.Arguments, Facts: pruned.Facts, Sessions: pruned.Sessions, Approvals: pruned.Approvals,
		Conversations: pruned.Conversations, Responses: pruned.Responses, Texts: pruned.Texts, KeptTexts: pruned.KeptTexts,
	}, err
}
