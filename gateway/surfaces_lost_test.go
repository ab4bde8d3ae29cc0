package gateway_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// lossyStore refuses the first results that are recorded in it, and nothing else.
type lossyStore struct {
	*mem.Store
	refuses atomic.Int32
}

// Capabilities are none: the gate then treats the store as one that may fail.
func (*lossyStore) Capabilities() gate.Capabilities { return gate.Capabilities{} }

func (s *lossyStore) Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	return s.Store.Update(ctx, o, keys, func(state session.State) (gate.Change, error) {
		change, err := decide(state)
		isResult := func(f session.Fact) bool {
			return f.Kind == session.Succeeded || f.Kind == session.Finished || f.Kind == session.Failed || f.Kind == session.Absent
		}
		if err == nil && slices.ContainsFunc(change.Facts, isResult) && s.refuses.Add(-1) >= 0 {
			return gate.Change{}, errors.New("the disk is full")
		}
		return change, err
	})
}

// Proves FM16: a result that the store refuses makes its session uncertain on every surface
// alike. The call has a row with executed_state_unknown, what session policies govern is
// denied session_degraded from then on, also after the store takes results again, and other
// calls are served.
func TestSurfacesAgreeOnLostResults(t *testing.T) {
	degraded := string(stopgate.CodeSessionDegraded)
	free := step{tool: "move", args: `{"path":"here"}`, result: "done"}
	for _, row := range []sequence{
		{name: "the result of a prerequisite is lost", turns: [][]step{{test}, {deploy}}, want: []string{allowed, degraded}},
		{name: "what no session policy governs is served", turns: [][]step{{test}, {free}, {deploy}}, want: []string{allowed, allowed, degraded}},
		{name: "what succeeded before does not count any more", turns: [][]step{{free}, {test}, {deploy}}, want: []string{allowed, degraded, degraded}},
		{name: "one of several results is lost", turns: [][]step{{readA, test}, {deploy}}, want: []string{allowed, allowed, degraded}, differs: map[string]difference{
			"agent": {[]string{allowed, string(stopgate.CodeCancelled), degraded}, "the agent tells its user of the lost result before it runs the next call"},
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, s := range surfaces() {
				t.Run(s.name, func(t *testing.T) {
					w := world{rows: new(ports.Recorder), store: &lossyStore{Store: mem.New()}, lossy: true}
					w.store.(*lossyStore).refuses.Store(1)
					told := s.play(t, w, row.turns)
					if got, want := codesOf(w.rows, row.turns), row.wantOn(s.name); !slices.Equal(got, want) {
						t.Fatalf("got %q, want %q", got, want)
					}
					if last := told[len(told)-1]; !strings.Contains(last, degraded) || !strings.Contains(last, strings.TrimSuffix(stopgate.CodeSessionDegraded.Public(), ".")) {
						t.Errorf("the last turn does not say so: %s", last)
					}
					unknown := 0
					for _, r := range w.rows.Events(stopgate.AuditResult) {
						if r.Code == stopgate.CodeExecutedStateUnknown {
							unknown++
						}
					}
					if unknown != 1 {
						t.Errorf("%d rows with %s", unknown, stopgate.CodeExecutedStateUnknown)
					}
				})
			}
		})
	}
}
