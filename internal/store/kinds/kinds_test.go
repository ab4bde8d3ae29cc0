package kinds_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/kinds"
	"github.com/stopgate/stopgate/internal/testkit/storetest"
)

// Proves I16, I19, S38, S59, H4, H6: every kind of store passes the suites of stores.
func TestMemory(t *testing.T) {
	storetest.State(t, func(*testing.T) backend.State { return kinds.Memory() }, nil)
}

// Proves I16, I19, S27, S38, S59, FM8, H4, H6, H16, H17, W47: likewise, also by several
// processes.
func TestKinds(t *testing.T) {
	for kind, locate := range map[string]func(t *testing.T) string{
		"sqlite": func(t *testing.T) string { return filepath.Join(t.TempDir(), "s.db") },
	} {
		t.Run(kind, func(t *testing.T) {
			storetest.Shared(t, locate, func(ctx context.Context, location string) (backend.Store, error) {
				return kinds.Open(ctx, location, backend.Options{Arguments: audit.KeepFull})
			})
		})
	}
}

func TestKnown(t *testing.T) {
	for scheme, want := range map[string]bool{"sqlite": true, "file": true, "memory": false, "postgres": false, "": false} {
		if kinds.Known(scheme) != want {
			t.Errorf("%q: known %v", scheme, !want)
		}
	}
}
