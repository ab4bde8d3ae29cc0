//go:build unix

package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/internal/testkit/postgres"
)

// A server keeps what was committed over a crash, and a database is one of a test.
func TestServer(t *testing.T) {
	s := postgres.Start(t, postgres.Durable)
	location := s.Database(t)
	run := func(query string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), location)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		if _, err := conn.Exec(t.Context(), query); err != nil {
			t.Error(err)
		}
	}
	run("CREATE TABLE t(n integer)")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := pgx.Connect(t.Context(), location); err == nil {
		t.Error("a server that is stopped accepts connections")
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	run("SELECT FROM t")
	if postgres.Database(t) == postgres.Database(t) {
		t.Error("two databases are one")
	}
}
