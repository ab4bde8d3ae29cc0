package records_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

// ruleA and ruleB are ids of rules.
const ruleA, ruleB = stopgate.RuleID("00112233445566778899aabbccddeeff"), stopgate.RuleID("ffeeddccbbaa99887766554433221100")

// mixed returns rows of calls with and without questions, by a clock that is set forth and back.
func mixed(i int) *stopgate.Record {
	r := row(i)
	r.Principal, r.Tool = stopgate.Principal(fmt.Sprint("p", i%3)), stopgate.ToolName(fmt.Sprint([]string{"fs_", "sh_"}[i%2], i%3))
	if r.Rule = (&stopgate.RuleRef{File: "p.toml", Line: i % 4, ID: []stopgate.RuleID{"", ruleA, ruleB}[i%3]}); i%9 == 4 {
		r.Rule = nil
	}
	r.Policy = fmt.Sprintf("%064x", i/20%3)
	switch i % 6 {
	case 0, 1:
		r.ID, r.Kind, r.Event, r.Mode, r.Status, r.Code = stopgate.ProposalID(fmt.Sprintf("P%d", i+3)), stopgate.RecordEvent, stopgate.AuditAsked, nil, "", ""
	case 2:
		r.Code, r.Status = stopgate.CodeNoApprover, stopgate.StatusDenied
	case 3:
		r.Status, r.ArgsHash, r.Approval = stopgate.StatusAllowed, fmt.Sprint("h", i%5), &stopgate.Approval{ID: "Q", Referred: i%12 == 3}
	case 5:
		r.ID, r.Kind, r.Event, r.Mode, r.Status, r.Code = stopgate.ProposalID(fmt.Sprintf("P%d", i-2)), stopgate.RecordEvent, stopgate.AuditResult, nil, "", ""
	}
	switch i % 50 {
	case 20:
		r.Time = r.Time.Add(30 * time.Minute)
	case 21:
		r.Time = r.Time.Add(-40 * time.Minute)
	}
	return r
}

// earlier makes a store as the version before compact rows did, and returns its lines.
func earlier(t *testing.T, n int) (path string, lines []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s.db")
	db, err := database.Open(t.Context(), path, database.Component{Name: "audit", Migrations: sqlite.Tables.Migrations[:3]})
	if err != nil {
		t.Fatal(err)
	}
	var chain string
	if _, err := db.Get(t.Context(), []any{&chain}, "SELECT id FROM audit_chain"); err != nil {
		t.Fatal(err)
	}
	prev := ""
	err = db.Change(t.Context(), func(tx *database.Tx) error {
		for i := range n {
			r := mixed(i)
			body, err := auditrow.Encode(chain, r)
			if err != nil {
				return err
			}
			var line []byte
			line, prev = body.Seal(nil, int64(i+1), prev)
			line = line[:len(line)-1]
			lines = append(lines, string(line))
			if _, err := tx.Exec("INSERT INTO audit_rows(seq, time, final, id, session, line) VALUES(?, ?, ?, ?, ?, ?)",
				i+1, r.Time.UnixMicro(), r.Kind == stopgate.RecordDecision, string(r.ID), string(r.Session), line); err != nil {
				return err
			}
		}
		_, err := tx.Exec("INSERT INTO audit_arguments(hash, time, text) VALUES(?, ?, ?)", argsHash, at.UnixMicro(), []byte(`{"a":1}`))
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path, lines
}

// argsHash is the hash of {"a":1}.
const argsHash = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"

// recorderAt opens a recorder of a file.
func recorderAt(t *testing.T, path string) *sqlite.Recorder {
	t.Helper()
	db, err := database.Open(t.Context(), path, sqlite.Tables)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	r, err := sqlite.New(t.Context(), db, sqlite.Options{Arguments: audit.KeepFull})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// same fails unless a log has the lines, finds them by filters as the filters select them, and reports on them as on any others.
func same(t *testing.T, path string, lines []string) {
	t.Helper()
	log := open(t, path)
	defer log.Close()
	var got []string
	if _, err := log.Lines(t.Context(), records.Mark{}, func(line []byte) bool { got = append(got, string(line)); return true }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, lines) {
		t.Fatalf("%d lines are not the %d that were written", len(got), len(lines))
	}
	if c, err := log.Verify(t.Context()); err != nil || c.Err() != nil || len(c.Changed) > 0 {
		t.Errorf("verify: %v, %v, changed %q", err, c.Err(), c.Changed)
	}
	if a, ok, err := log.Arguments(t.Context(), &stopgate.Record{ArgsHash: argsHash}); err != nil || !ok || string(a.Text) != `{"a":1}` || a.Changed {
		t.Errorf("arguments %+v, %t, %v", a, ok, err)
	}
	all := make([]stopgate.Record, len(lines))
	for i, line := range lines {
		all[i] = parsed(t, line)
	}
	property.Check(t, func(rt *rapid.T) {
		f := drawFilter(rt)
		f.Gate = ""
		after := rapid.Int64Range(0, int64(len(lines))).Draw(rt, "after")
		var want, rest []string
		for i := range all {
			if f.Matches(&all[i]) {
				if want = append(want, lines[i]); int64(i) >= after {
					rest = append(rest, lines[i])
				}
			}
		}
		got = nil
		_, err := log.Rows(t.Context(), records.After(after), &f, func(r records.Row) bool { got = append(got, string(r.Line)); return true })
		if err != nil || !slices.Equal(got, rest) {
			rt.Errorf("%d rows, want %d (%v)", len(got), len(rest), err)
		}
		n := rapid.Int64Range(1, 40).Draw(rt, "n")
		newest, _, err := log.Newest(t.Context(), n, &f)
		got = nil
		for _, r := range newest {
			got = append(got, string(r.Line))
		}
		if want := want[max(0, len(want)-int(n)):]; err != nil || !slices.Equal(got, want) {
			rt.Errorf("the newest %d are %d, want %d (%v)", n, len(got), len(want), err)
		}
		p, err := log.Prompts(t.Context(), f.Since, f.Until, f.Rules, func(int) {})
		var counted records.Prompts
		for i := range all {
			if (&records.Filter{Since: f.Since, Until: f.Until}).Matches(&all[i]) {
				counted.AddOf(f.Rules, &all[i])
			}
		}
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := summary(p), summary(&counted); !reflect.DeepEqual(got, want) {
			rt.Errorf("the report is\n%+v, want\n%+v", got, want)
		}
	})
}

// summary returns what a report shows.
func summary(p *records.Prompts) []any {
	return []any{p.Calls, p.Asked, p.Approved, p.Referred, p.Ran, p.Unasked, p.Granted, p.Repeated, p.First.UTC(), p.Last.UTC(), p.Rules(), p.Days(), p.Saving()}
}

// withoutNames makes a store as the version before names did, and returns its lines.
func withoutNames(t *testing.T, n int) (path string, lines []string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s.db")
	rec := recorderAt(t, path)
	db := rec.Database()
	for i := range n {
		r := mixed(i)
		if i == 0 {
			r.ArgsHash, r.Args = argsHash, []byte(`{"a":1}`)
		}
		if err := rec.Record(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	var rows []auditrow.Stored
	if err := sqlite.Rows(t.Context(), db, 0, sqlite.Selection{}, func(seq int64, line []byte) bool {
		lines, rows = append(lines, string(line)), append(rows, auditrow.Store(seq, line, nil))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	err := db.Change(t.Context(), func(tx *database.Tx) error {
		for i, stored := range rows {
			if _, err := tx.Exec("UPDATE audit_rows SET stored = ? WHERE seq = ?", []byte(stored), i+1); err != nil {
				return err
			}
		}
		for _, text := range []string{
			"ALTER TABLE audit_rows RENAME COLUMN stored TO packed", "DROP TABLE audit_names", "UPDATE components SET version = 4 WHERE name = 'audit'",
		} {
			if _, err := tx.Exec(text); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path, lines
}

// Proves I23: rows of the version before names are read and followed by rows with names, and a process of that version that has the
// file open ends.
func TestRowsWithoutNames(t *testing.T) {
	path, lines := withoutNames(t, 100)
	old, err := database.Open(t.Context(), path, database.Component{Name: "audit", Migrations: sqlite.Tables.Migrations[:4]})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	same(t, path, lines)
	rec := recorderAt(t, path)
	for i := range 100 {
		if err := rec.Record(t.Context(), mixed(len(lines)+i)); err != nil {
			t.Fatal(err)
		}
	}
	log := open(t, path)
	defer log.Close()
	if _, err := log.Lines(t.Context(), records.After(100), func(line []byte) bool { lines = append(lines, string(line)); return true }); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 200 {
		t.Fatalf("%d lines", len(lines))
	}
	same(t, path, lines)
	var before, after float64
	if _, err := rec.Database().Get(t.Context(), []any{&before, &after},
		"SELECT avg(length(stored)) FILTER (WHERE seq <= 100), avg(length(stored)) FILTER (WHERE seq > 100) FROM audit_rows"); err != nil || before-after < 40 {
		t.Errorf("a row had %.0f bytes, and has %.0f (%v)", before, after, err)
	}
	var refused *database.NewerError
	if _, err := old.Get(t.Context(), []any{new([]byte)}, "SELECT packed FROM audit_rows WHERE seq = 150"); !errors.As(err, &refused) {
		t.Errorf("the earlier version reads %v", err)
	}
}

// Proves S25: a name that is changed or missing is damage of the rows that have it.
func TestDamagedNames(t *testing.T) {
	for damage, statements := range map[string][]string{
		"changed":  {"UPDATE audit_names SET text = 'f' || substr(text, 2)"},
		"long":     {"UPDATE audit_names SET text = text || text || text"},
		"missing":  {"DELETE FROM audit_names"},
		"reversed": {"UPDATE audit_names SET id = 1000 - id", "UPDATE audit_names SET id = id - 999 + (SELECT count(*) FROM audit_names)"},
		"negative": {"UPDATE audit_names SET id = -id"},
	} {
		path := filepath.Join(t.TempDir(), "s.db")
		rec := recorderAt(t, path)
		for i := range 60 {
			if err := rec.Record(t.Context(), mixed(i)); err != nil {
				t.Fatal(err)
			}
		}
		log := open(t, path)
		if c, err := log.Verify(t.Context()); err != nil || c.Err() != nil {
			t.Fatal(err, c.Err())
		}
		for _, text := range statements {
			if err := rec.Database().Change(t.Context(), func(tx *database.Tx) error { _, err := tx.Exec(text); return err }); err != nil {
				t.Fatal(damage, err)
			}
		}
		if c, err := log.Verify(t.Context()); err == nil && c.Err() == nil {
			t.Errorf("%s: not noticed", damage)
		}
		log.Close()
	}
}

// Proves I23: a store of an earlier version is read and written as it is, and its rows can be converted in steps, which changes
// none of their lines.
func TestRowsOfAnEarlierVersion(t *testing.T) {
	path, lines := earlier(t, 700)
	same(t, path, lines)
	rec := recorderAt(t, path)
	for i := range 30 {
		if err := rec.Record(t.Context(), mixed(len(lines)+i)); err != nil {
			t.Fatal(err)
		}
	}
	log := open(t, path)
	defer log.Close()
	if _, err := log.Lines(t.Context(), records.After(int64(len(lines))), func(line []byte) bool { lines = append(lines, string(line)); return true }); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 730 {
		t.Fatalf("%d lines", len(lines))
	}
	same(t, path, lines)
	ctx, stop := context.WithCancel(t.Context())
	if err := sqlite.Convert(ctx, rec.Database(), func(left int64) { stop() }); err == nil {
		t.Error("the conversion was not interrupted")
	}
	if left, err := sqlite.Unconverted(t.Context(), rec.Database()); err != nil || left == 0 || left >= 700 {
		t.Errorf("%d rows are left, %v", left, err)
	}
	same(t, path, lines)
	if err := sqlite.Convert(t.Context(), rec.Database(), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	if left, err := sqlite.Unconverted(t.Context(), rec.Database()); err != nil || left != 0 {
		t.Errorf("%d rows are left, %v", left, err)
	}
	same(t, path, lines)
}

// Classes that an earlier version wrote name no rule, and their rows are found by every one.
func TestClassesWithoutRules(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	rec := recorderAt(t, path)
	for i := range 300 {
		if i == 200 {
			if err := rec.Database().Change(t.Context(), func(tx *database.Tx) error {
				_, err := tx.Exec("UPDATE OR IGNORE audit_classes SET members = json_remove(members, '$.rule_id')")
				return err
			}); err != nil {
				t.Fatal(err)
			}
			rec = recorderAt(t, path)
		}
		r := mixed(i)
		if i == 250 {
			r.ArgsHash, r.Args = argsHash, []byte(`{"a":1}`)
		}
		if err := rec.Record(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	log := open(t, path)
	defer log.Close()
	var lines []string
	if _, err := log.Lines(t.Context(), records.Mark{}, func(line []byte) bool { lines = append(lines, string(line)); return true }); err != nil {
		t.Fatal(err)
	}
	same(t, path, lines)
}

// Proves S25: damaged bytes of a stored row are reported as damage of the chain, whichever byte it is, and no reader panics.
func TestDamagedRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	rec := recorderAt(t, path)
	for i := range 3 {
		if err := rec.Record(t.Context(), mixed(i)); err != nil {
			t.Fatal(err)
		}
	}
	log := open(t, path)
	defer log.Close()
	change := func(query string, args ...any) {
		t.Helper()
		if err := rec.Database().Change(t.Context(), func(tx *database.Tx) error { _, err := tx.Exec(query, args...); return err }); err != nil {
			t.Fatal(err)
		}
	}
	var stored []byte
	if _, err := rec.Database().Get(t.Context(), []any{&stored}, "SELECT stored FROM audit_rows WHERE seq = 2"); err != nil {
		t.Fatal(err)
	}
	for i := range stored {
		for _, b := range []byte{stored[i] ^ 1, stored[i] ^ 0x80, 0, 255} {
			if b == stored[i] {
				continue
			}
			damaged := slices.Clone(stored)
			damaged[i] = b
			change("UPDATE audit_rows SET stored = ? WHERE seq = 2", damaged)
			if c, err := log.Verify(t.Context()); err == nil && c.Err() == nil {
				t.Errorf("byte %d as %d is not noticed", i, b)
			}
			if _, _, err := log.Newest(t.Context(), 3, &records.Filter{Session: "s1"}); err != nil {
				continue // the row is not readable
			}
		}
	}
}
