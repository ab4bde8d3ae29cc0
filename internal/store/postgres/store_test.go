package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/postgres"
	server "github.com/stopgate/stopgate/internal/testkit/postgres"
	"github.com/stopgate/stopgate/internal/testkit/storetest"
)

type stateOnly struct{ *postgres.Store }

func (stateOnly) Recorder() backend.Recorder                { return nil }
func (stateOnly) Newest(context.Context) (time.Time, error) { return time.Time{}, nil }

func TestSuites(t *testing.T) {
	storetest.Shared(t, func(t *testing.T) string { return server.Database(t) }, func(ctx context.Context, location string) (backend.Store, error) {
		s, err := postgres.Open(ctx, location, postgres.Options{})
		if err != nil {
			return nil, err
		}
		return stateOnly{s}, nil
	})
}
