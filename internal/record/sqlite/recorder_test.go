package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
)

var _ gate.Recorder = (*sqlite.Recorder)(nil)

var (
	ctx = context.Background()
	at  = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
)

func open(t testing.TB, path string) *database.DB {
	t.Helper()
	db, err := database.Open(ctx, path, sqlite.Tables)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func recorder(t testing.TB, db *database.DB, o sqlite.Options) *sqlite.Recorder {
	t.Helper()
	rec, err := sqlite.New(ctx, db, o)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func decision(id string) *stopgate.Record {
	mode := stopgate.Unattended
	return &stopgate.Record{
		Version: 1, Time: at, Kind: stopgate.RecordDecision, ID: stopgate.ProposalID(id), Session: "s1", Tool: "fs_read",
		Status: stopgate.StatusAllowed, Mode: &mode, Code: stopgate.CodeRuleMatched,
	}
}

func event(id string, name stopgate.AuditEvent) *stopgate.Record {
	return &stopgate.Record{Version: 1, Time: at, Kind: stopgate.RecordEvent, Event: name, ID: stopgate.ProposalID(id)}
}

func record(t testing.TB, rec *sqlite.Recorder, rows ...*stopgate.Record) {
	t.Helper()
	for _, r := range rows {
		if err := rec.Record(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
}

// text returns the log as JSON lines.
func text(t testing.TB, db *database.DB) string {
	t.Helper()
	var b bytes.Buffer
	err := sqlite.Rows(ctx, db, 0, sqlite.Selection{}, func(_ int64, line []byte) bool {
		b.Write(line)
		b.WriteByte('\n')
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func verify(t testing.TB, db *database.DB) audit.Report {
	t.Helper()
	report, err := audit.Verify(strings.NewReader(text(t, db)))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Proves S25: the rows of several recorders of one file, here three handles and many callers, are
// one chain without gaps.
func TestOneChainForAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	var callers sync.WaitGroup
	for w := range 3 {
		rec := recorder(t, open(t, path), sqlite.Options{})
		for c := range 8 {
			callers.Go(func() {
				for i := range 20 {
					if err := rec.Record(ctx, decision(fmt.Sprintf("%d-%d-%d", w, c, i))); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	callers.Wait()
	db := open(t, path)
	report := verify(t, db)
	if report.Rows != 480 {
		t.Errorf("%d rows, want 480", report.Rows)
	}
	head, err := sqlite.Head(ctx, db)
	if err != nil || head != report.Head {
		t.Errorf("head %+v, %v, want %+v", head, err, report.Head)
	}
}

// Proves I23: a second decision row of one proposal is refused without affecting other rows; a
// proposal may have any number of events.
func TestOneDecisionForAProposal(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	rec := recorder(t, db, sqlite.Options{})
	record(t, rec, event("A", stopgate.AuditAsked), decision("A"), event("A", stopgate.AuditResult), event("A", stopgate.AuditReleaseFailed))
	if err := rec.Record(ctx, decision("A")); err == nil {
		t.Error("a second decision row was written")
	}
	record(t, rec, decision("B"))
	if report := verify(t, db); report.Rows != 5 {
		t.Errorf("%d rows, want 5", report.Rows)
	}
	lines, err := sqlite.Of(ctx, db, "A")
	if err != nil || len(lines) != 4 || !strings.Contains(string(lines[1]), `"kind":"decision"`) {
		t.Errorf("%d lines, %v: %q", len(lines), err, lines)
	}
	if err := rec.Record(ctx, &stopgate.Record{Version: 1, Time: at, Cause: strings.Repeat("x", auditrow.MaxSize)}); err == nil {
		t.Error("a row without bound was written")
	}
}

// Proves S25: a row is written in the transaction of its caller.
func TestRowIsInItsTransaction(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	rec := recorder(t, db, sqlite.Options{})
	boom := errors.New("boom")
	write := func(id string, fail error) error {
		e, err := rec.Prepare(decision(id))
		if err != nil {
			t.Fatal(err)
		}
		return db.Change(ctx, func(tx *database.Tx) error {
			if err := rec.Write(tx, e); err != nil {
				return err
			}
			return fail
		})
	}
	if err := write("A", boom); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	if err := write("B", nil); err != nil {
		t.Error(err)
	}
	if got := text(t, db); strings.Contains(got, `"id":"A"`) || !strings.Contains(got, `"seq":1,`) {
		t.Errorf("log %s", got)
	}
	verify(t, db)
}

// Proves S13, H17, I23: arguments are stored next to the rows as configured, and never in them.
func TestArgumentsAreNotInRows(t *testing.T) {
	const secret = "AKIAIOSFODNN7EXAMPLE"
	args := []byte(`{"path":"a","key":"` + secret + `","deep":[{"token":"hush"}]}`)
	redactor, err := audit.NewRedactor([]string{"/deep/*/token"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		keep     audit.Keep
		want     string
		redacted string
	}{
		{audit.KeepFull, string(args), "[]"},
		{audit.KeepRedacted, `{"path":"a","key":"[redacted]","deep":[{"token":"[redacted]"}]}`, "[/key /deep/0/token]"},
		{audit.KeepNone, "", "[]"},
	} {
		t.Run(c.keep.String(), func(t *testing.T) {
			db := open(t, filepath.Join(t.TempDir(), "a.db"))
			rec := recorder(t, db, sqlite.Options{Arguments: c.keep, Redactor: redactor})
			row := decision("A")
			row.ArgsHash, row.Args = strings.Repeat("a", 64), args
			repeated := decision("B")
			repeated.ArgsHash, repeated.Args = row.ArgsHash, args
			record(t, rec, row, repeated)
			if got := text(t, db); strings.Contains(got, secret) || strings.Contains(got, "hush") {
				t.Errorf("the log holds arguments: %s", got)
			}
			got, ok, err := sqlite.ArgumentsOf(ctx, db, row.ArgsHash)
			if err != nil || ok != (c.want != "") || string(got.Text) != c.want || fmt.Sprint(got.Redacted) != c.redacted {
				t.Errorf("got %q %v %v %v", got.Text, got.Redacted, ok, err)
			}
		})
	}
}

// Proves that arguments that are not JSON are not stored if secrets must be redacted; the row is
// written without them.
func TestUnreadableArgumentsAreNotStored(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	rec := recorder(t, db, sqlite.Options{Arguments: audit.KeepRedacted})
	row := decision("A")
	row.ArgsHash, row.Args = strings.Repeat("a", 64), []byte(`{"path":`)
	record(t, rec, row)
	if _, ok, err := sqlite.ArgumentsOf(ctx, db, row.ArgsHash); ok || err != nil {
		t.Errorf("kept %v, %v", ok, err)
	}
}

// Proves S25, S13: pruning removes rows by age from the start, arguments by their own retention,
// and leaves a chain that verifies.
func TestPrune(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	rec := recorder(t, db, sqlite.Options{Arguments: audit.KeepFull})
	day := 24 * time.Hour
	for i := range 10 {
		row := decision(fmt.Sprint(i))
		row.Time = at.Add(time.Duration(i) * day)
		row.ArgsHash, row.Args = fmt.Sprintf("%064d", i), []byte("{}")
		record(t, rec, row)
	}
	now := at.Add(10 * day)
	before := verify(t, db)
	got, err := rec.Prune(ctx, sqlite.Retention{}, now)
	if err != nil || got != (sqlite.Pruned{}) || verify(t, db) != before {
		t.Errorf("without a retention: %+v, %v", got, err)
	}
	got, err = rec.Prune(ctx, sqlite.Retention{Rows: now.Add(-4 * day), Arguments: now.Add(-2 * day)}, now)
	if err != nil || got != (sqlite.Pruned{Rows: 6, Arguments: 8}) {
		t.Errorf("pruned %+v, %v", got, err)
	}
	report := verify(t, db)
	if report.Rows != 5 || report.Head.Seq != 11 {
		t.Errorf("report %+v", report)
	}
	log := text(t, db)
	if !strings.HasPrefix(log, `{"v":1,"seq":7,`) || !strings.Contains(log, `"event":"checkpoint","cause":"pruned","count":6,"checkpoint":{"seq":6,`) {
		t.Errorf("log %s", log)
	}
	// Pruning again removes and reports nothing.
	if got, err := rec.Prune(ctx, sqlite.Retention{Rows: now.Add(-4 * day), Arguments: now.Add(-2 * day)}, now); err != nil || got != (sqlite.Pruned{}) || verify(t, db) != report {
		t.Errorf("pruned again %+v, %v", got, err)
	}
	// All rows may be pruned; the chain continues.
	got, err = rec.Prune(ctx, sqlite.Retention{Rows: now.Add(day)}, now.Add(day))
	if err != nil || got.Rows != 5 {
		t.Errorf("pruned %+v, %v", got, err)
	}
	record(t, rec, decision("new"))
	if report := verify(t, db); report.Rows != 2 || report.Head.Seq != 13 {
		t.Errorf("report %+v", report)
	}
}

// Proves S25: reading goes page by page, and pruning in steps, to the end.
func TestPruneInSteps(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	rec := recorder(t, db, sqlite.Options{Arguments: audit.KeepFull})
	const rows = 5000
	err := db.Change(ctx, func(tx *database.Tx) error {
		for i := range rows {
			row := decision(fmt.Sprint(i))
			row.ArgsHash, row.Args = fmt.Sprintf("%064d", i), []byte("{}")
			e, err := rec.Prepare(row)
			if err != nil {
				return err
			}
			if err := rec.Write(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	read := int64(0)
	err = sqlite.Rows(ctx, db, 0, sqlite.Selection{}, func(seq int64, _ []byte) bool {
		read++
		return seq == read
	})
	if err != nil || read != rows {
		t.Errorf("%d rows are read in order: %v", read, err)
	}
	got, err := rec.Prune(ctx, sqlite.Retention{Rows: at.Add(time.Second), Arguments: at.Add(time.Second)}, at.Add(time.Hour))
	if err != nil || got != (sqlite.Pruned{Rows: rows, Arguments: rows}) {
		t.Errorf("pruned %+v, %v", got, err)
	}
	if report := verify(t, db); report.Rows != 3 { // one checkpoint for each step
		t.Errorf("%d rows are left", report.Rows)
	}
}

// Proves S13, K0d: arguments are pruned by the last time they were proposed, to the hour, wherever
// old ones are among young ones, in as many steps as needed.
func TestArgumentsArePrunedByLastUse(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	rec := recorder(t, db, sqlite.Options{Arguments: audit.KeepFull})
	propose := func(id, hash int, at time.Time) {
		t.Helper()
		row := decision(fmt.Sprint(id))
		row.Time, row.ArgsHash, row.Args = at, fmt.Sprintf("%064d", hash), []byte("{}")
		record(t, rec, row)
	}
	const proposed = 4500
	var together sync.WaitGroup
	for i := range proposed {
		together.Go(func() { propose(i, i, at) })
	}
	together.Wait()
	propose(proposed, 7, at.Add(time.Minute))  // too soon to update the time
	propose(proposed+1, 8, at.Add(-time.Hour)) // a clock that went back changes nothing
	propose(proposed+2, 9, at.Add(2*time.Hour))
	propose(proposed+3, 10, at.Add(61*time.Minute))
	prune := func(before time.Time) int64 {
		t.Helper()
		got, err := rec.Prune(ctx, sqlite.Retention{Arguments: before}, at)
		if err != nil {
			t.Error(err)
		}
		return got.Arguments
	}
	if n := prune(at); n != 0 {
		t.Errorf("%d went too early", n)
	}
	if n := prune(at.Add(time.Hour)); n != proposed-2 {
		t.Errorf("%d went, want all but two", n)
	}
	if n := prune(at.Add(90 * time.Minute)); n != 1 {
		t.Errorf("%d went, want one", n)
	}
	if _, ok, err := sqlite.ArgumentsOf(ctx, db, fmt.Sprintf("%064d", 9)); !ok || err != nil {
		t.Errorf("the youngest are gone: %v", err)
	}
}

// Proves S13: arguments that several rows of a transaction have are stored once, with the time of the last row that renews it.
func TestArgumentsOfOneTransaction(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	rec := recorder(t, db, sqlite.Options{Arguments: audit.KeepFull})
	hash := fmt.Sprintf("%064d", 1)
	err := db.Change(ctx, func(tx *database.Tx) error {
		for i, after := range []time.Duration{0, time.Minute, 3 * time.Hour, -time.Hour, time.Hour} {
			row := decision(fmt.Sprint(i))
			row.Time, row.ArgsHash, row.Args = at.Add(after), hash, []byte("{}")
			e, err := rec.Prepare(row)
			if err == nil {
				err = rec.Write(tx, e)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var n, micro int64
	if _, err := db.Get(ctx, []any{&n, &micro}, "SELECT count(*), max(time) FROM audit_calls"); err != nil || n != 1 || !time.UnixMicro(micro).Equal(at.Add(3*time.Hour)) {
		t.Errorf("%d arguments of %s, %v", n, time.UnixMicro(micro).UTC(), err)
	}
	if a, ok, err := sqlite.ArgumentsOf(ctx, db, hash); !ok || err != nil || string(a.Text) != "{}" {
		t.Errorf("arguments %+v, %t, %v", a, ok, err)
	}
}

// Proves that reading by session and from the end returns the right rows.
func TestRows(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	rec := recorder(t, db, sqlite.Options{})
	for i := range 5 {
		row := decision(fmt.Sprint(i))
		row.Session = stopgate.SessionID(fmt.Sprintf("s%d", i%2))
		record(t, rec, row)
	}
	numbers := func(after int64, session stopgate.SessionID, most int) (seqs []int64) {
		err := sqlite.Rows(ctx, db, after, sqlite.Selection{Session: string(session)}, func(seq int64, _ []byte) bool {
			seqs = append(seqs, seq)
			return len(seqs) < most
		})
		if err != nil {
			t.Fatal(err)
		}
		return seqs
	}
	newest, end, err := sqlite.Newest(ctx, db, 2, sqlite.Selection{}, func([]byte) (bool, error) { return true, nil })
	if err != nil || len(newest) != 2 || end != 5 || !strings.Contains(string(newest[0]), `"seq":4,`) {
		t.Fatalf("%q, %d, %v", newest, end, err)
	}
	for _, c := range []struct {
		got  []int64
		want string
	}{
		{numbers(0, "", 99), "[1 2 3 4 5]"}, {numbers(3, "", 99), "[4 5]"}, {numbers(0, "s1", 99), "[2 4]"},
		{numbers(2, "s0", 1), "[3]"}, {numbers(0, "s9", 99), "[]"},
	} {
		if fmt.Sprint(c.got) != c.want {
			t.Errorf("rows %v, want %s", c.got, c.want)
		}
	}
}

// Proves S26, I23: a proposal that a dead process asked about gets one decision row, and no other
// proposal does.
func TestOrphansAreCancelled(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	rec := recorder(t, db, sqlite.Options{})
	young := event("young", stopgate.AuditAsked)
	young.Time = at.Add(2 * time.Hour)
	dead := event("dead", stopgate.AuditAsked)
	dead.Tool, dead.Session = "deploy", "s1"
	record(t, rec, dead, event("dead", stopgate.AuditAsked), event("decided", stopgate.AuditAsked), decision("decided"),
		event("other", stopgate.AuditResult), young)
	for _, want := range []int{1, 0} {
		n, err := rec.Cancel(ctx, at.Add(time.Hour), at.Add(3*time.Hour))
		if err != nil || n != want {
			t.Errorf("%d cancelled, %v, want %d", n, err, want)
		}
	}
	lines, err := sqlite.Of(ctx, db, "dead")
	if err != nil || len(lines) != 3 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for _, want := range []string{`"kind":"decision"`, `"status":"cancelled"`, `"mode":"deny"`, `"tool":"deploy"`, `"session":"s1"`} {
		if !strings.Contains(string(lines[2]), want) {
			t.Errorf("%s lacks %s", lines[2], want)
		}
	}
	verify(t, db)
}
