package gate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

const sessionFile = `version = 1
[gate]
deny_mode = "tool_result"
[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = "unattended"
[tools.test]
policy.run = "unattended"
also = ["run_tests"]
success = { exit_code = "/exit" }
[tools.deploy]
policy.run = "unattended"
[tools.read]
policy.run = "unattended"
[tools.write]
policy.run = "unattended"
[tools.mail]
policy.run = "unattended"
[tools.other]
policy.run = "unattended"
[tools.asked]
policy.run = "ask"
[tools.denied]
policy.run = "deny"
[[session]]
type = "require"
name = "ship"
before = "deploy"
requires = "test"
[[session]]
type = "read_before_write"
read_tools = "read"
write_tools = "write"
[[session]]
type = "limit"
name = "mail"
tools = "mail"
max_calls = 1
`

var sessionS = session.Owner{Principal: "ann", Session: "s"}

// bench is a gate over sessionFile.
type bench struct {
	t     *testing.T
	g     *gate.Gate
	store *ports.Store
	rec   *ports.Recorder
}

func newBench(t *testing.T, opts ...gate.Option) *bench {
	t.Helper()
	b := &bench{t: t, store: &ports.Store{Memory: true}, rec: new(ports.Recorder)}
	b.g = fileGate(t, sessionFile, append([]gate.Option{
		gate.WithStore(b.store), gate.WithRecorder(b.rec), gate.WithSealKey([]byte(strings.Repeat("k", 32))),
	}, opts...)...)
	return b
}

func (b *bench) decide(tool stopgate.ToolName, args string) stopgate.Outcome {
	b.t.Helper()
	return b.decideIn(sessionS, tool, args)
}

func (b *bench) decideIn(o session.Owner, tool stopgate.ToolName, args string) stopgate.Outcome {
	b.t.Helper()
	out, err := b.g.Decide(ctx, stopgate.Call{Tool: tool, ID: "call_0", Session: o.Session, Principal: o.Principal, Args: []byte(args)})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *bench) expect(tool stopgate.ToolName, args string, code stopgate.Code) stopgate.Outcome {
	b.t.Helper()
	out := b.decide(tool, args)
	if out.Allowed() != (code == "") || code != "" && out.Verdict.Code != code {
		b.t.Errorf("%s %s: %v %s, want %q", tool, args, out.Status, out.Verdict.Code, code)
	}
	return out
}

func resultOf(out stopgate.Outcome, tool stopgate.ToolName, data string) stopgate.Result {
	return stopgate.Result{
		Proposal: out.Proposal, Call: "call_0", Session: sessionS.Session, Principal: sessionS.Principal, Tool: tool, Data: []byte(data), Observed: true,
	}
}

func (b *bench) run(tool stopgate.ToolName, args, data string) {
	b.t.Helper()
	out := b.expect(tool, args, "")
	if _, err := b.g.Observe(ctx, resultOf(out, tool, data)); err != nil {
		b.t.Fatal(err)
	}
}

// Proves H4, I19, X14, P14: of parallel calls under a limit of one exactly one
// passes, and one that fails takes nothing from the others.
func TestThreatH4CheckAndReserve(t *testing.T) {
	b := newBench(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	allowed := 0
	for range 32 {
		all.Go(func() {
			out, err := b.g.Decide(ctx, stopgate.Call{Tool: "mail", Session: sessionS.Session, Principal: sessionS.Principal, Args: []byte(`{}`)})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if out.Allowed() {
				allowed++
			}
		})
	}
	all.Wait()
	if allowed != 1 {
		t.Errorf("%d passed a limit of one", allowed)
	}
	good, bad := b.expect("test", `{}`, ""), b.expect("test", `{}`, "")
	for _, r := range []stopgate.Result{resultOf(good, "test", `{"exit":0}`), resultOf(bad, "test", `{"exit":1}`)} {
		if _, err := b.g.Observe(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	b.expect("deploy", `{}`, "")
}

// Proves H5, M35, M36, X13, S23, S24: only results of released calls count, once, with
// the right tool, session and principal; an allow is not a success.
func TestThreatH5ForgedResults(t *testing.T) {
	b := newBench(t)
	out := b.expect("test", `{}`, "")
	b.expect("deploy", `{}`, stopgate.CodePrerequisitePending)
	real := resultOf(out, "test", `{"exit":0}`)
	forged := []stopgate.Result{{}, real, real, real, real}
	forged[1].Proposal = "01"
	forged[2].Tool = "read"
	forged[3].Session = "other"
	forged[4].Principal = "bob"
	denied := b.expect("denied", `{}`, stopgate.CodeRuleMatched)
	forged = append(forged, resultOf(denied, "denied", `{}`))
	for i, r := range forged {
		if d, err := b.g.Observe(ctx, r); !errors.Is(err, gate.ErrUnmatched) || d.Delivered() {
			t.Errorf("forged %d: %v", i, err)
		}
	}
	b.expect("deploy", `{}`, stopgate.CodePrerequisitePending)
	if d, err := b.g.Observe(ctx, real); err != nil || string(d.Data) != `{"exit":0}` {
		t.Errorf("%v %s", err, d.Data)
	}
	if _, err := b.g.Observe(ctx, real); !errors.Is(err, gate.ErrUnmatched) {
		t.Errorf("a result counted twice: %v", err)
	}
	b.expect("deploy", `{}`, "")
	if n := len(b.rec.Events(stopgate.AuditUnmatchedResult)); n != len(forged)+1 {
		t.Errorf("%d rows of unmatched results", n)
	}
}

// Proves S24: success and the hash of the content are of what the tool gave back, not of
// the text that was made of it; the model gets the text.
func TestRawResults(t *testing.T) {
	for raw, code := range map[string]stopgate.Code{`{"exit":0}`: "", `{"exit":1}`: stopgate.CodePrerequisiteMissing} {
		b := newBench(t)
		r := resultOf(b.expect("test", `{}`, ""), "test", `{"exit":0} and more, for the model`)
		r.Raw = []byte(raw)
		if d, err := b.g.Observe(ctx, r); err != nil || string(d.Data) != string(r.Data) {
			t.Errorf("%v %s", err, d.Data)
		}
		b.expect("deploy", `{}`, code)
	}
}

// Proves S23, S39: without the gate's own id a result finds the newest open call of its
// id, tool and arguments; also in another process, and under another name of the tool.
func TestResultsFindTheirCall(t *testing.T) {
	b := newBench(t)
	old, young := b.expect("run_tests", `{"n":1}`, ""), b.expect("run_tests", `{"n":1}`, "")
	other := fileGate(t, sessionFile, gate.WithStore(b.store))
	r := resultOf(old, "run_tests", `{"exit":0}`)
	r.Proposal, r.ArgsHash, r.Observed, r.Flagged = "", gate.HexHash(`{"n":1}`), false, true
	if _, err := other.Observe(ctx, r); err != nil {
		t.Fatal(err)
	}
	state, _ := b.store.Load(ctx, sessionS, []session.Key{session.CallKey(old.Proposal), session.CallKey(young.Proposal)})
	first, _ := state.Cell(session.CallKey(old.Proposal))
	second, _ := state.Cell(session.CallKey(young.Proposal))
	if first.Call.Done != "" || second.Call.Done != session.Succeeded {
		t.Errorf("%s %s", first.Call.Done, second.Call.Done)
	}
	r.ArgsHash = gate.HexHash(`{"n":2}`)
	if _, err := other.Observe(ctx, r); !errors.Is(err, gate.ErrUnmatched) {
		t.Errorf("other arguments: %v", err)
	}
	b.expect("deploy", `{}`, "")
}

// Proves H6, TPS-04, TPS-37: sessions and principals share nothing but what is theirs
// together; a store that cannot be read is no fresh session.
func TestThreatH6Confusion(t *testing.T) {
	b := newBench(t)
	b.run("test", `{}`, `{"exit":0}`)
	b.expect("deploy", `{}`, "")
	for _, o := range []session.Owner{{Principal: "ann", Session: "t"}, {Principal: "bob", Session: "s"}, {Session: "s"}, {Principal: "ann"}} {
		if out := b.decideIn(o, "deploy", `{}`); out.Allowed() {
			t.Errorf("%v may deploy", o)
		}
	}
	b.expect("mail", `{}`, "")
	if out := b.decideIn(session.Owner{Principal: "ann", Session: "t"}, "mail", `{}`); out.Allowed() {
		t.Error("another session of the same principal has its own quota")
	}
	if out := b.decideIn(session.Owner{Principal: "bob", Session: "s"}, "mail", `{}`); !out.Allowed() {
		t.Error("another principal shares the quota")
	}
	b.store.Fault = func(context.Context, string) error { return errDisk }
	b.expect("deploy", `{}`, stopgate.CodeStoreUnavailable)
	b.expect("write", `{"path":"a"}`, stopgate.CodeStoreUnavailable)
	b.expect("other", `{}`, "")
	bare := fileGate(t, sessionFile)
	if out, _ := bare.Decide(ctx, stopgate.Call{Tool: "deploy", Session: "s", Args: []byte(`{}`)}); out.Verdict.Code != stopgate.CodeStoreUnavailable {
		t.Errorf("without a store: %v", out.Verdict)
	}
}

// Proves H7, I21, P27, X18, FM17, S15, TPS-29, TPS-30: a snapshot cannot be altered or
// used elsewhere; going back is on record, takes permissions back and refills nothing.
func TestThreatH7Snapshots(t *testing.T) {
	b := newBench(t)
	before, err := b.g.Snapshot(ctx, sessionS)
	if err != nil {
		t.Fatal(err)
	}
	b.run("test", `{}`, `{"exit":0}`)
	b.run("mail", `{}`, ``)
	after, err := b.g.Snapshot(ctx, sessionS)
	if err != nil {
		t.Fatal(err)
	}
	operator := gate.Rewind{By: "op"}
	for i := range before {
		broken := slices.Clone(before)
		broken[i] ^= 1
		if err := b.g.Restore(ctx, sessionS, broken, operator); !errors.Is(err, gate.ErrSnapshot) {
			t.Fatalf("byte %d altered: %v", i, err)
		}
	}
	other := fileGate(t, strings.Replace(sessionFile, "max_calls = 1", "max_calls = 9", 1), gate.WithStore(b.store), gate.WithSealKey([]byte(strings.Repeat("k", 32))))
	keyed := newBench(t, gate.WithStore(b.store), gate.WithSealKey([]byte(strings.Repeat("x", 32))))
	fresh := newBench(t)
	for name, err := range map[string]error{
		"another session":   b.g.Restore(ctx, session.Owner{Principal: "ann", Session: "t"}, before, operator),
		"another principal": b.g.Restore(ctx, session.Owner{Principal: "bob", Session: "s"}, before, operator),
		"other policies":    other.Restore(ctx, sessionS, before, operator),
		"another key":       keyed.g.Restore(ctx, sessionS, before, operator),
		"no operator":       b.g.Restore(ctx, sessionS, before, gate.Rewind{}),
		"never there":       fresh.g.Restore(ctx, sessionS, after, operator),
		"nothing":           b.g.Restore(ctx, sessionS, nil, operator),
	} {
		if !errors.Is(err, gate.ErrSnapshot) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.expect("deploy", `{}`, "")
	if err := b.g.Restore(ctx, sessionS, after, operator); err != nil {
		t.Fatal(err)
	}
	b.expect("deploy", `{}`, "")
	b.expect("mail", `{}`, stopgate.CodeSessionPolicyDenied)
	if err := b.g.Restore(ctx, sessionS, before, operator); err != nil {
		t.Fatal(err)
	}
	b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing)
	b.expect("mail", `{}`, stopgate.CodeSessionPolicyDenied)
	if err := b.g.Restore(ctx, sessionS, after, operator); err != nil {
		t.Fatal(err)
	}
	b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing) // what was taken back stays so
	b.run("test", `{}`, `{"exit":0}`)
	b.expect("deploy", `{}`, "")
	if len(b.rec.Events(stopgate.AuditRestored)) != 3 || len(b.rec.Events(stopgate.AuditSnapshot)) != 2 {
		t.Error("it is not on record")
	}
	for _, g := range []*gate.Gate{fileGate(t, sessionFile), fileGate(t, sessionFile, gate.WithStore(b.store))} {
		if _, err := g.Snapshot(ctx, sessionS); err == nil || g.Restore(ctx, sessionS, before, operator) == nil {
			t.Error("a gate without store or key takes snapshots")
		}
	}
}

// Proves H8, H12: see the tests of package session; here that the gate denies with their
// codes, at the end of the arguments or before any.
func TestThreatsH8AndH12AtTheGate(t *testing.T) {
	b := newBench(t)
	b.expect("write", `{"filename":"a"}`, stopgate.CodeKeyUnavailable)
	b.run("read", `{"path":"./a"}`, ``)
	b.expect("write", `{"path":"x/../a"}`, "")
	b.expect("write", `{"path":"b"}`, stopgate.CodeReadRequired)
	p, err := b.g.Open(ctx, stopgate.Call{Tool: "deploy", Session: "s", Principal: "ann"})
	if err != nil || p.Verdict().Code != stopgate.CodePrerequisiteMissing || p.Verdict().DecidedAt != 0 {
		t.Errorf("%v %v", p.Verdict(), err)
	}
	p.Cancel(ctx)
	q, _ := b.g.Open(ctx, stopgate.Call{Tool: "write", Session: "s", Principal: "ann"})
	q.Feed([]byte(`{"x":"c","x":1,"path":"c"`))
	if v := q.Close(stopgate.Ended); v.Code != stopgate.CodeDuplicateKey {
		t.Errorf("a broken call is judged by its session: %v", v)
	}
	q.Cancel(ctx)
}

// Proves H1, H3, I18: an edit is a new proposal, also for session policies: they see
// the edited bytes and learn from them.
func TestThreatH3EditsAndSessions(t *testing.T) {
	policy := strings.Replace(sessionFile, "[tools.write]\npolicy.run = \"unattended\"", "[tools.write]\npolicy.run = \"edit\"", 1)
	store := &ports.Store{Memory: true}
	g := fileGate(t, policy, gate.WithStore(store), answers(func(v gate.View) gate.Answer { return v.Edit("ann", []byte(`{"path":"secret"}`)) }))
	read, _ := g.Decide(ctx, stopgate.Call{Tool: "read", Session: "s", Args: []byte(`{"path":"a"}`)})
	g.Observe(ctx, stopgate.Result{Proposal: read.Proposal, Tool: "read", Session: "s", Observed: true})
	out, _ := g.Decide(ctx, stopgate.Call{Tool: "write", Session: "s", Args: []byte(`{"path":"a"}`)})
	want(t, out, stopgate.Denied, stopgate.CodeReadRequired)
}

// Proves H16, S27: a declined call is not asked again until the user said something.
func TestThreatH16Sticky(t *testing.T) {
	asked := 0
	b := newBench(t, answers(func(v gate.View) gate.Answer { asked++; return v.Decline("ann") }))
	b.expect("asked", `{"a":1}`, stopgate.CodeApprovalDeclined)
	b.expect("asked", `{"a":1.0}`, stopgate.CodeApprovalDeclined)
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	b.expect("asked", `{"a":2}`, stopgate.CodeApprovalDeclined)
	if err := b.g.Spoke(ctx, sessionS); err != nil {
		t.Fatal(err)
	}
	b.expect("asked", `{"a":1}`, stopgate.CodeApprovalDeclined)
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
}

// Proves H22, S28, Q21: five identical denials or 25 of any kind in a row stop the
// turn; an allowed call or a message of the user begins anew; failures do not count.
func TestThreatH22DenialLimit(t *testing.T) {
	b := newBench(t)
	for range 5 {
		b.expect("denied", `{}`, stopgate.CodeRuleMatched)
	}
	out := b.expect("denied", `{}`, stopgate.CodeDenialLimit)
	if out.Verdict.Public != stopgate.CodeDenialLimit.Public() {
		t.Errorf("%q", out.Verdict.Public)
	}
	if row := b.rec.Decisions()[5]; row.Code != stopgate.CodeDenialLimit || !strings.HasPrefix(row.Cause, "rule_matched") {
		t.Errorf("row %+v", row)
	}
	b.expect("other", `{}`, "")
	b.expect("denied", `{}`, stopgate.CodeRuleMatched)
	stopped := func() (rows []string) {
		for _, r := range b.rec.Events(stopgate.AuditStopped) {
			rows = append(rows, fmt.Sprintf("%d %s %s %s", r.Count, r.Code, r.Cause, r.Session))
		}
		return rows
	}
	b.g.Spoke(ctx, sessionS)
	for i := range 25 {
		b.expect(stopgate.ToolName(fmt.Sprintf("unknown_%d", i)), `{}`, stopgate.CodePolicyNotConfigured)
	}
	b.expect("denied", `{}`, stopgate.CodeDenialLimit)
	b.expect("deploy", `{}`, stopgate.CodeDenialLimit)
	if got, want := stopped(), []string{"6 denial_limit rule_matched s", "26 denial_limit rule_matched s"}; !slices.Equal(got, want) {
		t.Errorf("operators were told %q, want %q", got, want)
	}
	if err := b.g.Reconcile(ctx, sessionS, "op"); err != nil {
		t.Fatal(err)
	}
	b.expect("denied", `{}`, stopgate.CodeRuleMatched)
}

// Proves H17, H19, S25, FM4: with the rows in the store's database a decision and its
// facts are one write; a write that fails lets nothing out and leaves no fact.
func TestThreatH19OneTransaction(t *testing.T) {
	j := &journal{Store: ports.Store{}}
	g := fileGate(t, sessionFile, gate.WithStore(j), gate.WithRecorder(j))
	out, err := g.Decide(ctx, stopgate.Call{Tool: "mail", Session: "s", Args: []byte(`{}`)})
	if err != nil || !out.Allowed() || len(j.rows) != 1 || j.direct != 0 || j.rows[0].Status != stopgate.StatusAllowed || j.rows[0].ReleasedHash == "" {
		t.Fatalf("%v %v %+v", out.Verdict, err, j.rows)
	}
	out, _ = g.Decide(ctx, stopgate.Call{Tool: "mail", Session: "s", Args: []byte(`{}`)})
	want(t, out, stopgate.Denied, stopgate.CodeSessionPolicyDenied)
	if len(j.rows) != 2 || j.direct != 0 || j.rows[1].Status != stopgate.StatusDenied || j.rows[1].FactsAt == 0 {
		t.Fatalf("%+v", j.rows)
	}
	j.Store.Fault = func(context.Context, string) error { return errDisk }
	out, _ = g.Decide(ctx, stopgate.Call{Tool: "other", Session: "s", Args: []byte(`{}`)})
	want(t, out, stopgate.Denied, stopgate.CodeAuditUnavailable)
	if g.Health().LostRows == 0 {
		t.Error("nothing is missing")
	}
}

// Proves H19, I19, I22: a call is not released without its facts when the log cannot be written at first, and
// can be a moment later, when its row is.
func TestLogIsBackDuringRelease(t *testing.T) {
	j := &journal{Store: ports.Store{}}
	g := fileGate(t, sessionFile, gate.WithStore(j), gate.WithRecorder(j))
	j.Store.Fault = func(context.Context, string) error { return errDisk }
	out, _ := g.Decide(ctx, stopgate.Call{Tool: "other", Session: "s", Args: []byte(`{}`)})
	want(t, out, stopgate.Denied, stopgate.CodeAuditUnavailable)
	failed := false
	j.Store.Fault = func(_ context.Context, method string) error {
		if method == "record" && !failed {
			failed = true
			return errDisk
		}
		return nil
	}
	out, _ = g.Decide(ctx, stopgate.Call{Tool: "mail", Session: "s", Args: []byte(`{}`)})
	if want(t, out, stopgate.Denied, stopgate.CodeAuditUnavailable); !failed {
		t.Error("the row of the gap was not tried")
	}
	out, _ = g.Decide(ctx, stopgate.Call{Tool: "mail", Session: "s", Args: []byte(`{}`)})
	if !out.Allowed() {
		t.Errorf("the log is back: %+v", out.Verdict)
	}
	out, _ = g.Decide(ctx, stopgate.Call{Tool: "mail", Session: "s", Args: []byte(`{}`)})
	want(t, out, stopgate.Denied, stopgate.CodeSessionPolicyDenied)
}

// journal is a store that keeps rows with the facts.
type journal struct {
	ports.Store
	rows    []stopgate.Record
	direct  int
	updates int
}

func (j *journal) Capabilities() gate.Capabilities {
	return gate.Capabilities{Journal: func(r gate.Recorder) bool { return r == gate.Recorder(j) }}
}
func (j *journal) Record(ctx context.Context, r *stopgate.Record) error {
	if j.Store.Fault != nil {
		return j.Store.Fault(ctx, "record")
	}
	j.direct++
	return nil
}
func (j *journal) Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	var rows []*stopgate.Record
	j.updates++
	err := j.Store.Update(ctx, o, keys, func(s session.State) (gate.Change, error) {
		c, err := decide(s)
		rows = c.Rows
		return c, err
	})
	for _, row := range rows {
		if err == nil {
			j.rows = append(j.rows, *row)
		}
	}
	return err
}

// Proves D25-43, K32, S11: what becomes of a result is put to a person where a rule
// says so, and withheld where nobody can answer.
func TestResultReview(t *testing.T) {
	const file = `version = 1
[gate]
deny_mode = "tool_result"
[tools.ask.policy]
run = "unattended"
result = "ask"
[tools.edit.policy]
run = "unattended"
result = "edit"
[tools.skip.policy]
run = "unattended"
result = "skip"
`
	approve := func(v gate.View) gate.Answer {
		if !v.OfResult || v.Result != "secret" || !v.Complete || v.Binding.Result != gate.HexHash("secret") {
			t.Errorf("asked %+v", v)
		}
		return v.Approve("ann")
	}
	for _, c := range []struct {
		name    string
		tool    stopgate.ToolName
		answer  func(gate.View) gate.Answer
		surface stopgate.Surface
		want    string
	}{
		{"approved", "ask", approve, "", "secret"},
		{"approved unchanged", "edit", approve, "", "secret"},
		{"edited", "edit", func(v gate.View) gate.Answer { return v.Edit("ann", []byte("less")) }, "", "less"},
		{"declined", "ask", func(v gate.View) gate.Answer { return v.Decline("ann") }, "", ""},
		{"nothing", "ask", func(gate.View) gate.Answer { return gate.Answer{} }, "", ""},
		{"another binding", "ask", func(v gate.View) gate.Answer {
			a := v.Approve("ann")
			a.Binding.Result = "x"
			return a
		}, "", ""},
		{"nobody", "ask", nil, "", ""},
		{"gateway", "ask", approve, stopgate.SurfaceGateway, ""},
		{"skip", "skip", approve, "", ""},
	} {
		opts := []gate.Option{gate.WithStore(&ports.Store{Memory: true})}
		if c.answer != nil {
			opts = append(opts, answers(c.answer))
		}
		g := fileGate(t, file, opts...)
		out, err := g.Decide(ctx, stopgate.Call{Tool: c.tool, Session: "s", Surface: c.surface, Args: []byte(`{}`)})
		if err != nil || !out.Allowed() {
			t.Fatal(out, err)
		}
		d, err := g.Observe(ctx, stopgate.Result{Proposal: out.Proposal, Session: "s", Tool: c.tool, Data: []byte("secret"), Observed: true})
		if err != nil || d.Delivered() != (c.want != "") || d.Delivered() && string(d.Data) != c.want || !d.Delivered() && strings.Contains(string(d.Data), "secret") {
			t.Errorf("%s: %+v %s %v", c.name, d, d.Data, err)
		}
	}
}

// Proves TPS-03, TPS-07, TPS-09, TPS-32, TPS-33: validate, check, execute, notify; a
// denied call does not run, and its outcome says why.
func TestExecutor(t *testing.T) {
	b := newBench(t)
	ran := 0
	execute := func(tool stopgate.ToolName, args string) stopgate.Outcome {
		out := b.decide(tool, args)
		if out.Allowed() {
			ran++
			if _, err := b.g.Observe(ctx, resultOf(out, tool, `{"exit":0}`)); err != nil {
				t.Error(err)
			}
		}
		return out
	}
	if out := execute("deploy", `{"a":1,"a":2}`); out.Verdict.Code != stopgate.CodePrerequisiteMissing {
		t.Errorf("%v", out.Verdict) // known before any argument
	}
	if out := execute("write", `{"x":1,"x":1,"path":"a"}`); out.Verdict.Code != stopgate.CodeDuplicateKey {
		t.Errorf("%v", out.Verdict) // a key is looked at in valid arguments only
	}
	out := execute("deploy", `{}`)
	if e := out.Envelope(); ran != 0 || e.Status != "denied" || e.PublicReason != "Call test first; it must have succeeded." {
		t.Errorf("%d ran: %+v", ran, e)
	}
	execute("test", `{}`)
	execute("deploy", `{}`)
	if ran != 2 {
		t.Errorf("%d ran", ran)
	}
}

// A session policy that never answers, or that a store is never heard of again, holds
// nothing up for longer than its deadline.
func TestDeadlines(t *testing.T) {
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	slow := ports.SessionPolicy{As: "slow", For: []string{"deploy"}, Answer: func(session.View, session.Call) session.Decision { <-hang; return session.Allow() }}
	g := fileGate(t, strings.Replace(sessionFile, "name = \"ship\"", "name = \"ship\"\nenabled = false", 1), gate.WithStore(&ports.Store{}),
		gate.WithSessionPolicies(ports.Registry(slow)), gate.WithLimits(gate.Limits{Policy: time.Millisecond}))
	out, err := g.Decide(ctx, stopgate.Call{Tool: "deploy", Session: "s", Args: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	want(t, out, stopgate.Denied, stopgate.CodePolicyTimeout)
}
