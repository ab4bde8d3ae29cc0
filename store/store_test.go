package store_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/store"
)

const rules = `version = 1
[tools.test.policy]
run = [ { mode = "unattended" } ]
[tools.deploy.policy]
run = [ { mode = "unattended" } ]
[[session]]
type = "require"
before = "deploy"
requires = ["test"]
`

// A gate on a database of this package remembers what ran in a session after the process
// has ended, and writes a record for every call.
func TestDatabaseRemembersSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopgate.db")
	if s := decide(t, path, "deploy"); s != stopgate.Denied {
		t.Errorf("deploy before test: %v", s)
	}
	if s := decide(t, path, "test"); s != stopgate.Allowed {
		t.Errorf("test: %v", s)
	}
	if s := decide(t, path, "deploy"); s != stopgate.Allowed {
		t.Errorf("deploy after test: %v", s)
	}
}

// decide opens the database, runs one call and closes the database.
func decide(t *testing.T, path string, tool stopgate.ToolName) stopgate.Status {
	t.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, path, store.Options{Arguments: audit.KeepRedacted})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	queue, err := approve.New(s, approve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := newGate(t, gate.WithStore(s), gate.WithRecorder(s.Recorder()), gate.WithApprover(queue)).
		Turn(session.Owner{Principal: "ann", Session: "s"}, "").
		Run(ctx, stopgate.Call{Tool: tool, ID: "c", Args: []byte(`{}`)}, func(context.Context, []byte) ([]byte, error) { return []byte(`{}`), nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PruneRecords(ctx, time.Unix(0, 0), time.Unix(0, 0)); err != nil {
		t.Error(err)
	}
	return out.Outcome.Status
}

func newGate(t *testing.T, opts ...gate.Option) *gate.Gate {
	t.Helper()
	p, found := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(rules), Trusted: true}}, policy.Options{})
	if p == nil {
		t.Fatal(found.Err())
	}
	g, err := gate.New(p, append(opts, gate.WithDenyMode(gate.DenyToolResult))...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The log holds the record of an allowed call before the call is released, and its chain
// is whole.
func TestLogHoldsReleasedCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := store.OpenLog(path, store.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	g := newGate(t, gate.WithStore(store.Memory()), gate.WithRecorder(log))
	out, err := g.Decide(context.Background(), stopgate.Call{Tool: "test", ID: "c", Session: "s", Args: []byte(`{}`)})
	if err != nil || !out.Allowed() {
		t.Fatal(out, err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	report, err := audit.Verify(f)
	if err != nil || report.Rows == 0 {
		t.Errorf("%+v %v", report, err)
	}
	if _, err := store.OpenLog(path, store.LogOptions{}); err == nil {
		t.Error("two writers of one log")
	}
}
