package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/flow/kept"
	"github.com/stopgate/stopgate/internal/store/postgres"
	server "github.com/stopgate/stopgate/internal/testkit/postgres"
)

// explained makes the server log the plans of all statements of a database, with the rows and pages that
// each step read, and plan statements once, for all parameters, as it may after some executions.
const explained = `
ALTER SYSTEM SET autovacuum = off;
SELECT pg_reload_conf();
ALTER DATABASE %[1]s SET session_preload_libraries = 'auto_explain';
ALTER DATABASE %[1]s SET auto_explain.log_min_duration = 0;
ALTER DATABASE %[1]s SET auto_explain.log_analyze = on;
ALTER DATABASE %[1]s SET auto_explain.log_buffers = on;
ALTER DATABASE %[1]s SET auto_explain.log_timing = off;
ALTER DATABASE %[1]s SET auto_explain.log_format = 'json';
ALTER DATABASE %[1]s SET plan_cache_mode = 'force_generic_plan';
`

// filled fills the tables that grow with rows of a range.
const filled = `
SET search_path = stopgate;
SET auto_explain.log_min_duration = -1;
DROP TABLE IF EXISTS n;
CREATE TEMP TABLE n AS SELECT n, substr(sha256(n::text::bytea), 1, 16) AS id, (extract(epoch FROM now()) * 1000)::bigint - 1000 AS ms FROM generate_series(%d, %d) AS n;
INSERT INTO principals(id, name) SELECT id, id FROM n;
INSERT INTO sessions SELECT id, id, id, 1, ms, ms, 1 FROM n;
INSERT INTO cells SELECT id, 'k', ms, '{}' FROM n;
INSERT INTO facts SELECT id, 1, ms, '{}' FROM n;
INSERT INTO approvals(id, binding, state, principal, session, expires, body) SELECT id, id, 'approved', id, id, ms * 1000 - 1000000000, '{}' FROM n;
INSERT INTO grants(id, principal, tool, expires, body) SELECT id, id, 'deploy', ms * 1000 - 1000000000, '{}' FROM n;
INSERT INTO ledger SELECT id, ms, 'x' FROM n;
INSERT INTO objections SELECT id, 0.5, 'x', ms * 1000 FROM n;
INSERT INTO conversations(id, dir, changed, body) SELECT id, '/', ms * 1000, '{}' FROM n;
INSERT INTO conversation_entries SELECT n + 100000, 1, '{}' FROM n;
INSERT INTO texts(id, session, at, position, bytes, lost, key, meaning) SELECT id, id, ms, 1, 1, false, id, id FROM n;
INSERT INTO text_segments SELECT n + 100000, 1, 'x' FROM n;
INSERT INTO records(written, chain, seq, time, final, id, session, principal, tool, packed) SELECT ms * 1000, 99, n, ms * 1000, true, id, id, id, id, '{}' FROM n;
INSERT INTO record_decisions SELECT id, ms * 1000 FROM n;
INSERT INTO record_arguments SELECT id, 99, ms * 1000, NULL, 'x' FROM n;
INSERT INTO record_texts SELECT encode(id, 'hex'), 1, ms * 1000, false, 'x' FROM n;
`

// What a call needs is read by keys: no statement of a decision, a question or a text reads a table
// that grows, neither when it was planned while the tables were small, nor when their sizes are known.
func TestPlansReadByKeys(t *testing.T) {
	srv := server.Start(t, server.Fast)
	location := srv.Database(t)
	name, _, _ := strings.Cut(strings.TrimPrefix(location, "postgres://postgres@/"), "?")
	for line := range strings.SplitSeq(strings.TrimSpace(fmt.Sprintf(explained, name)), "\n") {
		if err := srv.Exec(line); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, location)
	g := newGate(t, s)
	conn, err := pgx.Connect(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	run := func(query string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	// Reading tables of some pages whole is the best plan for a batch. It is made again when the root of
	// an index changes, which takes some hundred rows and then some ten thousand.
	work(t, s, g, "empty")
	run(fmt.Sprintf(filled, 1, 400) + "ANALYZE")
	for i := range 4 {
		work(t, s, g, fmt.Sprint("small-", i))
	}
	run(fmt.Sprintf(filled, 401, 20000))
	for _, when := range []string{"planned for small tables", "planned for full tables"} {
		before := len(srv.Log())
		for i := range 4 {
			work(t, s, g, fmt.Sprint(when, i))
		}
		if n := judge(t, when, srv.Log()[before:]); n < 100 {
			t.Errorf("%s: the log has %d plans", when, n)
		}
		run("ANALYZE")
	}
	before := len(srv.Log())
	if _, err := s.Sessions(t.Context(), "", 10); err != nil {
		t.Fatal(err)
	}
	if worst := worstStep(t, srv.Log()[before:]); worst < 20000 {
		t.Errorf("a statement that reads a whole table is counted with %d rows", worst)
	}
}

// work does once what gates do for calls and the exchanges that they are part of.
func work(t *testing.T, s *postgres.Store, g *gate.Gate, name string) {
	t.Helper()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, now := t.Context(), time.Now()
	call := benchCall(0, 1)
	call.Session, call.Principal = "s", "local"
	for range 50 {
		if out, err := g.Decide(ctx, call); out.Allowed() {
			break
		} else {
			t.Log(out.Verdict.Code, err)
		}
	}
	must(s.Facts(ctx, owner, 0, 10))
	must(s.Lockdown(ctx))

	binding := gate.Binding{Tool: "deploy", Principal: "local", Session: "s"}
	e := approve.Entry{ID: name, Tool: "deploy", Principal: "local", Session: "s", Complete: true, Binding: binding, Args: "{}", State: approve.Waiting, Asked: now, Expires: now.Add(time.Hour)}
	must(s.AddEntry(ctx, e, func(approve.Entry) bool { return false }))
	must(s.Entry(ctx, name))
	must(s.Entries(ctx, approve.Filter{Principal: "local", Session: "s", Live: now}))
	must(s.Entries(ctx, approve.Filter{State: approve.Waiting, Live: now}))
	must(s.ChangeEntry(ctx, name, func(e approve.Entry) (approve.Entry, error) { e.State = approve.Used; return e, nil }))
	must(nil, s.AddGrant(ctx, approve.Grant{ID: name, Principal: "local", Tool: "deploy", Expires: now.Add(time.Hour)}))
	must(s.Grants(ctx, approve.GrantFilter{Principal: "local", Tool: "deploy", Live: now}))
	must(s.ChangeGrant(ctx, name, func(g approve.Grant) (approve.Grant, error) { return g, nil }))

	must(nil, s.PutLogEntries(ctx, "local", map[string][]byte{name: []byte("x")}))
	must(s.LogEntry(ctx, "local", name))
	c := flow.Conversation{Principal: "local", Session: "s", ID: name}
	key := make([]byte, 32)
	must(nil, s.AppendTexts(ctx, c, flow.Change{Key: key, Segments: [][]byte{[]byte("x")}}))
	must(nil, s.AppendTexts(ctx, c, flow.Change{Key: key, After: 1, Segments: [][]byte{[]byte("y")}}))
	must(s.LoadTexts(ctx, c, 1))
	must(s.KeptTexts(ctx, kept.LogID(key)))
	var proposal [32]byte
	copy(proposal[:], name)
	must(nil, s.SaveObjection(ctx, proposal, 0.5, "x", now))
	_, _, _, _, err := s.Objection(ctx, proposal)
	must(nil, err)
	must(nil, s.AppendEntries(ctx, name, conversation.Entry{Kind: conversation.User, Text: "x", At: now}))
	must(s.ConversationEntries(ctx, name))
}

// plan is a plan in the log.
type plan struct {
	Query string `json:"Query Text"`
	Plan  step
}

// step is a step of a plan.
type step struct {
	Node     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Joined   float64 `json:"Rows Removed by Join Filter"`
	Hit      int     `json:"Shared Hit Blocks"`
	Read     int     `json:"Shared Read Blocks"`
	Plans    []step
}

// most is how many rows and pages a step of a plan may read: a hundredth of a table.
const most = 200

// judge reports the statements that read more, and returns how many plans there are.
func judge(t *testing.T, when, log string) (n int) {
	t.Helper()
	seen := map[string]bool{}
	for _, p := range plans(t, log) {
		n++
		p.Plan.walk(func(s step) {
			if s.read() > most && !seen[p.Query] {
				seen[p.Query] = true
				t.Errorf("%s: %s\n%s of %s by %q reads %d rows or pages", when, p.Query, s.Node, s.Relation, s.Index, s.read())
			}
		})
	}
	return n
}

// worstStep returns the most rows or pages that a step has read.
func worstStep(t *testing.T, log string) (most int) {
	for _, p := range plans(t, log) {
		p.Plan.walk(func(s step) { most = max(most, s.read()) })
	}
	return most
}

func (s step) walk(f func(step)) {
	f(s)
	for _, next := range s.Plans {
		next.walk(f)
	}
}

func (s step) read() int {
	return max(int((s.Rows+s.Filtered+s.Joined)*s.Loops), s.Hit+s.Read)
}

// plans reads the plans in a log.
func plans(t *testing.T, log string) (list []plan) {
	t.Helper()
	for _, part := range strings.Split(log, "plan:\n")[1:] {
		var p plan
		if err := json.NewDecoder(strings.NewReader(part)).Decode(&p); err != nil {
			t.Fatalf("%v in %.200s", err, part)
		}
		list = append(list, p)
	}
	return list
}
