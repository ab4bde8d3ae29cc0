package sqlite_test

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	keep "github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	audit "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/internal/testkit/storetest"
	"github.com/stopgate/stopgate/session"
)

// older writes a store of an older version of stopgate: two sessions of eight hooks of Claude Code,
// under the coding starter.
func older(t *testing.T) (path string) {
	t.Helper()
	packed, err := os.Open("testdata/store4.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "s.db")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Proves K0d, I23: a store of an older version keeps its sessions, facts, cells and rows, can be
// written to, and has the tables of a new store.
func TestUpgrade(t *testing.T) {
	path := older(t)
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one := session.Owner{Principal: "local", Session: "claude-code:one"}
	two := session.Owner{Principal: "local", Session: "claude-code:two"}
	list, err := s.Sessions(ctx, "local", 10)
	want := []session.Info{
		{Owner: two, Facts: 2, First: 1795328149028, Last: 1795328149113, Head: 8},
		{Owner: one, Facts: 6, First: 1795328148412, Last: 1795328148976, Head: 6},
	}
	if err != nil || fmt.Sprint(list) != fmt.Sprint(want) {
		t.Errorf("sessions %v, want %v (%v)", list, want, err)
	}
	if names, err := s.Principals(ctx, two.Session, 10); err != nil || len(names) != 1 || names[0] != "local" {
		t.Errorf("principals %q, %v", names, err)
	}
	facts, err := s.Facts(ctx, one, 0, 100)
	if err != nil || len(facts) != 6 || facts[5].Kind != session.Denied {
		t.Errorf("%d facts, %v", len(facts), err)
	}
	call := session.CallKey("01M80YB1KS5HHW49XXJBSDMZTK")
	state, err := s.Load(ctx, two, []session.Key{session.Self, call, session.ToolKey("Read")})
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := state.Cell(call); state.Head != 8 || c.Call.Fact == nil || c.Call.Fact.Seq != 8 || c.Call.Fact.Tool != "Read" {
		t.Errorf("head %d, call %+v", state.Head, c)
	}
	if c, _ := state.Cell(session.ToolKey("Read")); len(c.Open) != 2 {
		t.Errorf("tool %+v", c)
	}
	if head, err := audit.Head(ctx, s.Database()); err != nil || head.Seq != 9 || head.Hash != "76a93695fe039426dc49237e778cade023b3885e0ce31bb3db52d116c69500b9" {
		t.Errorf("the chain ends with %+v, %v", head, err)
	}

	ends := []session.Key{session.Self, call, session.ToolKey("Read"), session.OpenKey("call8", "Read")}
	err = s.Update(ctx, two, ends, func(session.State) (gate.Change, error) {
		return gate.Change{Facts: []session.Fact{{Kind: session.Finished, At: 1795328150000, Proposal: "01M80YB1KS5HHW49XXJBSDMZTK"}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Add(t, s, session.Owner{Principal: "local", Session: "three"}, session.Fact{Kind: session.Spoke, At: 1795328150001})
	storetest.Add(t, s, session.Owner{Principal: "somebody", Session: "claude-code:one"}, session.Fact{Kind: session.Spoke, At: 1795328150002})
	if err := s.Recorder().Record(ctx, row("after")); err != nil {
		t.Fatal(err)
	}
	if state, err = s.Load(ctx, two, []session.Key{call}); err != nil {
		t.Fatal(err)
	}
	if c, _ := state.Cell(call); c.Call.Fact == nil || c.Call.Fact.Tool != "Read" || c.Call.Done != session.Finished || c.Call.End == nil || c.Call.End.At != 1795328150000 {
		t.Errorf("ended %+v", c)
	}
	list, err = s.Sessions(ctx, "local", 10)
	if err != nil || len(list) != 3 || list[0].Head != 10 || list[1].Head != 9 || list[1].Facts != 3 {
		t.Errorf("afterwards %v, %v", list, err)
	}
	var lines strings.Builder
	if err := audit.Rows(ctx, s.Database(), 0, audit.Selection{}, func(_ int64, line []byte) bool {
		lines.Write(append(line, '\n'))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if report, err := keep.Verify(strings.NewReader(lines.String())); err != nil || report.Rows != 10 {
		t.Errorf("chain: %+v, %v", report, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	fresh := filepath.Join(t.TempDir(), "s.db")
	open(t, fresh)
	if got, want := objects(t, path), objects(t, fresh); got != want {
		t.Errorf("an upgraded store has\n%s\na new one\n%s", got, want)
	}
	var complete string
	if err := raw(t, path).QueryRow("PRAGMA integrity_check").Scan(&complete); err != nil || complete != "ok" {
		t.Errorf("integrity: %q, %v", complete, err)
	}
}

// raw opens the file next to the store.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// objects lists the objects of a schema.
func objects(t *testing.T, path string) string {
	t.Helper()
	rows, err := raw(t, path).Query("SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var b bytes.Buffer
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s: %s\n", name, text)
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return b.String()
}

// Proves I19: principals and sessions of the same name are distinct, in any order of creation.
func TestNamesOfOwners(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "s.db"))
	names := []string{"a", "b", "-1", "0", "1"}
	for _, p := range names {
		for _, id := range names {
			o := session.Owner{Principal: stopgate.Principal(p), Session: stopgate.SessionID(id)}
			storetest.Add(t, s, o, session.Fact{Kind: session.DataReplaced, At: 1, Text: p + "/" + id})
		}
	}
	for _, p := range names {
		for i, id := range names {
			o := session.Owner{Principal: stopgate.Principal(p), Session: stopgate.SessionID(id)}
			state, err := s.Load(ctx, o, []session.Key{session.DataKey})
			if err != nil {
				t.Fatal(err)
			}
			if c, _ := state.Cell(session.DataKey); c.Text != p+"/"+id || c.Seq != uint64(i+1) || state.Head != uint64(len(names)) {
				t.Errorf("%v: %q at %d of %d", o, c.Text, c.Seq, state.Head)
			}
		}
	}
}
