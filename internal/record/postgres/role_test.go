package postgres_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/postgres"
	server "github.com/stopgate/stopgate/internal/testkit/postgres"
)

// A gate with a role that has rights to rows only takes a chain, writes, and drops partitions; its role
// cannot drop tables.
func TestRoleWithRowsOnly(t *testing.T) {
	location := server.Database(t)
	owner, _ := open(t, location, "owner")
	for i := range 40 {
		write(t, owner, row("o", i))
	}
	execute(t, location, past...)
	execute(t, location, "DROP ROLE IF EXISTS record_gates", "CREATE ROLE record_gates LOGIN",
		"GRANT USAGE ON SCHEMA stopgate TO record_gates",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA stopgate TO record_gates",
		"GRANT USAGE ON ALL SEQUENCES IN SCHEMA stopgate TO record_gates",
		"REVOKE INSERT, UPDATE, DELETE ON stopgate.components, stopgate.partitioned FROM record_gates")
	t.Cleanup(func() { execute(t, location, "DROP OWNED BY record_gates", "DROP ROLE record_gates") })
	u, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("record_gates")
	r, end := open(t, u.String(), "lesser")
	write(t, r, row("x", 1), row("x", 2))
	gone, err := r.Prune(t.Context(), postgres.Retention{Rows: time.Date(2025, 5, 1, 0, 0, 0, 0, time.UTC)}, time.Now())
	if err != nil || gone.Rows != 30 {
		t.Errorf("%+v, %v", gone, err)
	}
	if chains, _, err := verify(t, u.String()); chains != 2 || err != nil {
		t.Errorf("%d chains, %v", chains, err)
	}
	end()
}
