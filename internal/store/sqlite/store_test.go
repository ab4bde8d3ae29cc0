package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/approve"
	keep "github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	audit "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
	"github.com/stopgate/stopgate/internal/testkit/storetest"
)

var ctx = context.Background()

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	return openWith(t, path, sqlite.Options{})
}

func openWith(t testing.TB, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(ctx, path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Proves I19, S38, H4, H6: the behavioural suite of stores.
func TestFacts(t *testing.T) {
	storetest.Facts(t, func(t *testing.T) gate.Store { return open(t, filepath.Join(t.TempDir(), "s.db")) })
}

// Proves I16, FM8, H16: the behavioural suite of approval stores, also with a store that is
// reopened.
func TestApprovals(t *testing.T) {
	all := sqlite.Options{Records: audit.Options{Arguments: keep.KeepFull}}
	paths := map[approve.Store]string{}
	approvals.Test(t, func(t *testing.T) approve.Store {
		path := filepath.Join(t.TempDir(), "s.db")
		s := openWith(t, path, all)
		paths[s] = path
		return s
	}, func(t *testing.T, s approve.Store) approve.Store {
		again := openWith(t, paths[s], all)
		paths[again] = paths[s]
		return again
	})
}
