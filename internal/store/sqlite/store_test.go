package sqlite_test

import (
	"context"
	"testing"

	"github.com/stopgate/stopgate/internal/store/sqlite"
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
