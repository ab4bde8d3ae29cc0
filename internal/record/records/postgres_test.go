package records_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/condition/glob"
	rows "github.com/stopgate/stopgate/internal/record/postgres"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
	"github.com/stopgate/stopgate/internal/testkit/postgres"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

// gateAt opens a recorder of a gate.
func gateAt(t testing.TB, location, gate string) *rows.Recorder {
	t.Helper()
	db, err := pgdb.Open(t.Context(), location, rows.Tables)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	r, err := rows.New(db, rows.Options{Gate: gate, Arguments: audit.KeepFull})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// some returns one of a few values, often none.
func some(t *rapid.T, name string, list ...string) string {
	return rapid.SampledFrom(append(list, "", "", "")).Draw(t, name)
}

func drawFilter(t *rapid.T) (f records.Filter) {
	f = records.Filter{
		Gate: some(t, "gate", "a", "b", "z"), Session: stopgate.SessionID(some(t, "session", "s0", "s1")), Principal: stopgate.Principal(some(t, "principal", "p0", "p1")),
		Decisions: rapid.Bool().Draw(t, "decisions"),
	}
	if tool := some(t, "tool", "fs_1", "fs_*", "*_2", "{fs_0,sh_1}", "none"); tool != "" {
		f.Tool, _ = glob.ParseName(tool)
	}
	for rule := range strings.FieldsSeq(some(t, "rules", string(ruleA), string(ruleB), "none", string(ruleA+" "+ruleB), string(ruleA+" "+ruleA))) {
		f.Rules = append(f.Rules, stopgate.RuleID(rule))
	}
	if rapid.Bool().Draw(t, "modes") {
		f.Modes = []stopgate.Mode{stopgate.Mode(rapid.IntRange(0, 4).Draw(t, "mode"))}
	}
	if code := some(t, "code", string(stopgate.CodeRuleMatched), string(stopgate.CodeNoApprover)); code != "" {
		f.Codes = []stopgate.Code{stopgate.Code(code)}
	}
	if status := some(t, "status", string(stopgate.StatusDenied), string(stopgate.StatusAllowed)); status != "" {
		f.Status = []stopgate.RecordStatus{stopgate.RecordStatus(status)}
	}
	if event := some(t, "event", string(stopgate.AuditAsked)); event != "" {
		f.Events = []stopgate.AuditEvent{stopgate.AuditEvent(event)}
	}
	if rapid.Bool().Draw(t, "since") {
		f.Since = at.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "from")) * time.Minute)
	}
	if rapid.Bool().Draw(t, "ahead") {
		f.Since = time.Now().Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "from now")) * time.Minute)
	}
	if rapid.Bool().Draw(t, "until") {
		f.Until = at.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "to")) * time.Minute)
	}
	return f
}

// Proves S25: what the columns of a store of several gates select is what the filter selects from all
// lines, the newest rows are the last of them, and what is read after a mark is what was written since.
func TestServerSelectsByFilter(t *testing.T) {
	location := postgres.Database(t)
	a, b := gateAt(t, location, "a"), gateAt(t, location, "b")
	written := 0
	write := func(n int) {
		t.Helper()
		for range n {
			r := row(written)
			r.Principal, r.Tool = stopgate.Principal(fmt.Sprint("p", written%3)), stopgate.ToolName(fmt.Sprint([]string{"fs_", "sh_"}[written%2], written%3))
			if written%25 == 24 { // the clock of a gate is ahead
				r.Time = time.Now().Add(time.Duration(written) * time.Minute)
			}
			if written%7 < 5 {
				r.Rule = &stopgate.RuleRef{File: "p.toml", Line: written, ID: []stopgate.RuleID{ruleA, ruleB, ""}[written%3]}
			}
			switch written % 4 {
			case 1:
				r.Code, r.Status = stopgate.CodeNoApprover, stopgate.StatusAllowed
			case 2:
				r.Kind, r.Event, r.Mode, r.Status = stopgate.RecordEvent, stopgate.AuditAsked, nil, ""
			}
			if err := []*rows.Recorder{a, b}[written/3%2].Record(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			written++
		}
	}
	write(60)
	log := open(t, location)
	all := func(after records.Mark, f *records.Filter) (list []string, end records.Mark) {
		t.Helper()
		end, err := log.Rows(t.Context(), after, f, func(r records.Row) bool {
			list = append(list, string(r.Line))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		return list, end
	}
	everything, middle := all(records.Mark{}, nil)
	write(40)
	rest, _ := all(middle, nil)
	if everything = append(everything, rest...); len(everything) != 100 {
		t.Fatalf("%d rows", len(everything))
	}
	if again, _ := all(records.Mark{}, nil); !slices.Equal(again, everything) {
		t.Error("rows that are followed come in another order")
	}
	selects := func(rt *rapid.T) {
		f := drawFilter(rt)
		wanted := func(lines []string) (list []string) {
			for _, line := range lines {
				r := parsed(t, line)
				if f.Matches(&r) {
					list = append(list, line)
				}
			}
			return list
		}
		want := wanted(everything)
		if got, _ := all(records.Mark{}, &f); !slices.Equal(got, want) {
			rt.Errorf("%d rows, want %d", len(got), len(want))
		}
		if got, _ := all(middle, &f); !slices.Equal(got, wanted(rest)) {
			rt.Errorf("%d rows after a mark, want %d", len(got), len(wanted(rest)))
		}
		n := rapid.Int64Range(1, 30).Draw(rt, "n")
		newest, end, err := log.Newest(t.Context(), n, &f)
		if err != nil {
			rt.Fatal(err)
		}
		var got []string
		for _, r := range newest {
			got = append(got, string(r.Line))
		}
		if want := want[max(0, len(want)-int(n)):]; !slices.Equal(got, want) {
			rt.Errorf("the newest %d are %d, want %d", n, len(got), len(want))
		}
		if more, _ := all(end, nil); len(more) > 0 {
			rt.Errorf("%d rows after the newest", len(more))
		}
	}
	property.Check(t, selects)
	conn, err := pgx.Connect(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "UPDATE stopgate.records SET rule_id = DEFAULT WHERE seq % 3 = 0"); err != nil { // as an earlier version wrote them
		t.Fatal(err)
	}
	property.Check(t, selects)
	var exported []string
	for _, chain := range heads(t, log) {
		if err := log.Chain(t.Context(), chain, 0, func(line []byte) bool { exported = append(exported, string(line)); return true }); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(exported)
	if slices.Sort(everything); !slices.Equal(exported, everything) {
		t.Error("the lines of the chains are not those of the log")
	}
	if err := log.Chain(t.Context(), "X", 0, func([]byte) bool { return true }); err == nil || !strings.Contains(err.Error(), "no chain") {
		t.Error(err)
	}
}

func parsed(t *testing.T, line string) (r stopgate.Record) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func heads(t *testing.T, log *records.Log) (chains []string) {
	t.Helper()
	heads, err := log.Heads(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range heads {
		chains = append(chains, h.Chain)
	}
	return chains
}
