package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/decide/client"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

const rules = `
version = 1
[tools.write]
parameters.path = { type = "path", required = true }
parameters.content = { type = "string" }
[tools.write.policy]
run = [
  { arg = "/path", glob = "**/.env*", mode = "deny", reason = "secrets stay out of reach" },
  { arg = "/path", prefix = "free", mode = "unattended", when = { session = "/mode", const = "free" } },
  { arg = "/path", prefix = "src", mode = "unattended" },
  { mode = "ask" },
]
[tools.limited]
access = { read = ["src/"], write = [] }
policy.run = "unattended"
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

type rows struct{ *ports.Recorder }

func (r rows) Rows(_ context.Context, _ string, after int64, limit int) (out []stopgate.Record, err error) {
	for _, row := range r.Recorder.Rows() {
		if row.Seq > after && len(out) < min(limit, 2) { // small pages
			out = append(out, row)
		}
	}
	return out, nil
}

type silent struct{}

func (silent) Name() string                                { return "silent" }
func (silent) Notify(context.Context, approve.Entry) error { return nil }

// fixture is a gate that clients use over HTTP.
type fixture struct {
	t       *testing.T
	address string
	api     *decide.Server
	records *ports.Recorder
}

func open(t *testing.T, more ...string) *fixture {
	t.Helper()
	text := rules + strings.Join(more, "")
	program, mistakes := prove.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(text)}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	queue, err := approve.New(new(mem.Approvals), approve.Options{Notify: []approve.Notifier{silent{}}})
	if err != nil {
		t.Fatal(err)
	}
	store := mem.New()
	p := &fixture{t: t, records: new(ports.Recorder)}
	g, err := gate.New(program, gate.WithRecorder(p.records), gate.WithApprover(queue), gate.WithStore(store),
		gate.WithSealKey(bytes.Repeat([]byte("k"), 32)), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	token := func(text string, scopes decide.Scope) decide.Token {
		return decide.Token{Name: stopgate.Principal(text), SHA256: sha256.Sum256([]byte(text)), Scopes: scopes}
	}
	p.api, err = decide.New(decide.Options{
		Gate: g, Program: func() gate.Policy { return program }, Queue: queue, Sessions: store, Records: rows{p.records}, Lockdowns: store,
		Tokens: []decide.Token{token("agent", decide.Decide|decide.Observe), token("anna", decide.Approve), token("op", decide.Operate|decide.Decide), token("host", decide.Texts)},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p.api.Handler(false))
	p.address = server.URL
	t.Cleanup(func() { p.api.Close(context.Background()); server.Close() })
	return p
}

// as returns a client with a token. Responses must have no member that the client's types do not
// know.
func (p *fixture) as(token string) *client.Client {
	p.t.Helper()
	transport := &http.Transport{ExpectContinueTimeout: 5 * time.Second}
	p.t.Cleanup(transport.CloseIdleConnections)
	c, err := client.New(p.address, client.Token(token), client.Transport(strict{p.t, transport}))
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// strict decodes responses with the client's types and rejects unknown members.
type strict struct {
	t  *testing.T
	to http.RoundTripper
}

func (s strict) RoundTrip(r *http.Request) (*http.Response, error) {
	in, err := s.to.RoundTrip(r)
	if err != nil || in.Header.Get("Content-Type") != "application/json" {
		return in, err
	}
	text, err := io.ReadAll(in.Body)
	in.Body.Close()
	in.Body = io.NopCloser(bytes.NewReader(text))
	var into any
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/result"):
		into = new(client.Delivery)
	case path == "/v1/check":
		into = new(client.CheckResult)
	case strings.HasPrefix(path, "/v1/calls"), path == "/v1/handoffs":
		into = new(client.Decision)
	case strings.HasPrefix(path, "/v1/approvals"):
		into = new(struct {
			client.Question
			Approvals []client.Question `json:"approvals"`
			Approval  client.Question   `json:"approval"`
			Grant     client.Grant      `json:"grant"`
		})
	case path == "/v1/grants":
		into = new(struct {
			Grants []client.Grant `json:"grants"`
		})
	case path == "/v1/sessions" && r.Method == http.MethodGet:
		into = new(struct {
			Sessions []client.Session `json:"sessions"`
		})
	case path == "/v1/lockdown":
		into = new(client.Lockdown)
	default:
		return in, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		s.t.Errorf("%s %s: %v in %s", r.Method, r.URL.Path, err, text)
	}
	return in, err
}

// Proves S43, D25-01: decisions, and the exact bytes that may run.
func TestDecide(t *testing.T) {
	p := open(t)
	c := p.as("agent")
	a, err := c.Decide(t.Context(), client.Call{Tool: "write", Args: []byte(`{ "path":"src/a", "content":"<b> & \u2028 é" }`), Session: "s", ID: "c1", Turn: "t1"})
	if err != nil || !a.Allowed() || a.Pending() || !a.Enforced || string(a.Args) != `{"path":"src/a","content":"<b> & `+"\u2028"+` é"}` {
		t.Fatalf("%+v %v", a, err)
	}
	if sum := sha256.Sum256(a.Args); p.records.Decisions()[0].ReleasedHash != hex(sum[:]) {
		t.Error("what arrives is not what was recorded")
	}
	a, err = c.Decide(t.Context(), client.Call{Tool: "write", Args: []byte(`{"path":".env"}`)})
	if err != nil || a.Allowed() || a.Args != nil || a.Mode != stopgate.Deny || a.Code != stopgate.CodeRuleMatched || a.DecidedAt != 14 ||
		a.Rule.Line != 8 || a.Envelope.PublicReason != "secrets stay out of reach" {
		t.Fatalf("%+v %v", a, err)
	}
	if a, err = c.Decide(t.Context(), client.Call{Tool: "write", Args: []byte(`{"path":"src/a","path":"b"}`)}); err != nil || a.Code != stopgate.CodeDuplicateKey {
		t.Errorf("the model's own bytes: %+v %v", a, err)
	}
	if _, err = c.Decide(t.Context(), client.Call{Tool: "write", Args: []byte("{\"path\":\"\xff\"}")}); err == nil {
		t.Error("no UTF-8")
	}
	// One key, one decision.
	call := client.Call{Tool: "write", Args: []byte(`{"path":"src/a"}`), Key: "k"}
	one, err1 := c.Decide(t.Context(), call)
	two, err2 := c.Decide(t.Context(), call)
	if err := errors.Join(err1, err2); err != nil || one.ID != two.ID || !two.Allowed() {
		t.Errorf("%+v %+v %v", one, two, err)
	}
	call.Args = []byte(`{"path":"src/b"}`)
	if a, err := c.Decide(t.Context(), call); !errors.Is(err, client.ErrConflict) || a.Allowed() {
		t.Error(a, err)
	}
}

// Proves D25-49: the decision has the access of the tool.
func TestDecideWithAccess(t *testing.T) {
	c := open(t).as("agent")
	a, err := c.Decide(t.Context(), client.Call{Tool: "limited", Args: []byte(`{}`)})
	if err != nil || !a.Allowed() || a.Access == nil || !slices.Equal(a.Access.Read, []string{"src"}) || a.Access.Write == nil || len(a.Access.Write) != 0 || a.Access.MayWrite("src/a") || !a.Access.MayRead("src/a") {
		t.Fatalf("%+v %v", a.Access, err)
	}
	if a, err = c.Decide(t.Context(), client.Call{Tool: "write", Args: []byte(`{"path":"src/a"}`)}); err != nil || !a.Allowed() || a.Access != nil {
		t.Errorf("%+v %v", a.Access, err)
	}
}

// Proves S31, K38: a gate in observe mode allows every call unchanged.
func TestObserving(t *testing.T) {
	c := open(t, "[gate]\nenforcement = \"observe\"\n").as("agent")
	for _, args := range []string{`{"path":"src/a"}`, `{ "path": ".env" }`, `{"path":`, `<&`} {
		a, err := c.Decide(t.Context(), client.Call{Tool: "write", Args: []byte(args)})
		if err != nil || !a.Allowed() || a.Enforced || string(a.Args) != args {
			t.Errorf("%s: %+v %v", args, a, err)
		}
	}
}

func hex(b []byte) string {
	const digits = "0123456789abcdef"
	var s []byte
	for _, c := range b {
		s = append(s, digits[c>>4], digits[c&15])
	}
	return string(s)
}

// Proves S43: a check has no effects; session data replace a session.
func TestCheck(t *testing.T) {
	p := open(t)
	c := p.as("agent")
	call := client.Call{Tool: "write", Args: []byte(`{"path":"free/x"}`), Definition: &client.Definition{Description: "writes"}}
	for data, want := range map[string]stopgate.Mode{"": stopgate.Ask, `{"mode":"free"}`: stopgate.Unattended, `{"mode":"x"}`: stopgate.Ask} {
		if data != "" {
			call.Data = []byte(data)
		}
		if got, err := c.Check(t.Context(), call); err != nil || got.Mode != want || got.Tool != "write" || got.Bytes != 17 {
			t.Errorf("%s: %+v %v", data, got, err)
		}
		call.Data = nil
	}
	call.Data = []byte(`[]`)
	if _, err := c.Check(t.Context(), call); !errors.Is(err, &client.Problem{Code: "member_type"}) {
		t.Error(err)
	}
	if n := len(p.records.Rows()); n != 0 {
		t.Errorf("%d rows", n)
	}
}

// Proves S5, S54: the client that proposed a call waits for the answer of a person.
func TestApprovals(t *testing.T) {
	p := open(t)
	agent, anna := p.as("agent"), p.as("anna")
	ask := func(path string) client.Decision {
		t.Helper()
		a, err := agent.Decide(t.Context(), client.Call{Tool: "write", Args: []byte(`{"path":"` + path + `"}`), Session: "s"})
		if err != nil || !a.Pending() || a.Allowed() || a.Approval == nil {
			t.Fatalf("%+v %v", a, err)
		}
		return a
	}
	waiting := ask("README")
	list, err := anna.Questions(t.Context(), client.QuestionFilter{State: "waiting", Session: "s", Principal: "agent"})
	if err != nil || len(list) != 1 || list[0].ID != waiting.Approval.ID || list[0].Args != `{"path":"README"}` {
		t.Fatalf("%+v %v", list, err)
	}
	stale := list[0]
	stale.Seen = "else"
	if _, err := anna.Approve(t.Context(), stale, ""); !errors.Is(err, client.ErrStale) {
		t.Error(err)
	}
	if a, err := agent.Lookup(t.Context(), waiting.ID); err != nil || !a.Pending() || a.Allowed() {
		t.Fatalf("%+v %v", a, err)
	}
	if q, err := anna.Approve(t.Context(), list[0], "looks fine"); err != nil || q.State != "approved" || q.By != "anna" || q.Reason != "looks fine" {
		t.Fatalf("%+v %v", q, err)
	}
	if a, err := agent.Wait(t.Context(), waiting.ID); err != nil || !a.Allowed() || a.Approval.By != "anna" {
		t.Fatalf("%+v %v", a, err)
	}
	if a, err := agent.Lookup(t.Context(), waiting.ID); err != nil || !a.Allowed() || a.Approval.By != "anna" {
		t.Fatalf("%+v %v", a, err)
	}
	if a, err := agent.Lookup(t.Context(), "no/such"); !errors.Is(err, client.ErrNotFound) || a.Allowed() {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := anna.Deny(t.Context(), list[0].ID, ""); !errors.Is(err, client.ErrAnswered) {
		t.Error(err)
	}

	waiting = ask("NEWS")
	if q, err := anna.Deny(t.Context(), waiting.Approval.ID, "not now"); err != nil || q.State != "declined" {
		t.Fatalf("%+v %v", q, err)
	}
	if a, err := agent.Wait(t.Context(), waiting.ID); err != nil || a.Status != "denied" || a.Public != "not now" {
		t.Fatalf("%+v %v", a, err)
	}

	waiting = ask("TODO")
	q, err := anna.Question(t.Context(), waiting.Approval.ID)
	if err != nil {
		t.Fatal(err)
	}
	if q, err = anna.Edit(t.Context(), q, []byte(`{"path":"src/todo"}`), ""); err != nil || q.State != "edited" {
		t.Fatalf("%+v %v", q, err)
	}
	if a, err := agent.Wait(t.Context(), waiting.ID); err != nil || string(a.Args) != `{"path":"src/todo"}` || !a.Approval.Edited {
		t.Fatalf("%+v %v", a, err)
	}

	waiting = ask("docs/a")
	if q, err = anna.Question(t.Context(), waiting.Approval.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := anna.Grant(t.Context(), q, client.Scope{Wider: []client.Wider{{Pointer: "/path", How: "below", Text: "lib"}}}, ""); !errors.Is(err, client.ErrNoGrant) {
		t.Error(err)
	}
	_, grant, err := anna.Grant(t.Context(), q, client.Scope{For: time.Hour, Uses: 3, Wider: []client.Wider{{Pointer: "/path", How: "below", Text: "docs"}}}, "")
	if err != nil || grant.Limit != 3 || grant.Values[0].How != "below" {
		t.Fatalf("%+v %v", grant, err)
	}
	if a, err := agent.Decide(t.Context(), client.Call{Tool: "write", Args: []byte(`{"path":"docs/b"}`), Session: "s", Wait: time.Minute}); err != nil || !a.Allowed() {
		t.Errorf("%+v %v", a, err)
	}
	if list, err := anna.Grants(t.Context(), false); err != nil || len(list) != 1 || list[0].Uses == 0 {
		t.Errorf("%+v %v", list, err)
	}
	if g, err := anna.Revoke(t.Context(), grant.ID); err != nil || g.Revoked.IsZero() {
		t.Errorf("%+v %v", g, err)
	}
	if list, err := anna.Grants(t.Context(), true); err != nil || len(list) != 1 {
		t.Errorf("%+v %v", list, err)
	}
	if _, err := anna.Question(t.Context(), "no/../thing"); !errors.Is(err, client.ErrNotFound) {
		t.Error(err)
	}
	// No answer within the time limit.
	waiting = ask("LATER")
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone home")
	time.AfterFunc(20*time.Millisecond, func() { cancel(gone) })
	if a, err := agent.Wait(ctx, waiting.ID); err == nil || a.Allowed() {
		t.Errorf("%+v %v", a, err)
	}
}

// Proves S5: a watcher sees the questions.
func TestWatch(t *testing.T) {
	p := open(t)
	agent, anna := p.as("agent"), p.as("anna")
	enough := errors.New("enough")
	first := true
	err := anna.Watch(t.Context(), func(list []client.Question) error {
		if first {
			first = false
			if _, err := agent.Decide(t.Context(), client.Call{Tool: "write", Args: []byte(`{"path":"README"}`)}); err != nil || len(list) != 0 {
				t.Error(list, err)
			}
			return nil
		}
		if len(list) == 0 || list[0].Tool != "write" {
			t.Errorf("%+v", list)
		}
		return enough
	})
	if !errors.Is(err, enough) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := anna.Watch(ctx, func([]client.Question) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Proves X13, G2-06, H6: results, handoffs and sessions.
func TestSessions(t *testing.T) {
	p := open(t)
	agent, op := p.as("agent"), p.as("op")
	ctx := t.Context()
	id, err := agent.NewSession(ctx)
	if err != nil || len(id) < 26 {
		t.Fatal(id, err)
	}
	of := client.Owner{Principal: "agent", Session: id}
	deploy := client.Call{Tool: "deploy", Args: []byte(`{}`), Session: id}
	if a, err := agent.Decide(ctx, deploy); err != nil || a.Layer != stopgate.LayerSession {
		t.Fatalf("%+v %v", a, err)
	}
	a, err := agent.Decide(ctx, client.Call{Tool: "test", Args: []byte(`{}`), Session: id})
	if err != nil || !a.Allowed() {
		t.Fatalf("%+v %v", a, err)
	}
	sealed, err := op.Snapshot(ctx, of)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := agent.Observe(ctx, a.ID, client.Result{Data: []byte("ok"), Succeeded: true}); err != nil || !d.Delivered || d.Data != "ok" {
		t.Fatalf("%+v %v", d, err)
	}
	if _, err := agent.Observe(ctx, a.ID, client.Result{Failed: true}); !errors.Is(err, client.ErrUnmatched) {
		t.Error(err)
	}
	if a, err := agent.Decide(ctx, deploy); err != nil || !a.Allowed() {
		t.Fatalf("%+v %v", a, err)
	}
	facts, err := op.Facts(ctx, of, 0)
	if err != nil || len(facts) < 3 || facts[0].Kind == "" || len(facts[0].Line) == 0 {
		t.Fatalf("%+v %v", facts, err)
	}
	if rest, err := op.Facts(ctx, of, facts[0].Seq); err != nil || len(rest) != len(facts)-1 {
		t.Error(rest, err)
	}
	if list, err := op.Sessions(ctx, "agent"); err != nil || len(list) != 1 || list[0].Session != id || list[0].First.IsZero() {
		t.Errorf("%+v %v", list, err)
	}
	if err := op.Restore(ctx, of, sealed); err != nil {
		t.Error(err)
	}
	if err := op.Restore(ctx, of, "else"); !errors.Is(err, client.ErrSnapshot) {
		t.Error(err)
	}
	if a, err := agent.Decide(ctx, deploy); err != nil || a.Allowed() {
		t.Errorf("%+v %v", a, err)
	}
	if err := errors.Join(op.SetData(ctx, of, []byte(`{"mode":"free"}`)), op.Reset(ctx, of)); err != nil {
		t.Error(err)
	}
	if a, err := agent.Decide(ctx, client.Call{Tool: "write", Args: []byte(`{"path":"free/a"}`), Session: id}); err != nil || !a.Allowed() {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := agent.Handoff(ctx, client.Handoff{To: "billing", Session: id, Payload: []byte(`{"n":1}`)}); err != nil || !a.Allowed() || string(a.Args) != `{"n":1}` {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := agent.Handoff(ctx, client.Handoff{To: "refunds"}); err != nil || a.Allowed() {
		t.Errorf("%+v %v", a, err)
	}
	if err := agent.SetData(ctx, of, []byte(`{}`)); !errors.Is(err, client.ErrScope) {
		t.Error(err)
	}
}

// Proves S59: an operator starts a lockdown remotely, and reads its records.
func TestLockdown(t *testing.T) {
	p := open(t)
	agent, op := p.as("agent"), p.as("op")
	ctx := t.Context()
	if l, err := op.Lockdown(ctx); err != nil || l.Locked {
		t.Fatal(l, err)
	}
	waiting, err := agent.Decide(ctx, client.Call{Tool: "write", Args: []byte(`{"path":"README"}`)})
	if err != nil || !waiting.Pending() {
		t.Fatalf("%+v %v", waiting, err)
	}
	if l, err := op.Lock(ctx, "incident 7"); err != nil || !l.Locked || l.By != "op" || l.Reason != "incident 7" || l.Since.IsZero() {
		t.Fatal(l, err)
	}
	if a, err := agent.Wait(ctx, waiting.ID); err != nil || a.Code != stopgate.CodeLockdown {
		t.Errorf("%+v %v", a, err)
	}
	call := client.Call{Tool: "write", Args: []byte(`{"path":"src/a"}`)}
	if a, err := agent.Decide(ctx, call); err != nil || a.Code != stopgate.CodeLockdown {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := agent.Lift(ctx); !errors.Is(err, client.ErrScope) {
		t.Error(err)
	}
	if l, err := op.Lift(ctx); err != nil || l.Locked {
		t.Fatal(l, err)
	}
	if a, err := agent.Decide(ctx, call); err != nil || !a.Allowed() {
		t.Errorf("%+v %v", a, err)
	}
	var events []stopgate.AuditEvent
	for r, err := range op.AllRecords(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == stopgate.RecordEvent {
			events = append(events, r.Event)
		}
	}
	if !slices.Contains(events, stopgate.AuditLockdown) || !slices.Contains(events, stopgate.AuditLifted) {
		t.Error(events)
	}
	if err := op.Ready(ctx); err != nil {
		t.Error(err)
	}
}

// Proves D26-16, W2: a refusal is known while the arguments are being written, and an allow only at
// their end.
func TestStream(t *testing.T) {
	p := open(t)
	socket := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	go p.api.ServeLocal(ln)
	c, err := client.New("unix://" + socket)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Stream(t.Context(), client.Call{Tool: "write", Args: []byte(`{"path":".en`)})
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := s.Verdict(); v.DecidedAt != 0 {
		t.Errorf("%+v", v)
	}
	if _, err := s.Write([]byte(`v","content":"`)); err != nil {
		t.Fatal(err)
	}
	<-s.Refused()
	if _, err := io.Copy(s, endless{}); !errors.Is(err, client.ErrRefused) {
		t.Error(err)
	}
	if v, n := s.Verdict(); v.Mode != stopgate.Deny || v.DecidedAt != 14 || n < 14 {
		t.Errorf("%+v %d", v, n)
	}
	if a, err := s.Close(); err != nil || a.Status != "denied" || a.Envelope == nil {
		t.Errorf("%+v %v", a, err)
	}
	// A client that does not check learns it from Write.
	if s, err = c.Stream(t.Context(), client.Call{Tool: "write"}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(s, io.MultiReader(strings.NewReader(`{"path":".env","content":"`), endless{})); !errors.Is(err, client.ErrRefused) {
		t.Error(err)
	}
	s.Close()

	if s, err = c.Stream(t.Context(), client.Call{Tool: "write"}); err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{`{"path"`, `:"src/a"`, `}`} {
		if _, err := s.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
		// The verdict of a rule may be known before the end, with the byte that decided it.
		if v, _ := s.Verdict(); v.Mode == stopgate.Unattended && v.DecidedAt != 15 {
			t.Errorf("%+v before the end", v)
		}
	}
	if a, err := s.Close(); err != nil || string(a.Args) != `{"path":"src/a"}` {
		t.Errorf("%+v %v", a, err)
	}
	if s, err = c.Stream(t.Context(), client.Call{Tool: "write"}); err != nil {
		t.Fatal(err)
	}
	s.Write([]byte(`{"path":`))
	if err := s.Cancel(); err != nil {
		t.Error(err)
	}
	if a, err := s.Close(); err == nil || a.Allowed() {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := c.Stream(t.Context(), client.Call{}); err != nil {
		t.Log(err) // an unknown tool is a response of the stream, or a problem
	}
	if _, err := p.as("anna").Stream(t.Context(), client.Call{Tool: "write"}); !errors.Is(err, client.ErrScope) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if s, err = c.Stream(ctx, client.Call{Tool: "write"}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if a, err := s.Close(); err == nil || a.Allowed() {
		t.Errorf("%+v %v", a, err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// An invalid response allows nothing.
func TestInvalidResponses(t *testing.T) {
	for _, c := range []struct {
		name, kind, body string
		status           int
	}{
		{"another tool", "application/json", `{"tool":"read","status":"allowed","args":{}}`, 200},
		{"no status", "application/json", `{"tool":"write","args":{}}`, 200},
		{"nothing to run", "application/json", `{"tool":"write","status":"allowed"}`, 200},
		{"a page", "text/html", `{"tool":"write","status":"allowed","args":{}}`, 200},
		{"half", "application/json", `{"tool":"write","status":"allowed","args":{}`, 200},
		{"a mode of tomorrow", "application/json", `{"tool":"write","status":"allowed","mode":"perhaps","args":{}}`, 200},
		{"a redirect", "application/json", `{"tool":"write","status":"allowed","args":{}}`, 307},
		{"an error", "application/json", `{"tool":"write","status":"allowed","args":{}}`, 500},
		{"a proxy's error", "text/html", `Bad gateway`, 502},
		{"a problem without a code", "application/problem+json", `{}`, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.status)
				io.WriteString(w, c.body+"\n")
			}))
			defer server.Close()
			gate, err := client.New(server.URL + "/")
			if err != nil {
				t.Fatal(err)
			}
			a, err := gate.Decide(t.Context(), client.Call{Tool: "write", Args: []byte(`{}`)})
			if err == nil || a.Allowed() || a.ID != "" || a.Tool != "" {
				t.Errorf("%+v %v", a, err)
			}
			s, err := gate.Stream(t.Context(), client.Call{Tool: "write"})
			if err != nil {
				return
			}
			if a, err := s.Close(); err == nil || a.Allowed() {
				t.Errorf("%+v %v", a, err)
			}
		})
	}
	var none client.Decision
	if none.Allowed() || none.Mode != stopgate.Deny {
		t.Error("the zero Answer")
	}
	gone, _ := client.New("http://127.0.0.1:1")
	if a, err := gone.Decide(t.Context(), client.Call{Tool: "write"}); err == nil || a.Allowed() {
		t.Error(a, err)
	}
}

// Proves S43: invalid addresses, and those of this machine.
func TestAddresses(t *testing.T) {
	for _, bad := range []string{"", "localhost:80", "ftp://x", "unix://host/x", "unix:x", "http://u:p@x", "http://x?y", "http://x#y", "\x00"} {
		if _, err := client.New(bad); err == nil {
			t.Errorf("%q is an address", bad)
		}
	}
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	if at, err := client.LocalSocket(); err != nil || at != filepath.Join(dir, "stopgate", "api.sock") {
		t.Error(at, err)
	}
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(dir, "none"))
	t.Setenv("XDG_STATE_HOME", dir)
	if at, err := client.LocalSocket(); err != nil || at != filepath.Join(dir, "stopgate", "api.sock") {
		t.Error(at, err)
	}
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", dir)
	if at, err := client.LocalSocket(); err != nil || at != filepath.Join(dir, ".local", "state", "stopgate", "api.sock") {
		t.Error(at, err)
	}
	c, err := client.Local()
	if err != nil {
		t.Fatal(err)
	}
	var failed *url.Error
	if _, err := c.Decide(t.Context(), client.Call{Tool: "x"}); !errors.As(err, &failed) || !strings.Contains(err.Error(), "stopgate up starts one") {
		t.Error(err)
	}
}
