package pgdb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
)

// A server that is not there is an error on one line, which names each attempt once and has a hint.
func TestUnreached(t *testing.T) {
	_, err := pgdb.Open(t.Context(), "postgres://u@127.0.0.1:1/d?sslmode=prefer")
	if err == nil || strings.ContainsAny(err.Error(), "\n\t") || strings.Count(err.Error(), "127.0.0.1:1 (127") != 1 || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v", err)
	}
	var hinted interface{ Hint() string }
	if !errors.As(err, &hinted) || !strings.Contains(hinted.Hint(), "PGPASSFILE") {
		t.Errorf("no hint: %v", err)
	}
}
