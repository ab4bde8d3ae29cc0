package sqlite_test

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	rows "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/session"
)

// Proves S25, I23: facts that refer to names are those of a store without names, for the process that wrote them and for another
// one, and the fact and the row of a decision are small.
func TestFactsWithNames(t *testing.T) {
	program := starterProgram(t)
	path := filepath.Join(t.TempDir(), "s.db")
	s := openWith(t, path, sqlite.Options{Records: rows.Options{Arguments: audit.KeepFull}})
	plain := mem.New()
	ids := map[gate.Store][]stopgate.ProposalID{}
	for _, to := range []gate.Store{s, plain} {
		options := []gate.Option{gate.WithStore(to)}
		if to == s {
			options = append(options, gate.WithRecorder(s.Recorder()))
		}
		g, err := gate.New(program, options...)
		if err != nil {
			t.Fatal(err)
		}
		for n := range int64(5) {
			out, err := g.Decide(context.Background(), starterCall(1, n))
			if err != nil || !out.Allowed() {
				t.Fatal(out.Verdict.Code, err)
			}
			ids[to] = append(ids[to], out.Proposal)
		}
	}
	owner := session.Owner{Principal: "local", Session: starterCall(1, 0).Session}
	want, err := plain.Facts(ctx, owner, 0, 10)
	if err != nil || len(want) != 5 {
		t.Fatal(len(want), err)
	}
	other := openWith(t, path, sqlite.Options{})
	for name, of := range map[string]*sqlite.Store{"writer": s, "another process": other} {
		facts, err := of.Facts(ctx, owner, 0, 10)
		if err != nil || len(facts) != len(want) {
			t.Fatal(len(facts), err)
		}
		for i := range facts {
			id := ids[s][i]
			state, err := of.Load(ctx, owner, []session.Key{session.CallKey(id)})
			if err != nil {
				t.Fatal(err)
			}
			c, _ := state.Cell(session.CallKey(id))
			if c.Call.Fact == nil || !reflect.DeepEqual(*c.Call.Fact, facts[i]) {
				t.Errorf("%s: the call has the fact %+v, the session %+v", name, c.Call.Fact, facts[i])
			}
			got := facts[i]
			got.At, got.Proposal = want[i].At, want[i].Proposal
			if !reflect.DeepEqual(got, want[i]) {
				t.Errorf("%s: fact %+v, want %+v", name, got, want[i])
			}
		}
	}
	var log strings.Builder
	if err := rows.Rows(ctx, other.Database(), 0, rows.Selection{}, func(_ int64, line []byte) bool {
		log.Write(append(line, '\n'))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if report, err := audit.Verify(strings.NewReader(log.String())); err != nil || report.Rows != 5 || strings.Count(log.String(), want[0].Release.Policy) != 5 {
		t.Errorf("%+v, %v, log\n%s", report, err, log.String())
	}
	var row, fact int
	if err := raw(t, path).QueryRow("SELECT (SELECT length(stored) FROM audit_rows ORDER BY seq DESC LIMIT 1), "+
		"(SELECT length(stored) FROM facts ORDER BY seq DESC LIMIT 1)").Scan(&row, &fact); err != nil || row > 225 || fact > 115 {
		t.Errorf("a row has %d bytes, a fact %d (%v)", row, fact, err)
	}
}
