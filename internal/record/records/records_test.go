package records_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/record/jsonl"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
)

var at = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func row(i int) *stopgate.Record {
	mode, enforced := stopgate.Mode(i%5), i%2 == 0
	return &stopgate.Record{
		Version: 1, Time: at.Add(time.Duration(i) * time.Minute), Kind: stopgate.RecordDecision, ID: stopgate.ProposalID(fmt.Sprintf("P%d", i)),
		Session: stopgate.SessionID(fmt.Sprintf("s%d", i%2)), Tool: stopgate.ToolName(fmt.Sprintf("fs_%d", i%3)), Mode: &mode,
		Status: stopgate.StatusDenied, Code: stopgate.CodeRuleMatched, Enforced: &enforced,
	}
}

// logs creates the same log in both formats.
func logs(t *testing.T, n int) map[string]func(*stopgate.Record) {
	t.Helper()
	dir := t.TempDir()
	lines, err := jsonl.Open(filepath.Join(dir, "a.jsonl"), jsonl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lines.Close() })
	db, err := database.Open(t.Context(), filepath.Join(dir, "a.db"), sqlite.Tables)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	rec, err := sqlite.New(t.Context(), db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]func(*stopgate.Record){}
	for path, r := range map[string]gate.Recorder{filepath.Join(dir, "a.jsonl"): lines, filepath.Join(dir, "a.db"): rec} {
		write := func(row *stopgate.Record) {
			if err := r.Record(context.Background(), row); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			write(row(i))
		}
		made[path] = write
	}
	return made
}

func open(t *testing.T, path string) *records.Log {
	t.Helper()
	log, err := records.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}

func seqs(t *testing.T, log *records.Log, after int64, session stopgate.SessionID) (list []int64) {
	t.Helper()
	_, err := log.Rows(t.Context(), records.After(after), &records.Filter{Session: session}, func(r records.Row) bool {
		list = append(list, r.Seq)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Proves S25: both formats of a log read the same, also while they grow.
func TestBothFormsReadTheSame(t *testing.T) {
	for path, write := range logs(t, 6) {
		t.Run(filepath.Ext(path), func(t *testing.T) {
			log := open(t, path)
			for _, c := range []struct {
				got  []int64
				want string
			}{
				{seqs(t, log, 0, ""), "[1 2 3 4 5 6]"}, {seqs(t, log, 4, ""), "[5 6]"}, {seqs(t, log, 0, "s1"), "[2 4 6]"}, {seqs(t, log, 6, ""), "[]"},
			} {
				if fmt.Sprint(c.got) != c.want {
					t.Errorf("rows %v, want %s", c.got, c.want)
				}
			}
			write(row(6))
			if got := seqs(t, log, 6, ""); fmt.Sprint(got) != "[7]" {
				t.Errorf("new rows %v", got)
			}
			of, err := log.Of(t.Context(), "P3")
			if err != nil || len(of) != 1 || of[0].Seq != 4 {
				t.Errorf("of P3: %v, %v", of, err)
			}
			next := 6
			for _, newest := range []struct {
				filter *records.Filter
				want   string
			}{{&records.Filter{}, "6 7"}, {&records.Filter{Session: "s1", Until: at.Add(4 * time.Minute)}, "2 4"}} {
				rows, end, err := log.Newest(t.Context(), 2, newest.filter)
				if err != nil || len(rows) != 2 || fmt.Sprint(rows[0].Seq, rows[1].Seq) != newest.want {
					t.Errorf("the newest two are not %s: %v, %v", newest.want, rows, err)
				}
				next++
				write(row(next))
				n := 0
				if _, err := log.Rows(t.Context(), end, nil, func(records.Row) bool { n++; return true }); err != nil || n != 1 {
					t.Errorf("%d rows after them, %v", n, err)
				}
			}
			heads, err := log.Heads(t.Context())
			if err != nil || len(heads) != 1 || heads[0].Seq != 9 {
				t.Fatalf("heads %+v, %v", heads, err)
			}
			head := heads[0].Head
			check, err := log.Verify(t.Context(), head.Hash, "0000")
			if err != nil || check.Chains[0].Rows != 9 || len(check.Known) != 1 || check.Known[head.Hash] != 9 || check.Chains[0].Head != head {
				t.Errorf("check %+v, %v", check, err)
			}
		})
	}
}

func TestWhatIsNotThere(t *testing.T) {
	if _, err := records.Open(t.Context(), filepath.Join(t.TempDir(), "a.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("not a row\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := records.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "holds no records") {
		t.Errorf("text was opened as a log: %v", err)
	}
	if err := os.WriteFile(path, []byte("{not a row\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, path).Rows(t.Context(), records.Mark{}, nil, func(records.Row) bool { return true }); err == nil {
		t.Error("text was read as a row")
	}
}

// Proves that a row without the requested field is not selected.
func TestFilter(t *testing.T) {
	name, err := glob.ParseName("fs_[12]")
	if err != nil {
		t.Fatal(err)
	}
	event := &stopgate.Record{Time: at, Kind: stopgate.RecordEvent, Event: stopgate.AuditGap}
	for _, c := range []struct {
		name   string
		filter records.Filter
		row    *stopgate.Record
		want   bool
	}{
		{"nothing asked", records.Filter{}, event, true},
		{"tool", records.Filter{Tool: name}, row(1), true},
		{"another tool", records.Filter{Tool: name}, row(0), false},
		{"no tool", records.Filter{Tool: name}, event, false},
		{"mode", records.Filter{Modes: []stopgate.Mode{stopgate.Skip}}, row(1), true},
		{"no mode", records.Filter{Modes: []stopgate.Mode{stopgate.Deny}}, event, false},
		{"event", records.Filter{Events: []stopgate.AuditEvent{stopgate.AuditGap}}, event, true},
		{"no event", records.Filter{Events: []stopgate.AuditEvent{stopgate.AuditGap}}, row(1), false},
		{"decisions", records.Filter{Decisions: true}, event, false},
		{"session", records.Filter{Session: "s1"}, row(1), true},
		{"another session", records.Filter{Session: "s1"}, row(2), false},
		{"status", records.Filter{Status: []stopgate.RecordStatus{stopgate.StatusAllowed}}, row(1), false},
		{"code", records.Filter{Codes: []stopgate.Code{stopgate.CodeRuleMatched}}, row(1), true},
		{"since", records.Filter{Since: at.Add(time.Minute)}, row(1), true},
		{"before since", records.Filter{Since: at.Add(time.Minute)}, row(0), false},
		{"until", records.Filter{Until: at.Add(time.Minute)}, row(1), false},
	} {
		if got := c.filter.Matches(c.row); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Proves S31, S63: only calls that observe mode allowed are counted, by tool and reason.
func TestWouldDeny(t *testing.T) {
	var sum records.WouldDeny
	for i := range 20 {
		r := row(i)
		sum.Add(r)
	}
	// Odd rows were observed: ten; two of every ten are unattended or... 4, 9, 14, 19: odd ones 9 and 19.
	if sum.Calls != 10 || sum.Passed != 2 {
		t.Errorf("%d calls, %d passed", sum.Calls, sum.Passed)
	}
	held := 0
	for _, h := range sum.Held() {
		held += h.Calls
		if h.Mode.Permissive() || h.First.After(h.Last) || h.Example == "" {
			t.Errorf("held %+v", h)
		}
	}
	if held != 8 {
		t.Errorf("%d held, want 8", held)
	}
}
