package decide_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

const rules = `
version = 1
[tools.write]
parameters.path = { type = "path", required = true }
parameters.content = { type = "string" }
[tools.write.policy]
run = [
  { arg = "/path", glob = "**/.env*", mode = "deny", reason = "secrets stay out of reach" },
  { arg = "/path", prefix = "src", mode = "unattended" },
  { arg = "/path", prefix = "skip", mode = "skip" },
  { mode = "ask" },
]
result = [ { arg = "/path", prefix = "src/secret", mode = "skip" }, { mode = "unattended" } ]
[tools.limited]
access = { read = ["src/"], write = [] }
policy.run = [ { arg = "/path", const = "no", mode = "deny" }, { mode = "unattended" } ]
[tools.deploy]
policy.run = "unattended"
[tools.test]
policy.run = "unattended"
[[session]]
type = "require"
name = "tested"
before = "deploy"
requires = ["test"]
[[handoffs]]
from = "main"
to = ["billing"]
mode = "unattended"
`

type silent struct{}

func (silent) Name() string                                { return "silent" }
func (silent) Notify(context.Context, approve.Entry) error { return nil }

// fixture is an API with its gate and stores.
type fixture struct {
	t        *testing.T
	api      *decide.Server
	gate     *gate.Gate
	queue    *approve.Queue
	program  *policy.Program
	records  *ports.Recorder
	contract *contract
	local    http.Handler
	remote   http.Handler
}

type rows struct{ *ports.Recorder }

func (r rows) Rows(_ context.Context, _ string, after int64, limit int) (out []stopgate.Record, err error) {
	for _, row := range r.Recorder.Rows() {
		if row.Seq > after && len(out) < limit {
			row.Prev, row.Hash = strings.Repeat("0", 64), strings.Repeat("1", 64)
			out = append(out, row)
		}
	}
	return out, nil
}

func token(text string, name stopgate.Principal, scopes decide.Scope) decide.Token {
	return decide.Token{Name: name, SHA256: sha256.Sum256([]byte(text)), Scopes: scopes}
}

func newFixture(t *testing.T, change func(*decide.Options)) *fixture {
	t.Helper()
	program, mistakes := prove.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(rules)}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	queue, err := approve.New(new(mem.Approvals), approve.Options{Notify: []approve.Notifier{silent{}}})
	if err != nil {
		t.Fatal(err)
	}
	d := &fixture{t: t, queue: queue, program: program, records: new(ports.Recorder), contract: readContract(t)}
	store := mem.New()
	d.gate, err = gate.New(program, gate.WithRecorder(d.records), gate.WithApprover(queue), gate.WithStore(store),
		gate.WithSealKey([]byte(strings.Repeat("k", 32))), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	o := decide.Options{
		Gate: d.gate, Program: func() gate.Policy { return program }, Queue: queue, Sessions: store, Records: rows{d.records}, Lockdowns: store,
		Describe: func() decide.Description {
			return decide.Description{Version: "v1", Project: "/p", Files: []decide.PolicyFile{{Path: "/p/stopgate.toml", SHA256: "aa", Trusted: true}}, Policy: program.Hash()}
		},
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			io.WriteString(w, "stopgate_up 1\n")
		}),
		Tokens: []decide.Token{
			token("agent", "agent", decide.Decide), token("seer", "agent", decide.Decide|decide.Observe),
			token("anna", "anna", decide.Approve), token("op", "op", decide.Operate|decide.Decide),
			token("host", "host", decide.Texts),
		},
	}
	if change != nil {
		change(&o)
	}
	if d.api, err = decide.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.api.Close(context.Background()) })
	d.local, d.remote = d.api.Handler(true), d.api.Handler(false)
	return d
}

// answer is a response.
type answer struct {
	status int
	text   string
	header http.Header
	json   map[string]any
}

func (a answer) get(path ...string) any {
	var v any = a.json
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// do sends a request; who selects a token, "" a program on the Unix socket.
func (d *fixture) do(who, method, path, body string, headers ...string) answer {
	d.t.Helper()
	h := d.remote
	r := httptest.NewRequestWithContext(d.t.Context(), method, "http://localhost"+path, strings.NewReader(body))
	if who == "" {
		h = d.local
	} else {
		r.Header.Set("Authorization", "Bearer "+who)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := transport{d.t, d.contract, h}.RoundTrip(r)
	if err != nil {
		d.t.Fatal(err)
	}
	text, _ := io.ReadAll(response.Body)
	a := answer{status: response.StatusCode, text: string(text), header: response.Header}
	json.Unmarshal(text, &a.json)
	return a
}

func (d *fixture) wants(a answer, status int, what ...string) answer {
	d.t.Helper()
	for _, w := range what {
		if !strings.Contains(a.text, w) {
			d.t.Errorf("%q is missing in %s", w, a.text)
		}
	}
	if a.status != status {
		d.t.Fatalf("%d, want %d: %s", a.status, status, a.text)
	}
	return a
}

// Proves S43, D25-01, I12: decisions about complete calls, and their responses.
func TestCalls(t *testing.T) {
	d := newFixture(t, nil)
	a := d.wants(d.do("", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/a", "content":"x"}}`), 200,
		`"status":"allowed"`, `"args":{"path":"src/a","content":"x"}`, `"enforced":true`)
	if e, ok := a.json["envelope"].(map[string]any); !ok || e["status"] != "ok" || e["code"] != nil || e["data"] != nil || !strings.HasSuffix(a.header.Get("Location"), a.get("id").(string)) {
		t.Error(a.text, a.header)
	}
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":".env"}}`), 200,
		`"status":"denied"`, `"mode":"deny"`, `"line":8`, `"pointer":"/path"`, `"decided_at":14`, `"publicReason":"secrets stay out of reach"`)
	d.wants(d.do("", "POST", "/v1/calls", `{"tool":"write","args":{"path":"skip/x"}}`), 200, `"status":"skipped"`)
	d.wants(d.do("", "POST", "/v1/calls", `{"tool":"write","raw":"{\"path\":\"src/a\",\"path\":\"b\"}"}`), 200, `"code":"duplicate_key"`)
	d.wants(d.do("", "POST", "/v1/calls", `{"tool":"nothing","args":{}}`), 200, `"code":"policy_not_configured"`)
	d.wants(d.do("", "POST", "/v1/calls", `{"tool":"write","args":null}`), 200, `"code":"non_object_root"`)
	rows := d.records.Decisions()
	if len(rows) != 6 || rows[0].Surface != stopgate.SurfaceDecide || rows[0].Principal != "local" || rows[1].Principal != "agent" {
		t.Fatalf("%+v", rows)
	}
	before := len(d.records.Rows())
	d.wants(d.do("", "POST", "/v1/check", `{"tool":"write","args":{"path":"README"}}`), 200, `"mode":"ask"`, `"bytes":17`)
	if len(d.records.Rows()) != before {
		t.Error("a check leaves a record")
	}
}

// Proves S43, S54: a call that needs an answer is pending, and can be looked up, until it is
// answered.
func TestPendingCalls(t *testing.T) {
	d := newFixture(t, nil)
	a := d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"README"},"session":"s"}`), 202, `"status":"pending"`)
	id, question := a.get("id").(string), a.get("approval", "id").(string)
	if _, ok := a.json["args"]; ok {
		t.Fatal("a pending call has something to run")
	}
	d.wants(d.do("agent", "GET", "/v1/calls/"+id, ""), 202, question)
	d.wants(d.do("op", "GET", "/v1/calls/"+id, ""), 404)
	listed := d.wants(d.do("anna", "GET", "/v1/approvals?state=waiting", ""), 200, question, `"tool":"write"`)
	shown := d.wants(d.do("anna", "GET", "/v1/approvals/"+question, ""), 200, `"state":"waiting"`, `README`)
	seen, _ := shown.get("seen").(string)
	if seen == "" || listed.get("approvals").([]any)[0].(map[string]any)["seen"] != seen {
		t.Fatalf("what is seen is %q, and in the list %v", seen, listed.get("approvals"))
	}
	d.wants(d.do("agent", "POST", "/v1/approvals/"+question, `{"answer":"approve"}`), 403, "scope_missing")
	d.wants(d.do("anna", "POST", "/v1/approvals/"+question, `{"answer":"approve","seen":"other"}`), 409, "approval_stale")
	d.wants(d.do("anna", "POST", "/v1/approvals/"+question, `{"answer":"yes"}`), 400)
	d.wants(d.do("anna", "POST", "/v1/approvals/"+question, `{"answer":"approve","seen":"`+seen+`"}`), 200, `"state":"approved"`)
	d.wants(d.do("agent", "GET", "/v1/calls/"+id, "", "Prefer", "wait=10"), 200, `"status":"allowed"`, `"by":"anna"`, `"args":{"path":"README"}`)
	d.wants(d.do("anna", "POST", "/v1/approvals/"+question, `{"answer":"deny"}`), 409, "already_answered")
	d.wants(d.do("anna", "GET", "/v1/approvals/nothing", ""), 404)

	// A call that waits for its answer.
	done := make(chan answer, 1)
	go func() {
		done <- d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"NEWS"},"session":"s"}`, "Prefer", "respond-async, wait=60")
	}()
	next := d.ask()
	d.wants(d.do("anna", "POST", "/v1/approvals/"+next, `{"answer":"edit","args":{"path":"src/b"}}`), 200, `"state":"edited"`)
	d.wants(<-done, 200, `"status":"allowed"`, `"args":{"path":"src/b"}`, `"edited":true`)
	d.wants(d.do("agent", "GET", "/v1/calls/x", "", "Prefer", "wait=soon"), 400, "bad_prefer")
}

// ask waits for the open question.
func (d *fixture) ask() string {
	d.t.Helper()
	for range 2000 {
		list, _ := d.do("anna", "GET", "/v1/approvals?state=waiting", "").get("approvals").([]any)
		if len(list) > 0 {
			return list[0].(map[string]any)["id"].(string)
		}
		time.Sleep(5 * time.Millisecond)
	}
	d.t.Fatal("nobody is asked")
	return ""
}

// Proves S34, S59: a grant answers the next call, is listed, and can be revoked.
func TestGrants(t *testing.T) {
	d := newFixture(t, nil)
	const call = `{"tool":"write","args":{"path":"docs/a"},"session":"s"}`
	d.wants(d.do("agent", "POST", "/v1/calls", call), 202)
	question := d.ask()
	for _, bad := range []string{`[]`, `{"seconds":0}`, `{"seconds":1.5}`, `{"forever":true}`, `{"wider":[{"pointer":1}]}`, `{"uses":10000000}`, `{"extension":""}`, `{"extension":"exact","wider":[{"pointer":"/path","how":"below","text":"docs"}]}`} {
		d.wants(d.do("anna", "POST", "/v1/approvals/"+question, `{"answer":"approve","grant":`+bad+`}`), 400, "bad_grant")
	}
	d.wants(d.do("anna", "POST", "/v1/approvals/"+question, `{"answer":"approve","grant":{"wider":[{"pointer":"/path","how":"below","text":"lib"}]}}`), 422, "no_grant")
	d.wants(d.do("anna", "GET", "/v1/approvals/"+question, ""), 200, `"extensions":[`+
		`{"name":"directory","title":"this directory: docs","wider":[{"pointer":"/path","how":"below","text":"docs"},{"pointer":"/content","how":"open"}],"sentence":"write runs unasked for every path in docs, with any /content","example":"docs/another"},`+
		`{"name":"file","title":"this file: docs/a","wider":[{"pointer":"/content","how":"open"}],"sentence":"write runs unasked for docs/a, with any /content; its other values stay the same"},`+
		`{"name":"exact","title":"exactly this","sentence":"write runs unasked with the same values"}]`)
	d.wants(d.do("anna", "POST", "/v1/approvals/"+question, `{"answer":"approve","grant":{"extension":"host"}}`), 422, "no_grant")
	a := d.wants(d.do("anna", "POST", "/v1/approvals/"+question,
		`{"answer":"approve","grant":{"seconds":60,"uses":5,"wider":[{"pointer":"/path","how":"below","text":"docs"}]}}`), 200, `"limit":5`)
	grant := a.get("grant", "id").(string)
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"docs/b"},"session":"s"}`, "Prefer", "wait=60"), 200, `"status":"allowed"`)
	d.wants(d.do("anna", "GET", "/v1/grants?tool=write&principal=agent", ""), 200, grant, `"uses":1`)
	d.wants(d.do("anna", "DELETE", "/v1/grants/"+grant, ""), 200, `"revoked"`)
	d.wants(d.do("anna", "DELETE", "/v1/grants/nothing", ""), 404)
	d.wants(d.do("anna", "GET", "/v1/grants", ""), 200, `"grants":[]`)
	d.wants(d.do("anna", "GET", "/v1/grants?all=1", ""), 200, grant)
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"docs/b"},"session":"s"}`), 202)
	d.wants(d.do("anna", "POST", "/v1/approvals/"+d.ask(), `{"answer":"approve","grant":{"extension":"directory"}}`), 200, `{"pointer":"/path","how":"below","text":"docs"}`)
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"docs/c"},"session":"s"}`, "Prefer", "wait=60"), 200, `"status":"allowed"`)
}

// Proves S43: one key is one decision, for all repetitions of the request.
func TestIdempotency(t *testing.T) {
	d := newFixture(t, nil)
	const call = `{"tool":"write","args":{"path":"src/a"},"session":"s","turn":"t","call_id":"c"}`
	first := d.wants(d.do("agent", "POST", "/v1/calls", call), 200)
	again := d.wants(d.do("agent", "POST", "/v1/calls", call), 200)
	if first.get("id") != again.get("id") || len(d.records.Decisions()) != 1 {
		t.Fatal(first.text, again.text)
	}
	d.wants(d.do("agent", "POST", "/v1/calls", strings.Replace(call, "src/a", "src/b", 1)), 409, "idempotency_conflict")
	if other := d.wants(d.do("seer", "POST", "/v1/calls", call, "Idempotency-Key", "k"), 200); other.get("id") == first.get("id") {
		t.Error("a key of its own")
	}
	if op := d.wants(d.do("op", "POST", "/v1/calls", call), 200); op.get("id") == first.get("id") {
		t.Error("somebody else's call")
	}
	for range 2 { // without a key every request is a new call
		d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/a"}}`), 200)
	}
	if n := len(d.records.Decisions()); n != 5 {
		t.Error(n, "decisions")
	}
}

// Proves X13, TPS-14, D25-42, H5: results become facts, once, and the part of them that the model
// may receive.
func TestResults(t *testing.T) {
	d := newFixture(t, nil)
	d.wants(d.do("seer", "POST", "/v1/calls", `{"tool":"deploy","args":{},"session":"s"}`), 200, `"status":"denied"`, `"layer":"session"`,
		`"envelope":{"status":"denied","code":"prerequisite_missing",`)
	id := d.wants(d.do("seer", "POST", "/v1/calls", `{"tool":"test","args":{},"session":"s"}`), 200).get("id").(string)
	d.wants(d.do("seer", "POST", "/v1/calls/"+id+"/result", `{"data":"ok","failed":"no"}`), 400)
	d.wants(d.do("seer", "POST", "/v1/calls/"+id+"/result", `{"data":"ok","failed":false}`), 200, `"delivered":true`, `"data":"ok"`,
		`"envelope":{"status":"ok","code":null,"publicReason":null,"data":"ok"}`)
	d.wants(d.do("seer", "POST", "/v1/calls/"+id+"/result", `{"data":"ok"}`), 409, "unmatched_result")
	d.wants(d.do("seer", "POST", "/v1/calls/nothing/result", `{}`), 404)
	d.wants(d.do("seer", "POST", "/v1/calls", `{"tool":"deploy","args":{},"session":"s"}`), 200, `"status":"allowed"`,
		`"envelope":{"status":"ok","code":null,"publicReason":null,"data":null}`)

	id = d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/secret/x"}}`), 200).get("id").(string)
	d.wants(d.do("agent", "POST", "/v1/calls/"+id+"/result", `{"data":"hunter2"}`), 200, `"delivered":false`, "result_withheld", `"envelope":{"status":"denied","code":"result_withheld",`)
	if events := d.records.Events(stopgate.AuditResult); len(events) != 2 || events[0].Cause != "observed" || events[1].Cause != "reported, unknown" {
		t.Errorf("%+v", events)
	}
}

// Proves G2-06, G2-15, S41: handoffs. The envelope of an allowed one has the payload as data.
func TestHandoffs(t *testing.T) {
	d := newFixture(t, nil)
	d.wants(d.do("", "POST", "/v1/handoffs", `{"to":"billing","session":"s","payload":{"n":1}}`), 200, `"status":"allowed"`, `"args":{"n":1}`,
		`"envelope":{"status":"ok","code":null,"publicReason":null,"data":{"n":1}}`)
	d.wants(d.do("", "POST", "/v1/handoffs", `{"to":"refunds","session":"s"}`), 200, `"status":"denied"`, `"envelope":{"status":"denied","code":"policy_not_configured","publicReason":`, `"data":null}`)
	d.wants(d.do("", "POST", "/v1/handoffs", `{"from":"main"}`), 400, "member_missing")
}

// Proves H6, S15, X18: ids of sessions cannot be guessed; operators read sessions, set their data,
// stop and resume them.
func TestSessions(t *testing.T) {
	d := newFixture(t, nil)
	id := d.wants(d.do("", "POST", "/v1/sessions", ""), 201).get("session").(string)
	if len(id) < 26 {
		t.Fatal(id)
	}
	at := "/v1/sessions/" + id
	d.wants(d.do("", "POST", at+"/snapshot", ""), 403)
	call := d.wants(d.do("op", "POST", "/v1/calls", `{"tool":"test","args":{},"session":"`+id+`"}`), 200).get("id").(string)
	sealed := d.wants(d.do("op", "POST", at+"/snapshot", ""), 200).get("snapshot").(string)
	d.wants(d.do("op", "POST", "/v1/calls/"+call+"/result", `{"failed":false}`), 200)
	d.wants(d.do("op", "GET", at+"/facts", ""), 200, `"released"`)
	d.wants(d.do("op", "GET", at+"/facts?after=x", ""), 400)
	d.wants(d.do("op", "GET", "/v1/sessions?principal=op", ""), 200, id)
	body, _ := json.Marshal(map[string]string{"snapshot": sealed})
	d.wants(d.do("op", "POST", at+"/restore", string(body)), 204)
	d.wants(d.do("op", "POST", at+"/restore", `{"snapshot":"x"}`), 409, "snapshot_rejected")
	d.wants(d.do("op", "POST", "/v1/calls", `{"tool":"deploy","args":{},"session":"`+id+`"}`), 200, `"status":"denied"`)
	d.wants(d.do("op", "PUT", at+"/data", `{"mode":"strict"}`), 204)
	d.wants(d.do("op", "PUT", at+"/data", `[]`), 400)
	d.wants(d.do("op", "POST", at+"/reset", ""), 204)
	d.wants(d.do("op", "GET", "/v1/records?after=1", ""), 200, `"records":[`)
}

// Proves X18: a request for a session of another principal that does not name the principal is
// refused before anything is read or written. An unknown session is the caller's own.
func TestSessionOfAnother(t *testing.T) {
	d := newFixture(t, nil)
	d.wants(d.do("op", "PUT", "/v1/sessions/s1/data?principal=ann", `{"mode":"strict"}`), 204)
	requests := []struct{ method, path, body string }{
		{"GET", "/v1/sessions/s1/facts", ""}, {"PUT", "/v1/sessions/s1/data", `{}`}, {"POST", "/v1/sessions/s1/snapshot", ""},
		{"POST", "/v1/sessions/s1/restore", `{"snapshot":"x"}`}, {"POST", "/v1/sessions/s1/reset", ""},
	}
	for _, c := range requests {
		d.wants(d.do("op", c.method, c.path, c.body), 404, "principal_needed", `\"ann\"`, "?principal=NAME")
	}
	d.wants(d.do("op", "GET", "/v1/sessions", ""), 200, `"facts":1`)
	for i := range 1100 { // it is found among any number of sessions, and the error contains only what the caller may read
		o := session.Owner{Principal: stopgate.Principal(fmt.Sprint("p", i)), Session: "many"}
		if err := d.gate.SetData(t.Context(), o, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	d.wants(d.do("op", "GET", "/v1/sessions/s1/facts", ""), 404, "principal_needed", `but \"ann\": say`)
	d.wants(d.do("op", "GET", "/v1/sessions/many/facts", ""), 404, "principal_needed", `\"p1003\", others: say`)
	d.wants(d.do("op", "GET", "/v1/sessions/s1/facts?principal=ann", ""), 200, "strict")
	d.wants(d.do("op", "GET", "/v1/sessions/s2/facts", ""), 200, `{"facts":[]}`)
	d.wants(d.do("op", "GET", "/v1/sessions/s1/facts?principal=op", ""), 200, `{"facts":[]}`)
	d.wants(d.do("op", "PUT", "/v1/sessions/s1/data?principal=op", `{"mode":"mine"}`), 204)
	d.wants(d.do("op", "GET", "/v1/sessions/s1/facts", ""), 200, "mine")
}

// Unknown parameters and methods are refused: a misspelt filter would show everything, and a wrong
// method is not a wrong path.
func TestUnknownPathsAndParameters(t *testing.T) {
	d := newFixture(t, nil)
	for _, path := range []string{"/v1/records?lmit=2", "/v1/sessions/s/facts?princpal=x", "/v1/sessions?after=1", "/v1/lockdown?x=1"} {
		d.wants(d.do("op", "GET", path, ""), 400, "unknown_parameter")
	}
	d.wants(d.do("anna", "GET", "/v1/grants?tools=x", ""), 400, "unknown_parameter", "tool, principal")
	for _, text := range []string{"x", "0", "-1", "1001", "1.5"} {
		d.wants(d.do("op", "GET", "/v1/records?limit="+text, ""), 400, "bad_limit")
		d.wants(d.do("op", "GET", "/v1/sessions?limit="+text, ""), 400, "bad_limit")
		d.wants(d.do("op", "GET", "/v1/sessions/s/facts?limit="+text, ""), 400, "bad_limit")
	}
	for range 3 {
		d.wants(d.do("op", "POST", "/v1/calls", `{"tool":"test","args":{},"session":"s"}`), 200)
	}
	for path, list := range map[string]string{"/v1/records?limit=2": "records", "/v1/sessions/s/facts?limit=2": "facts"} {
		if rows, _ := d.wants(d.do("op", "GET", path, ""), 200).get(list).([]any); len(rows) != 2 {
			t.Errorf("%s: %v", path, rows)
		}
	}
	d.wants(d.do("anna", "GET", "/v1/approvals?state=open", ""), 400, "unknown_state")
	a := d.wants(d.do("op", "PATCH", "/v1/lockdown", ""), 405, "method_not_allowed")
	if allow := a.header.Get("Allow"); allow != "GET, PUT, DELETE" {
		t.Errorf("allow %q", allow)
	}
	d.wants(d.do("op", "GET", "/v1/nothing", ""), 404, "not_found")
	d.wants(d.do("op", "POST", "/v1/approvals/x/approve", ""), 404, "not_found")
	d.wants(d.do("", "GET", "/v1/records", ""), 403, "scope_missing", "[api.tokens]")
	d.wants(d.do("agent", "GET", "/v1/records", ""), 403, "scope_missing", "the token has no scope operate")
}

// Proves S59: a lockdown over HTTP denies new and waiting calls, and only operators can lift it.
func TestLockdown(t *testing.T) {
	d := newFixture(t, nil)
	d.wants(d.do("op", "GET", "/v1/lockdown", ""), 200, `{"locked":false}`)
	id := d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"README"},"session":"s"}`), 202).get("id").(string)
	for _, who := range []string{"", "agent", "anna"} {
		d.wants(d.do(who, "PUT", "/v1/lockdown", `{}`), 403, "scope_missing")
		d.wants(d.do(who, "DELETE", "/v1/lockdown", ""), 403, "scope_missing")
	}
	d.wants(d.do("op", "PUT", "/v1/lockdown", `{"why":"x"}`), 400, "unknown_member")
	d.wants(d.do("op", "PUT", "/v1/lockdown", `{"reason":"incident"}`), 200, `"locked":true`, `"by":"op"`, `"reason":"incident"`)
	d.wants(d.do("op", "GET", "/v1/lockdown", ""), 200, `"locked":true`)
	d.wants(d.do("", "GET", "/readyz", ""), 200, `{"status":"ready","lockdown":true}`)
	d.wants(d.do("", "GET", "/healthz", ""), 200, `{"status":"ok","lockdown":true}`)
	d.wants(d.do("agent", "GET", "/v1/calls/"+id, "", "Prefer", "wait=10"), 200, `"code":"lockdown"`)
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/a"}}`), 200, `"code":"lockdown"`)
	d.wants(d.do("op", "DELETE", "/v1/lockdown", ""), 200, `{"locked":false}`)
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/a"}}`), 200, `"status":"allowed"`)
	if events := d.records.Events(stopgate.AuditLockdown); len(events) != 1 || events[0].Cause != "by op: incident" {
		t.Errorf("%+v", events)
	}
	if events := d.records.Events(stopgate.AuditLifted); len(events) != 1 || events[0].Cause != "by op" {
		t.Errorf("%+v", events)
	}
}

// Proves S5, S26: closing the API answers no question: the question remains, and its answer applies
// to the repeated call.
func TestCloseKeepsQuestions(t *testing.T) {
	d := newFixture(t, nil)
	const call = `{"tool":"write","args":{"path":"README"},"session":"s"}`
	d.wants(d.do("", "POST", "/v1/calls", call), 202)
	question := d.ask()
	if err := d.api.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rows := d.records.Decisions(); len(rows) != 1 || rows[0].Code != stopgate.CodeApprovalPending {
		t.Fatalf("%+v", rows)
	}
	d.wants(d.do("anna", "POST", "/v1/approvals/"+question, `{"answer":"approve"}`), 200)
	again, err := decide.New(decide.Options{Gate: d.gate, Queue: d.queue})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close(t.Context())
	d.local = again.Handler(true)
	d.wants(d.do("", "POST", "/v1/calls", call), 200, `"status":"allowed"`, `"by":"anna"`)
}

// Proves S60, H21: the pages are served to browsers, after a login with a token that may approve.
func TestPages(t *testing.T) {
	d := newFixture(t, nil)
	server := httptest.NewServer(d.remote)
	defer server.Close()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	enter := func(at, token string) int {
		r, _ := http.NewRequestWithContext(t.Context(), "POST", at+"/approvals/-/login", strings.NewReader("secret="+token))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", at)
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode
	}
	for token, want := range map[string]int{"anna": 303, "agent": 401, "op": 401, "": 401} {
		if got := enter(server.URL, token); got != want {
			t.Errorf("%s: %d, want %d", token, got, want)
		}
	}
	local := httptest.NewServer(d.local)
	defer local.Close()
	if got := enter(local.URL, "anna"); got == 303 || !d.api.Pages() {
		t.Error("pages for programs:", got)
	}
	if _, err := decide.New(decide.Options{Gate: d.gate, Queue: d.queue, PublicURL: "x", Tokens: []decide.Token{token("a", "a", decide.Approve)}}); err == nil {
		t.Error("no URL")
	}
}

// Proves S4, S43, S46, H16: the permissions of each kind of token.
func TestPermissions(t *testing.T) {
	d := newFixture(t, nil)
	for _, c := range []struct {
		who, method, path string
		status            int
	}{
		{"wrong", "POST", "/v1/calls", 401},
		{"", "GET", "/v1/approvals", 403},
		{"", "GET", "/v1/records", 403},
		{"", "POST", "/v1/sessions/s/reset", 403},
		{"agent", "GET", "/v1/approvals", 403},
		{"anna", "POST", "/v1/calls", 403},
		{"anna", "GET", "/v1/sessions", 403},
		{"op", "GET", "/v1/approvals", 403},
		{"op", "GET", "/metrics", 200},
		{"", "POST", "/v1/sessions/s/texts", 403},
		{"agent", "POST", "/v1/sessions/s/texts", 403},
		{"seer", "POST", "/v1/sessions/s/texts", 403},
		{"anna", "POST", "/v1/sessions/s/texts", 403},
		{"op", "POST", "/v1/sessions/s/texts", 403},
		{"", "POST", "/v1/sessions/s/facts", 403},
		{"seer", "POST", "/v1/sessions/s/facts", 403},
		{"op", "POST", "/v1/sessions/s/facts", 403},
		{"host", "POST", "/v1/calls", 403},
		{"host", "PUT", "/v1/sessions/s/data", 403},
		{"host", "POST", "/v1/sessions/s/texts", 200},
		{"agent", "GET", "/v1/openapi.yaml", 200},
		{"agent", "GET", "/v1/nothing", 404},
		{"agent", "DELETE", "/v1/calls", 405},
		{"op", "POST", "/v1/hooks", 404},
	} {
		if a := d.do(c.who, c.method, c.path, `{}`); a.status != c.status {
			t.Errorf("%s %s %s: %d, want %d: %s", c.who, c.method, c.path, a.status, c.status, a.text)
		}
	}
	d.wants(d.do("", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/a"}}`, "Origin", "http://localhost"), 403, "origin_refused")
	d.wants(d.do("agent", "POST", "/v1/calls", `{}`, "Authorization", "Basic agent"), 401)
	d.wants(d.do("agent", "POST", "/v1/calls", `{}`, "Authorization", ""), 401)
}

// Proves A1, A4, A25: ambiguous bodies are refused.
func TestBodies(t *testing.T) {
	d := newFixture(t, nil)
	for _, c := range []struct{ body, code string }{
		{``, "malformed_body"}, {`[]`, "malformed_body"}, {`{"tool":"write"`, "malformed_body"}, {`{"tool":"write","args":{}} x`, "malformed_body"},
		{`{"tool":"a","tool":"write","args":{}}`, "malformed_body"}, {`{"tool":"write","args":{"a":1,"a":2}}`, "malformed_body"},
		{`{"Tool":"write","args":{}}`, "unknown_member"}, {`{"tool":"write","args":{},"mode":"unattended"}`, "unknown_member"},
		{`{"args":{}}`, "member_missing"}, {`{"tool":"write"}`, "member_missing"}, {`{"tool":"write","args":{},"raw":"{}"}`, "member_missing"},
		{`{"tool":1,"args":{}}`, "member_type"}, {`{"tool":"write","raw":{}}`, "member_type"}, {`{"tool":"write","args":{},"definition":1}`, "member_type"},
		{`{"tool":"write","args":{},"definition":{"schema":{}}}`, "unknown_member"},
		{`{"tool":"write","args":"{\"path\":\"src/a\"}"}`, "go into raw"},
	} {
		d.wants(d.do("", "POST", "/v1/calls", c.body), 400, c.code)
	}
	d.wants(d.do("", "POST", "/v1/calls", `{"tool":"write","raw":"`+strings.Repeat("x", 21<<20)+`"}`), 413, "too_large")
	if n := len(d.records.Rows()); n != 0 {
		t.Errorf("%d records of requests that were none", n)
	}
	d.wants(d.do("", "POST", "/v1/calls", `{"tool":"web","args":{"q":"x"},"definition":{"description":"d","parameters":{"type":"object"}}}`), 200)
	d.wants(d.do("", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/a"},"definition":{"parameters":{"type":"object","properties":{"path":{"type":"integer"}}}}}`), 200, `"code":"policy_invalid_for_schema"`)
}

// Proves FM4, I22: a gate that cannot write its records is not ready.
func TestReadiness(t *testing.T) {
	d := newFixture(t, nil)
	d.wants(d.do("", "GET", "/healthz", ""), 200)
	d.wants(d.do("", "GET", "/readyz", ""), 200)
	d.records.Fault = func(context.Context, int, *stopgate.Record) error { return errors.New("disk full") }
	d.wants(d.do("", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/a"}}`), 200, "audit_unavailable")
	d.wants(d.do("", "GET", "/readyz", ""), 503)
	d.wants(d.do("", "GET", "/healthz", ""), 200)
}

// Proves D26-16, I2, W2: a streamed call is refused before its body ends, and its question is asked
// before it is complete.
func TestStream(t *testing.T) {
	d := newFixture(t, nil)
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.api.ServeLocal(ln) }()
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	begin := func(first string) (*io.PipeWriter, *bufio.Scanner) {
		body, write := io.Pipe()
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://stopgate/v1/calls/stream", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Prefer", "wait=60")
		ready := make(chan *http.Response, 1)
		go func() {
			response, err := client.Do(r)
			if err != nil {
				t.Error(err)
			}
			ready <- response
		}()
		fmt.Fprintln(write, first)
		io.WriteString(write, `{"path":"`)
		response := <-ready
		if response == nil {
			t.FailNow()
		}
		t.Cleanup(func() { response.Body.Close() })
		return write, bufio.NewScanner(response.Body)
	}
	read := func(s *bufio.Scanner, want ...string) {
		t.Helper()
		if !s.Scan() {
			t.Fatal("no line: ", s.Err())
		}
		for _, w := range want {
			if !strings.Contains(s.Text(), w) {
				t.Fatalf("%q is missing in %s", w, s.Text())
			}
		}
		d.contract.check(t, "a line", d.contract.doc.Components.Schemas["StreamLine"], s.Bytes())
	}

	// Refused: the response ends while the body is open.
	write, lines := begin(`{"tool":"write"}`)
	io.WriteString(write, `.env",`)
	read(lines, `"mode":"deny"`, `"decided_at":14`)
	read(lines, `"call":`, `"status":"denied"`)
	write.Close()

	// Allowed: no allow before the end.
	write, lines = begin(`{"tool":"write"}`)
	io.WriteString(write, `src/a","content":"`)
	io.WriteString(write, `x"}`)
	write.Close()
	for lines.Scan() && !strings.Contains(lines.Text(), `"call"`) {
		if strings.Contains(lines.Text(), "allowed") {
			t.Fatal(lines.Text())
		}
	}
	if !strings.Contains(lines.Text(), `"args":{"path":"src/a","content":"x"}`) {
		t.Fatal(lines.Text())
	}

	// Asked: the question is open before the arguments are complete.
	write, lines = begin(`{"tool":"write","session":"s"}`)
	io.WriteString(write, `README","content":"`)
	read(lines, `"mode":"ask"`)
	question := d.ask()
	io.WriteString(write, `x"}`)
	write.Close()
	for range 1000 {
		if a := d.do("anna", "POST", "/v1/approvals/"+question, `{"answer":"approve"}`); a.status == 200 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	for lines.Scan() && !strings.Contains(lines.Text(), `"call"`) {
	}
	if !strings.Contains(lines.Text(), `"status":"allowed"`) {
		t.Fatal(lines.Text())
	}

	// Declined: the response ends although the body is open and nothing arrives (D26-21).
	write, lines = begin(`{"tool":"write","session":"s"}`)
	io.WriteString(write, `README","content":"`)
	read(lines, `"mode":"ask"`)
	d.wants(d.do("anna", "POST", "/v1/approvals/"+d.ask(), `{"answer":"deny"}`), 200)
	read(lines, `"code":"approval_declined"`)
	read(lines, `"call":`, `"status":"denied"`)
	write.Close()

	// Broken off: denied and recorded.
	write, lines = begin(`{"tool":"write"}`)
	write.CloseWithError(errors.New("gone"))
	for lines.Scan() {
	}
	for range 1000 {
		if rows := d.records.Decisions(); len(rows) == 5 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if rows := d.records.Decisions(); len(rows) != 5 || rows[4].Status == stopgate.StatusAllowed {
		t.Fatalf("%+v", rows)
	}
	client.CloseIdleConnections()
	if err := d.api.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// Proves S43: invalid bodies of streams.
func TestStreamBodies(t *testing.T) {
	d := newFixture(t, nil)
	for _, c := range []struct {
		body   string
		status int
	}{
		{``, 400}, {`{"tool":"write"}`, 400}, {"{}\n{}", 400}, {"{\"tool\":\"write\",\"args\":{}}\n{}", 400},
		{`{"tool":"` + strings.Repeat("x", 2<<20), 413}, {"{\"tool\":\"write\"}\n{\"path\":\"src/a\"}", 200},
	} {
		if a := d.do("", "POST", "/v1/calls/stream", c.body); a.status != c.status {
			t.Errorf("%.40s: %d, want %d: %s", c.body, a.status, c.status, a.text)
		}
	}
}

// Proves S5: a watcher sees the questions, and calls ask.
func TestWatch(t *testing.T) {
	d := newFixture(t, nil)
	server := httptest.NewServer(d.remote)
	defer server.Close()
	r, _ := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/v1/approvals/watch", nil)
	r.Header.Set("Authorization", "Bearer anna")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(response.Body)
	if !lines.Scan() || lines.Text() != `{"approvals":[]}` {
		t.Fatal(lines.Text())
	}
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"README"}}`), 202)
	if !lines.Scan() || !strings.Contains(lines.Text(), "README") {
		t.Fatal(lines.Text())
	}
	d.contract.check(t, "a line", d.contract.doc.Components.Schemas["Approvals"], lines.Bytes())
	d.api.Close(t.Context())
	if lines.Scan() {
		t.Fatal(lines.Text())
	}
	response.Body.Close()
}

// Proves S43: the contract has every route, and no other.
func TestContractIsComplete(t *testing.T) {
	d := newFixture(t, func(o *decide.Options) {
		o.Hooks = http.NotFoundHandler()
		o.Logout = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	})
	for path, operations := range d.contract.doc.Paths {
		for method := range operations {
			who := "op"
			if strings.Contains(path, "approvals") || strings.Contains(path, "grants") {
				who = "anna"
			}
			if strings.HasSuffix(path, "watch") || strings.HasSuffix(path, "events") {
				continue
			}
			a := d.do(who, strings.ToUpper(method), strings.ReplaceAll(path, "{id}", "nothing"), `{}`)
			if a.status == 404 && strings.Contains(a.text, "lists what there is") {
				t.Errorf("%s %s is described and not there", method, path)
			}
		}
	}
	bare, err := decide.New(decide.Options{Gate: d.gate})
	if err != nil {
		t.Fatal(err)
	}
	d.local = bare.Handler(true)
	for _, path := range []string{"GET /v1/approvals", "GET /v1/records", "GET /v1/sessions", "POST /v1/check", "GET /metrics"} {
		method, path, _ := strings.Cut(path, " ")
		want := http.StatusNotFound
		if path == "/v1/sessions" { // may be created
			want = http.StatusMethodNotAllowed
		}
		if a := d.do("", method, path, `{}`); a.status != want {
			t.Errorf("%s without anything behind it: %d", path, a.status)
		}
	}
	if _, err := decide.New(decide.Options{}); err == nil {
		t.Error("an API without a gate")
	}
	hooks, err := decide.New(decide.Options{Hooks: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write([]byte("{}"))
	})})
	if err != nil {
		t.Fatal(err)
	}
	d.local, d.remote = hooks.Handler(true), hooks.Handler(false)
	d.wants(d.do("", "POST", "/v1/hooks", `{}`), 200)
	d.wants(d.do("agent", "POST", "/v1/hooks", `{}`), 401)
	for _, path := range []string{"/v1/calls", "/v1/sessions", "/readyz"} {
		d.wants(d.do("", "POST", path, `{}`), 404)
	}
	if _, err := decide.New(decide.Options{Gate: d.gate, Tokens: []decide.Token{{Name: "x"}}}); err == nil {
		t.Error("a token that may nothing")
	}
}
