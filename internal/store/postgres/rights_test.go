package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/gate"
	records "github.com/stopgate/stopgate/internal/record/postgres"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/postgres"
	server "github.com/stopgate/stopgate/internal/testkit/postgres"
)

// lesserRights are those of docs/operations.md.
const lesserRights = `
GRANT USAGE ON SCHEMA stopgate TO gates;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA stopgate TO gates;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA stopgate TO gates;
REVOKE INSERT, UPDATE, DELETE ON stopgate.components, stopgate.partitioned FROM gates;
`

// A gate needs rights to rows only: the owner makes the tables, and everything else works, retention with its
// partitions too.
func TestLesserRole(t *testing.T) {
	srv := server.Start(t, server.Fast)
	location := srv.Database(t)
	if err := srv.Exec("CREATE ROLE gates LOGIN"); err != nil {
		t.Fatal(err)
	}
	lesser := strings.Replace(location, "postgres@", "gates@", 1)
	if s, err := postgres.Open(t.Context(), lesser, records.Options{}); err == nil || !strings.Contains(err.Error(), "as the owner") {
		t.Errorf("a role without rights opens an empty database: %v", err)
		if err == nil {
			s.Close()
		}
	}
	owned := open(t, location)
	if err := reserve(t.Context(), owned, owner, 10); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), lesserRights+`
		CREATE TABLE stopgate.facts_2020_01 PARTITION OF stopgate.facts FOR VALUES FROM (1577836800000) TO (1580515200000);
		INSERT INTO stopgate.facts VALUES('x', 1, 1577836800001, '{}')`); err != nil {
		t.Fatal(err)
	}
	s := open(t, lesser)
	g := newGate(t, s)
	if out, _ := decide(t, g); !out.Allowed() {
		t.Errorf("%+v", out.Verdict)
	}
	if err := s.SetLockdown(t.Context(), gate.Lockdown{Since: time.Unix(1, 0)}); err != nil {
		t.Error(err)
	}
	now := time.Now()
	pruned, err := s.Retain(t.Context(), backend.Retention{Rows: now.AddDate(-1, 0, 0), Arguments: now.AddDate(-1, 0, 0)}, now)
	if err != nil || pruned.Facts != 1 {
		t.Errorf("pruned %+v, %v", pruned, err)
	}
	if _, err := conn.Exec(t.Context(), "SET ROLE gates; DROP TABLE stopgate.cells"); err == nil {
		t.Error("a gate may drop tables")
	}
}
