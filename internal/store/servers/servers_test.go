package servers_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/servers"
	"github.com/stopgate/stopgate/internal/testkit/postgres"
	"github.com/stopgate/stopgate/internal/testkit/storetest"
)

// Proves I16, I19, S27, S38, S59, FM8, H4, H6, H16, H17, W47: stores on servers pass the suites of
// stores, also by several processes.
func TestServers(t *testing.T) {
	storetest.Shared(t, func(t *testing.T) string { return postgres.Database(t) }, func(ctx context.Context, location string) (backend.Store, error) {
		return servers.Open(ctx, location, backend.Options{Arguments: audit.KeepFull})
	})
}

// A location that is no URL of a server is that of a file.
func TestFiles(t *testing.T) {
	s, err := servers.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), backend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err := servers.Open(t.Context(), "postgres://127.0.0.1:1/x?connect_timeout=1", backend.Options{}); err == nil {
		s.Close()
		t.Error("a server that is not there is opened")
	}
}
