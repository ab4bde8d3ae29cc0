package postgres_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	server "github.com/stopgate/stopgate/internal/testkit/postgres"
)

// command runs a program of PostgreSQL.
func command(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", args[0], err, out)
	}
}

// Proves S25: a database that was dumped and restored has the same chains, and gates go on with them.
// That a backup is older than the records that were written shows by a head that was kept elsewhere.
func TestBackup(t *testing.T) {
	location := server.Database(t)
	a, _ := open(t, location, "a")
	b, _ := open(t, location, "b")
	for i := range 20 {
		write(t, a, row("a", i))
		write(t, b, row("b", i))
	}
	file := filepath.Join(t.TempDir(), "stopgate.dump")
	command(t, "pg_dump", "--format=custom", "--file", file, location)
	write(t, b, row("b", 20))
	var kept []string
	heads, err := logOf(t, location).Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range heads {
		kept = append(kept, h.Hash)
	}

	restored := server.Database(t)
	command(t, "pg_restore", "--exit-on-error", "--no-owner", "--dbname", restored, file)
	if chains, rows, err := verify(t, restored); chains != 2 || rows != 40 || err != nil {
		t.Errorf("%d chains with %d rows: %v", chains, rows, err)
	}
	check, err := logOf(t, restored).Verify(t.Context(), kept...)
	if err != nil || check.Known[kept[0]] != 20 || check.Known[kept[1]] != 0 {
		t.Errorf("the heads that were kept are rows %v, %v", check.Known, err)
	}
	again, _ := open(t, restored, "a")
	write(t, again, row("a", 21))
	if err := again.Record(t.Context(), row("b", 3)); err == nil {
		t.Error("a second decision is recorded in the restored database")
	}
	if chains, rows, err := verify(t, restored); chains != 2 || rows != 41 || err != nil {
		t.Errorf("%d chains with %d rows: %v", chains, rows, err)
	}
}
