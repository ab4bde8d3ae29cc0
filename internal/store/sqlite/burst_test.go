package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	rows "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/session"
)

const askingFile = `version = 1
[gate]
deny_mode = "tool_result"
[tools.ask.policy]
run = "ask"
`

type attended struct{}

func (attended) Name() string                                { return "test" }
func (attended) Notify(context.Context, approve.Entry) error { return nil }

// asking returns a gate whose questions are kept in the store.
func asking(t testing.TB, path string) (*gate.Gate, *approve.Queue, *sqlite.Store) {
	t.Helper()
	s := open(t, path)
	program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(askingFile), Trusted: true}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	q, err := approve.New(s, approve.Options{Notify: []approve.Notifier{attended{}}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.New(program, gate.WithStore(s), gate.WithRecorder(s.Recorder()), gate.WithApprover(q))
	if err != nil {
		t.Fatal(err)
	}
	return g, q, s
}

// answering answers all questions until ctx ends.
func answering(ctx context.Context, t testing.TB, q *approve.Queue, s *sqlite.Store, by string, yes *sync.Map) {
	for ctx.Err() == nil {
		entries, err := s.Entries(ctx, approve.Filter{State: approve.Waiting})
		if err != nil && ctx.Err() == nil {
			t.Error(err)
			return
		}
		for _, e := range entries {
			if !e.Complete {
				continue
			}
			if _, err := q.Answer(ctx, e.ID, approve.Reply{Kind: approve.Yes, By: by, Via: "test"}); err == nil {
				yes.Store(e.ID, true)
			}
		}
	}
}

// 300 questions at once at one gate: no call is denied because of load, and every call has the rows
// of its question, its answer, and its decision.
func TestManyQuestionsAtOnce(t *testing.T) {
	const calls = 300
	g, q, s := asking(t, filepath.Join(t.TempDir(), "s.db"))
	answers, stop := context.WithCancel(ctx)
	var answered sync.WaitGroup
	var yes sync.Map
	answered.Go(func() { answering(answers, t, q, s, "ann", &yes) })
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			out, err := g.Decide(ctx, stopgate.Call{Tool: "ask", Session: "s", Principal: "local", Args: fmt.Appendf(nil, `{"n":%d}`, i)})
			if err != nil || !out.Allowed() {
				t.Errorf("call %d: %v %v", i, out.Verdict, err)
			}
		})
	}
	all.Wait()
	stop()
	answered.Wait()
	if h := g.Health(); h.LostRows != 0 || h.Spooled {
		t.Errorf("health %+v", h)
	}
	counts := count(t, s)
	if counts["allowed"] != calls || counts["asked"] != calls || counts["answered"] != calls || counts["gap"] != 0 {
		t.Errorf("rows %v", counts)
	}
}

// count counts the rows of a store by status.
func count(t testing.TB, s *sqlite.Store) map[string]int {
	t.Helper()
	counts := map[string]int{}
	err := rows.Rows(ctx, s.Database(), 0, rows.Selection{}, func(_ int64, line []byte) bool {
		counts[member(string(line), "status")+member(string(line), "event")]++
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// Eight people and twenty identical calls at two gates: the number of used approvals equals the
// number of released calls, and every call has its row.
func TestApprovalIsUsedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	g1, q, s := asking(t, path)
	g2, _, _ := asking(t, path)
	answers, stop := context.WithCancel(ctx)
	var answered, all sync.WaitGroup
	var yes sync.Map
	for i := range 8 {
		answered.Go(func() { answering(answers, t, q, s, fmt.Sprint("person ", i), &yes) })
	}
	var left atomic.Int64
	for i := range 20 {
		all.Go(func() {
			out, err := []*gate.Gate{g1, g2}[i%2].Decide(ctx, stopgate.Call{Tool: "ask", Session: "s", Principal: "local", Args: []byte(`{"n":1}`)})
			if err != nil {
				t.Error(err)
			}
			if out.Allowed() {
				left.Add(1)
			}
		})
	}
	all.Wait()
	stop()
	answered.Wait()
	used := 0
	entries, err := s.Entries(ctx, approve.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.State == approve.Used {
			used++
		}
	}
	counts := count(t, s)
	if used != int(left.Load()) || counts["allowed"] != used || counts["allowed"]+counts["denied"] != 20 || left.Load() != 20 {
		t.Errorf("%d calls left, %d yeses were used, rows %v", left.Load(), used, counts)
	}
}

// A call that was approved but not released returns the approval: here its row cannot be written.
func TestApprovalIsReturnedAfterFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(askingFile), Trusted: true}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	q, err := approve.New(s, approve.Options{Notify: []approve.Notifier{attended{}}})
	if err != nil {
		t.Fatal(err)
	}
	broken := &refusing{Store: s}
	g, err := gate.New(program, gate.WithStore(broken), gate.WithRecorder(s.Recorder()), gate.WithApprover(q))
	if err != nil {
		t.Fatal(err)
	}
	answers, stop := context.WithCancel(ctx)
	var answered sync.WaitGroup
	var yes sync.Map
	answered.Go(func() { answering(answers, t, q, s, "ann", &yes) })
	call := stopgate.Call{Tool: "ask", Session: "s", Principal: "local", Args: []byte(`{"n":1}`)}
	broken.refuses.Store(true)
	if out, err := g.Decide(ctx, call); err != nil || out.Allowed() {
		t.Errorf("%v %v", out.Status, err)
	}
	stop()
	answered.Wait()
	broken.refuses.Store(false)
	entries, err := s.Entries(ctx, approve.Filter{})
	if err != nil || len(entries) != 1 || entries[0].State != approve.Approved {
		t.Errorf("%v: the question is %+v", err, entries)
	}
	if out, err := g.Decide(ctx, call); err != nil || !out.Allowed() {
		t.Errorf("the same call with the same yes: %v %v", out.Verdict, err)
	}
}

// refusing is a store whose updates fail while it is set to refuse.
type refusing struct {
	*sqlite.Store
	refuses atomic.Bool
}

func (r *refusing) Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	if r.refuses.Load() {
		return errors.New("the disk is full")
	}
	return r.Store.Update(ctx, o, keys, decide)
}

// lockStore holds the write lock of a store in another connection until unlock is called.
func lockStore(t *testing.T, path string) (unlock func()) {
	t.Helper()
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	hold, err := other.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hold.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if _, err := hold.ExecContext(ctx, "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
}

// If neither the store nor the spool can be written, no call is released, denials are counted, and
// the gap with their number is the first row once the store works again.
func TestStoreAndSpoolFail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	g := deciding(t, s, 1)
	must(t, os.WriteFile(path+"-spool", nil, 0o600)) // a file in place of the directory fails for root, too
	unlock := lockStore(t, path)
	denied := int64(0)
	for ; denied < 3; denied++ {
		if out := decideYes(t, g); out.Allowed() || out.Verdict.Code != stopgate.CodeAuditUnavailable {
			t.Errorf("%v", out.Verdict)
		}
	}
	if g.Health().LostRows != denied {
		t.Errorf("health %+v", g.Health())
	}
	unlock()
	for !decideYes(t, g).Allowed() { // the store is retried after a while
		denied++
	}
	if counts := count(t, s); counts["gap"] != 1 || counts["allowed"] != 2 || g.Health().LostRows != 0 {
		t.Errorf("rows %v, health %+v", counts, g.Health())
	}
	said := ""
	must(t, rows.Rows(ctx, s.Database(), 0, rows.Selection{}, func(_ int64, line []byte) bool {
		if member(string(line), "event") == "gap" {
			said = string(line)
		}
		return true
	}))
	if !strings.Contains(said, fmt.Sprintf(`"count":%d,`, denied)) {
		t.Errorf("%d rows were lost: %s", denied, said)
	}
}

// A store that another process keeps locked denies within the time limit, and the limit is not paid
// again for every row: the rows are spooled, and are chained when the store is free.
func TestLockedStoreDenies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	g, _, s := asking(t, path)
	unlock := lockStore(t, path)
	const calls = 20
	began := time.Now()
	for i := range calls {
		out, err := g.Decide(ctx, stopgate.Call{Tool: "none", Session: "s", Principal: "local", Args: fmt.Appendf(nil, `{"n":%d}`, i)})
		if err != nil || out.Allowed() {
			t.Errorf("%v %v", out.Verdict, err)
		}
	}
	t.Logf("%d denials took %v", calls, time.Since(began))
	if h := g.Health(); h.LostRows != 0 || !h.Spooled {
		t.Errorf("health %+v", h)
	}
	unlock()
	for s.Recorder().Spooled() {
		runtime.Gosched()
	}
	if counts := count(t, s); counts["denied"] != calls || counts["gap"] != 0 {
		t.Errorf("rows %v", counts)
	}
}
