package policies_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/condition/pathkey"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// book is a session in memory for tests of policies: every call goes through check,
// release and result, as the gate does it.
type book struct {
	t     *testing.T
	reg   *session.Registry
	head  uint64
	cells map[session.Key]*session.Cell
	now   int64
	turn  uint64 // position of the turn, 0: each call is one
	n     int
}

func newBook(t *testing.T, policies ...session.Policy) *book {
	t.Helper()
	b := &book{t: t, reg: session.NewRegistry(), cells: map[session.Key]*session.Cell{}, now: 1_000_000}
	for _, p := range policies {
		if err := b.reg.Register(p); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b *book) state(keys []session.Key) session.State {
	var entries []session.Entry
	for _, k := range keys {
		c := b.cells[k]
		if c == nil {
			c = new(session.Cell)
		}
		entries = append(entries, session.Entry{Key: k, Cell: c})
	}
	return session.NewState(b.head, entries)
}

func (b *book) add(facts ...session.Fact) {
	b.t.Helper()
	var keys []session.Key
	for i := range facts {
		facts[i].At = b.now
		for _, k := range facts[i].Keys() {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
		if c := b.cells[session.CallKey(facts[i].Proposal)]; c != nil && c.Call.Fact != nil {
			for _, k := range c.Call.Fact.Keys() {
				if !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
	}
	next, _, err := b.state(keys).Append(facts)
	if err != nil {
		b.t.Fatal(err)
	}
	b.head = next.Head
	for _, e := range next.Entries() {
		b.cells[e.Key] = e.Cell
	}
}

func (b *book) call(tool, args string) session.Call {
	b.t.Helper()
	v, err := jsonstream.Parse([]byte(args), jsonstream.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.n++
	return session.Call{Proposal: stopgate.ProposalID(tool + strings.Repeat("x", b.n)), Tool: stopgate.ToolName(tool), Args: v, ID: "c"}
}

func (b *book) view(c session.Call) session.View {
	horizon := b.head
	if b.turn > 0 {
		horizon = b.turn
	}
	return session.View{State: b.state(b.reg.Set().Needs(c)), Owner: session.Owner{Session: "s"}, Now: b.now, Horizon: horizon}
}

func (b *book) check(tool, args string) session.Decision {
	b.t.Helper()
	c := b.call(tool, args)
	d, _ := b.reg.CheckAll(b.view(c), c)
	return d
}

// release lets a call out without a look at its verdict.
func (b *book) release(tool, args string) session.Call {
	b.t.Helper()
	c := b.call(tool, args)
	b.add(session.Fact{Kind: session.Released, Proposal: c.Proposal, Tool: c.Tool, CallID: c.ID, Marks: b.reg.Set().Marks(c)})
	return c
}

// run releases a call and lets it end.
func (b *book) run(tool, args string, kind session.Kind) {
	b.t.Helper()
	c := b.release(tool, args)
	b.add(session.Fact{Kind: kind, Proposal: c.Proposal, Tool: c.Tool, Observed: true, Hash: "h" + tool})
}

func (b *book) expect(tool, args string, code stopgate.Code) session.Decision {
	b.t.Helper()
	d := b.check(tool, args)
	if d.Allowed && code != "" || !d.Allowed && d.Code != code {
		b.t.Errorf("%s %s: %v %s, want %q", tool, args, d.Allowed, d.Code, code)
	}
	return d
}

const ok = stopgate.Code("")

// Proves TPS-01, TPS-13, TPS-14, TPS-15, TPS-38: every prerequisite must have
// succeeded; a denial lists what is missing, sorted, and what would satisfy it.
func TestRequireSequential(t *testing.T) {
	b := newBook(t, policies.Require("deploy").After("test", "build").Named("ship"))
	d := b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing)
	if !slices.Equal(d.Missing, []string{"build", "test"}) || d.Meta["missing"] != "build, test" || d.Meta["tool"] != "deploy" || d.Policy != "ship" ||
		d.Public != "Call build and test first; they must have succeeded." {
		t.Errorf("%+v", d)
	}
	b.run("test", `{}`, session.Failed)
	b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing)
	b.run("test", `{}`, session.Succeeded)
	b.run("build", `{}`, session.Finished)
	if d := b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing); !slices.Equal(d.Missing, []string{"build"}) {
		t.Errorf("%+v", d)
	}
	b.run("build", `{}`, session.Succeeded)
	b.expect("deploy", `{}`, ok)
	b.expect("anything", `{}`, ok)
}

// Proves TPS-16, TPS-05, TPS-26: a policy hears of dependents, prerequisites and what
// invalidates, by names and globs.
func TestSelectors(t *testing.T) {
	p := policies.Require("deploy_*", "ship").After("test").InvalidatedBy("edit")
	for tool, want := range map[stopgate.ToolName]bool{"deploy_eu": true, "ship": true, "test": true, "edit": true, "deploy": false, "tester": false} {
		if got := p.Tools().Match(tool); got != want {
			t.Errorf("%s: %v", tool, got)
		}
	}
	b := newBook(t, policies.Require("deploy_*").After("test_*"))
	b.expect("deploy_eu", `{}`, stopgate.CodePrerequisiteMissing)
	b.run("test_unit", `{}`, session.Succeeded)
	b.expect("deploy_eu", `{}`, ok)
}

// Proves TPS-17, TPS-18, TPS-19, TPS-20, TPS-25, H9, P9: for the same key, exactly
// compared; all prerequisites unless any is written.
func TestRequireKeyed(t *testing.T) {
	b := newBook(t,
		policies.Require("merge").After("approve", "lint").Key("/pr").Named("all"),
		policies.Require("merge").After("approve", "lint").Key("/pr").Any().Named("any"))
	b.run("approve", `{"pr":9007199254740993}`, session.Succeeded)
	if d := b.expect("merge", `{"pr":9007199254740993}`, stopgate.CodePrerequisiteMissing); !slices.Equal(d.Missing, []string{"lint"}) || d.Meta["key"] != "/pr" ||
		d.Public != "Call lint first with the same /pr; it must have succeeded." {
		t.Errorf("%+v", d)
	}
	b.reg.Unregister("all")
	b.expect("merge", `{"pr":9007199254740993}`, ok)
	b.expect("merge", `{"pr":9007199254740992}`, stopgate.CodePrerequisiteMissing)
	b.expect("merge", `{"pr":"9007199254740993"}`, stopgate.CodePrerequisiteMissing)
	b.run("approve", `{"pr":7.0}`, session.Succeeded)
	b.expect("merge", `{"pr":7}`, ok)
}

// Proves TPS-20, TPS-25: one review opens every dependent that lists it, for its key
// only, and each of several prerequisites by itself.
func TestKeyOfEachDependent(t *testing.T) {
	b := newBook(t,
		policies.Require("merge", "release_*").After("review").Key("/pr").Named("reviewed"),
		policies.Require("close").After("review", "comment").Any().Key("/pr").Named("answered"))
	b.run("review", `{"pr":7}`, session.Succeeded)
	b.run("comment", `{"pr":8}`, session.Succeeded)
	for call, code := range map[string]stopgate.Code{
		"merge 7": ok, "release_eu 7": ok, "close 7": ok, "close 8": ok,
		"merge 8": stopgate.CodePrerequisiteMissing, "release_eu 8": stopgate.CodePrerequisiteMissing, "close 9": stopgate.CodePrerequisiteMissing,
	} {
		tool, pr, _ := strings.Cut(call, " ")
		b.expect(tool, `{"pr":`+pr+`}`, code)
	}
}

// Proves H8, Q14, TPS-24: no key denies, in every shape that is none; a setting gives
// the old behaviour.
func TestNoKey(t *testing.T) {
	strict := newBook(t, policies.Require("merge").After("approve").Key("/pr", "/number"), policies.ReadBeforeWrite().InvalidatedBy("mv"),
		policies.Limit("pay").Sum("/amount", "10"))
	for _, args := range []string{`{}`, `{"pr":null}`, `{"pr":[1]}`, `{"pr":{}}`, `{"pr":1,"number":2}`} {
		strict.expect("merge", args, stopgate.CodeKeyUnavailable)
	}
	for _, args := range []string{`{"filename":"a"}`, `{"path":null}`, `{"path":["a"]}`, `{"path":1}`, `{"path":"a%2fb"}`, `{"path":"a\u0000b"}`,
		`{"path":"` + strings.Repeat("d/", 40) + `f"}`, `{"path":"a","file_path":"b"}`, `{"path":"../a"}`} {
		strict.expect("write_file", args, stopgate.CodeKeyUnavailable)
	}
	for _, args := range []string{`{}`, `{"amount":"1"}`, `{"amount":-1}`, `{"amount":[1]}`} {
		strict.expect("pay", args, stopgate.CodeKeyUnavailable)
	}
	loose := newBook(t, policies.Require("merge").After("approve").Key("/pr").AllowMissingKey(), policies.ReadBeforeWrite().AllowMissingKey(),
		policies.Limit("pay").Sum("/amount", "10").AllowMissingKey())
	loose.expect("merge", `{}`, ok)
	loose.expect("write_file", `{}`, ok)
	loose.expect("pay", `{}`, ok)
	// Only a key that is missing is let through.
	loose.expect("merge", `{"pr":1}`, stopgate.CodePrerequisiteMissing)
	loose.expect("write_file", `{"path":"a"}`, stopgate.CodeReadRequired)
	loose.expect("pay", `{"amount":11}`, stopgate.CodeSessionPolicyDenied)
}

// Proves TPS-21, TPS-22, TPS-23, Q15, P15, H12: a file must be read before it is
// written, by its canonical path; an own write is knowledge; a new file is free where
// it was seen to be absent; what moves or deletes takes knowledge away.
func TestReadBeforeWrite(t *testing.T) {
	env := condition.Env{Root: "/srv/p"}
	b := newBook(t, policies.ReadBeforeWrite().Reads("read").Writes("write").InvalidatedBy("move", "shell").ReadPaths(pathkey.Reader{Env: env}))
	if d := b.expect("write", `{"path":"a"}`, stopgate.CodeReadRequired); d.Public != "Read this file first, with read." {
		t.Errorf("%+v", d)
	}
	b.run("read", `{"file_path":"./src//a"}`, session.Succeeded)
	b.expect("write", `{"path":"src/x/../a"}`, ok)
	b.expect("write", `{"filepath":"/srv/p/src/a"}`, ok)
	b.expect("write", `{"path":"src/b"}`, stopgate.CodeReadRequired)
	b.run("read", `{"path":"src/b"}`, session.Failed)
	b.expect("write", `{"path":"src/b"}`, stopgate.CodeReadRequired)
	b.run("read", `{"path":"src/b"}`, session.Absent)
	b.expect("write", `{"path":"src/b"}`, ok)
	b.run("write", `{"path":"src/c"}`, session.Succeeded)
	b.expect("write", `{"path":"src/c"}`, ok)
	b.release("move", `{"from":"src","to":"lib"}`)
	for _, path := range []string{"src/a", "src/b", "src/c"} {
		b.expect("write", `{"path":"`+path+`"}`, stopgate.CodeReadRequired)
	}
	b.run("read", `{"path":"lib/a"}`, session.Succeeded)
	b.expect("write", `{"path":"lib/a"}`, ok)
	b.release("shell", `{"command":"rm -r lib"}`)
	b.expect("write", `{"path":"lib/a"}`, stopgate.CodeReadRequired)
}

// Proves X14, H4, S8: of two calls of one turn the second cannot lean on the first,
// and is told so.
func TestOneTurn(t *testing.T) {
	b := newBook(t, policies.Require("deploy").After("test"), policies.ReadBeforeWrite())
	b.run("warm", `{}`, session.Succeeded)
	b.turn = b.head
	c := b.release("test", `{}`)
	if d := b.expect("deploy", `{}`, stopgate.CodePrerequisitePending); d.Public != "" {
		t.Errorf("%q is said of a call that is under way", d.Public)
	}
	b.add(session.Fact{Kind: session.Succeeded, Proposal: c.Proposal, Observed: true})
	b.expect("deploy", `{}`, stopgate.CodePrerequisitePending)
	b.run("read_file", `{"path":"a"}`, session.Succeeded)
	b.expect("write_file", `{"path":"a"}`, stopgate.CodePrerequisitePending)
	b.turn = 0
	b.expect("deploy", `{}`, ok)
	b.expect("write_file", `{"path":"a"}`, ok)
}

// Proves S44: a call of which nothing was heard for long is no reason to wait: what has to
// be called is named.
func TestNotHeardOf(t *testing.T) {
	b := newBook(t, policies.Require("deploy").After("test"), policies.ReadBeforeWrite().Reads("read").Writes("write"))
	for range 9 {
		b.release("test", `{}`)
		b.release("read", `{"path":"a"}`)
	}
	b.now += 10*60_000 - 1
	b.expect("deploy", `{}`, stopgate.CodePrerequisitePending)
	b.expect("write", `{"path":"a"}`, stopgate.CodePrerequisitePending)
	b.now++
	if d := b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing); !strings.HasPrefix(d.Public, "Call test first") {
		t.Errorf("%q", d.Public)
	}
	b.expect("write", `{"path":"a"}`, stopgate.CodeReadRequired)
	b.run("test", `{}`, session.Succeeded)
	b.run("read", `{"path":"a"}`, session.Succeeded)
	b.expect("deploy", `{}`, ok)
	b.expect("write", `{"path":"a"}`, ok)
}

// Proves H4, S8: what a call gave back is still reserved in a turn that had begun, also
// when there are more of them than a cell names; the next turn has it back.
func TestGivenBackLater(t *testing.T) {
	for _, n := range []int{60, 64, 65, 200} {
		b := newBook(t, policies.Limit("mail").Calls(100), policies.Limit("pay").Sum("/amount", "100"), policies.Limit("run").InFlight(100))
		b.run("warm", `{}`, session.Succeeded)
		b.turn = b.head
		want := map[bool]stopgate.Code{true: ok, false: stopgate.CodeSessionPolicyDenied}[n <= 64]
		for range n {
			b.run("mail", `{}`, session.Failed)
			b.run("pay", `{"amount":1}`, session.Failed)
			b.run("run", `{}`, session.Succeeded)
		}
		for tool, args := range map[string]string{"mail": `{}`, "pay": `{"amount":1}`, "run": `{}`} {
			b.expect(tool, args, want)
			if n == 60 { // 40 are left
				b.expect("pay", `{"amount":40}`, ok)
				b.expect("pay", `{"amount":41}`, stopgate.CodeSessionPolicyDenied)
			}
		}
		b.turn = 0
		for tool, args := range map[string]string{"mail": `{}`, "pay": `{"amount":100}`, "run": `{}`} {
			b.expect(tool, args, ok)
		}
	}
}

// Proves S23, S24, X13: within, invalidated_by, require_observed and accept_unknown of what
// a call needs before it.
func TestWhatCounts(t *testing.T) {
	b := newBook(t, policies.Require("deploy").After("test").Within(time.Minute).InvalidatedBy("edit").Observed())
	b.run("test", `{}`, session.Succeeded)
	b.now += 60_000
	b.expect("deploy", `{}`, ok)
	b.now++
	b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing)
	b.run("test", `{}`, session.Succeeded)
	b.now -= 100_000
	b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing) // a clock that went back proves nothing
	b.now += 100_000
	b.release("edit", `{}`)
	b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing)
	c := b.release("test", `{}`)
	b.add(session.Fact{Kind: session.Succeeded, Proposal: c.Proposal})
	b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing)
	loose := newBook(t, policies.Require("deploy").After("test").AcceptUnknown())
	loose.run("test", `{}`, session.Finished)
	loose.expect("deploy", `{}`, ok)
	keyed := newBook(t, policies.Require("deploy").After("test").Key("/env").InvalidatedBy("edit", "wipe"))
	for _, env := range []string{`{"env":1}`, `{"env":2}`} {
		keyed.run("test", env, session.Succeeded)
	}
	keyed.release("edit", `{"env":1}`)
	keyed.expect("deploy", `{"env":1}`, stopgate.CodePrerequisiteMissing)
	keyed.expect("deploy", `{"env":2}`, ok)
	keyed.release("wipe", `{}`)
	keyed.expect("deploy", `{"env":2}`, stopgate.CodePrerequisiteMissing)
}

// Proves Q15, S24, X13: within, require_observed, accept_unknown and content_hash of what
// was read.
func TestWhatCountsAsRead(t *testing.T) {
	write := func(b *book, code stopgate.Code) {
		t.Helper()
		if d := b.expect("write_file", `{"path":"a"}`, code); code != ok && d.Meta["tool"] != "write_file" {
			t.Errorf("%+v", d)
		}
	}
	b := newBook(t, policies.ReadBeforeWrite().Within(time.Minute).Observed())
	b.run("read_file", `{"path":"a"}`, session.Succeeded)
	b.now += 60_000
	write(b, ok)
	b.now++
	write(b, stopgate.CodeReadRequired)
	b.now -= 100_000
	write(b, stopgate.CodeReadRequired) // a clock that went back proves nothing
	unseen := newBook(t, policies.ReadBeforeWrite().Observed())
	c := unseen.release("read_file", `{"path":"a"}`)
	unseen.add(session.Fact{Kind: session.Succeeded, Proposal: c.Proposal})
	write(unseen, stopgate.CodeReadRequired)
	for accepts, p := range map[bool]*policies.Files{false: policies.ReadBeforeWrite(), true: policies.ReadBeforeWrite().AcceptUnknown()} {
		b := newBook(t, p)
		b.run("read_file", `{"path":"a"}`, session.Finished)
		write(b, map[bool]stopgate.Code{false: stopgate.CodeReadRequired, true: ok}[accepts])
	}
	hashed := newBook(t, policies.ReadBeforeWrite().ContentHash("/was"))
	hashed.run("read_file", `{"path":"a"}`, session.Succeeded) // its content has the hash "hread_file"
	for was, code := range map[string]stopgate.Code{"hread_file": ok, "HREAD_FILE": ok, "other": stopgate.CodeReadRequired, "": stopgate.CodeReadRequired} {
		hashed.expect("write_file", `{"path":"a","was":"`+was+`"}`, code)
	}
	write(hashed, stopgate.CodeReadRequired)
}

// Proves TPS-39: an approval in the session, given by name or by approving a call.
func TestApprovals(t *testing.T) {
	b := newBook(t, policies.Require("drop_table").Approved("plan"))
	if d := b.expect("drop_table", `{}`, stopgate.CodePrerequisiteMissing); !slices.Equal(d.Missing, []string{"approval of plan"}) ||
		d.Public != "Ask the user for the approval named plan." {
		t.Errorf("%+v", d)
	}
	both := newBook(t, policies.Require("drop_table").After("backup").Approved("plan"))
	if d := both.expect("drop_table", `{}`, stopgate.CodePrerequisiteMissing); d.Public != "Call backup first; it must have succeeded; and ask the user for the approval named plan." {
		t.Errorf("%+v", d)
	}
	b.add(session.Fact{Kind: session.Approved, Name: "other"})
	b.expect("drop_table", `{}`, stopgate.CodePrerequisiteMissing)
	b.add(session.Fact{Kind: session.Approved, Name: "plan", By: "ann"})
	b.expect("drop_table", `{}`, ok)
}

// Proves S44: counts, sums, windows and calls in flight.
func TestLimits(t *testing.T) {
	b := newBook(t, policies.Limit("mail").Calls(2).Within(time.Minute))
	b.release("mail", `{}`)
	b.expect("mail", `{}`, ok)
	b.run("mail", `{}`, session.Succeeded)
	if d := b.expect("mail", `{}`, stopgate.CodeSessionPolicyDenied); d.Meta["calls"] != "2" || d.Meta["max"] != "2" || !strings.Contains(d.Public, "within 1m ") {
		t.Errorf("%+v", d)
	}
	b.now += 60_000
	b.expect("mail", `{}`, stopgate.CodeSessionPolicyDenied)
	b.now += 2_000 // a window is at most one step longer
	b.expect("mail", `{}`, ok)
	b.now -= 62_000
	b.expect("mail", `{}`, stopgate.CodeSessionPolicyDenied)

	b = newBook(t, policies.Limit("pay", "refund").Sum("/amount", "100").Named("money"))
	b.run("pay", `{"amount":60.5}`, session.Succeeded)
	b.expect("refund", `{"amount":39.5}`, ok)
	if d := b.expect("refund", `{"amount":39.500000001}`, stopgate.CodeSessionPolicyDenied); d.Meta["sum"] != "60.5" || d.Meta["max_sum"] != "100" {
		t.Errorf("%+v", d)
	}
	b.run("pay", `{"amount":39.5}`, session.Failed)
	b.expect("pay", `{"amount":39.5}`, ok)
	b.expect("pay", `{"amount":1e400}`, stopgate.CodeSessionPolicyDenied)

	// Of two limits in one the sentence names the one that holds the call back.
	b = newBook(t, policies.Limit("pay").Calls(1).Sum("/amount", "100"))
	if d := b.expect("pay", `{"amount":101}`, stopgate.CodeSessionPolicyDenied); !strings.Contains(d.Public, "100 in all") {
		t.Errorf("%+v", d)
	}
	b.run("pay", `{"amount":1}`, session.Succeeded)
	if d := b.expect("pay", `{"amount":1}`, stopgate.CodeSessionPolicyDenied); !strings.Contains(d.Public, "1 call ") {
		t.Errorf("%+v", d)
	}

	b = newBook(t, policies.Limit("run_*").InFlight(2).TTL(time.Minute))
	c := b.release("run_a", `{}`)
	b.release("run_b", `{}`)
	b.expect("run_c", `{}`, stopgate.CodeSessionPolicyDenied)
	b.add(session.Fact{Kind: session.Failed, Proposal: c.Proposal})
	b.expect("run_c", `{}`, ok)
	b.release("run_c", `{}`)
	b.now += 60_000
	b.expect("run_d", `{}`, ok)

	b = newBook(t, policies.Limit("push").Calls(1).Key("/repo").CountFailures())
	b.run("push", `{"repo":"a"}`, session.Failed)
	b.expect("push", `{"repo":"a"}`, stopgate.CodeSessionPolicyDenied)
	b.expect("push", `{"repo":"b"}`, ok)
}

// Proves TPS-27, H11: an inactive policy has no objection and learns all the same; a
// predicate that fails counts as active.
func TestConditional(t *testing.T) {
	strict := false
	var broken bool
	p := session.Conditional(policies.Require("deploy").After("test").Named("x"), func(session.View) bool {
		if broken {
			panic("no")
		}
		return strict
	})
	b := newBook(t, p, policies.Limit("deploy").Calls(5))
	if p.Name() != "conditional:x" {
		t.Error(p.Name())
	}
	b.expect("deploy", `{}`, ok)
	b.run("test", `{}`, session.Succeeded)
	strict = true
	b.expect("deploy", `{}`, ok)
	b = newBook(t, p)
	b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing)
	strict, broken = false, true
	b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing)
}

// `when` speaks the language of conditions, over the session's data.
func TestWhen(t *testing.T) {
	spec := kinds.Table().Spec(condition.Const, condition.Literal{Kind: condition.LiteralString, Text: "strict", JSON: `"strict"`})
	test, err := eval.NewDataTest(syntax.SessionCondition{Pointer: jsonstream.Pointer{"mode"}, Spec: spec}, true, condition.Env{})
	if err != nil {
		t.Fatal(err)
	}
	w := session.NewWhen(func(data jsonstream.Value) bool { holds, _ := test.Holds(data); return holds })
	b := newBook(t, session.InCase(policies.Require("deploy").After("test").Named("x"), w))
	for data, code := range map[string]stopgate.Code{
		``: ok, `{"mode":"loose"}`: ok, `{"mode":1}`: ok, `{"mode":"strict"}`: stopgate.CodePrerequisiteMissing,
		`{"mode":["a","strict"]}`: stopgate.CodePrerequisiteMissing, `broken`: stopgate.CodePrerequisiteMissing,
	} {
		b.add(session.Fact{Kind: session.DataReplaced, Text: data})
		b.expect("deploy", `{}`, code)
	}
}

// Proves TPS-40, Q18: middleware sees every decision and can only tighten.
func TestMiddleware(t *testing.T) {
	var seen []string
	logged := session.Tighten(func(_ session.View, c session.Call, d session.Decision) session.Decision {
		seen = append(seen, string(c.Tool)+" "+string(d.Code))
		return session.Allow() // an attempt to loosen
	})
	closed := session.Tighten(func(_ session.View, c session.Call, d session.Decision) session.Decision {
		if c.Tool == "test" {
			return session.Deny("closed", "")
		}
		return d
	})
	b := newBook(t, session.Wrap(policies.Require("deploy").After("test").Named("x"), logged, closed))
	b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing)
	b.expect("test", `{}`, "closed") // whatever the outer one says
	b.run("test", `{}`, session.Succeeded)
	b.expect("deploy", `{}`, ok)
	if len(seen) != 3 || seen[0] != "deploy prerequisite_missing" {
		t.Error(seen)
	}
}

// Proves TPS-06, TPS-10, TPS-11, TPS-12, TPS-28, TPS-31, H10, S37: the registry.
func TestRegistry(t *testing.T) {
	var changes []string
	r := session.NewRegistry()
	r.Watch(func(c string, _ *session.Set) { changes = append(changes, c) })
	a, b := policies.Require("deploy").After("test").Named("a"), policies.Require("deploy").After("build").Named("b")
	for _, p := range []session.Policy{a, b} {
		if err := r.Register(p); err != nil {
			t.Fatal(err)
		}
	}
	for name, bad := range map[string]session.Policy{
		"taken": policies.Require("x").After("y").Named("a"), "no tools": policies.Require().After("y"), "empty name": policies.Require("").After("x"),
		"nothing": policies.Require("x"), "no name": policies.Require("x").After("y").Named(""), "nil": nil, "glob": policies.Require("[").After("y"),
		"pointer": policies.Require("x").After("y").Key("z"), "limit": policies.Limit("x"), "window": policies.Limit("x").Calls(1).Within(1),
		"in flight": policies.Limit("x").InFlight(5000), "sum": policies.Limit("x").Sum("/a", "-1"), "reads": policies.ReadBeforeWrite().Reads(),
		"writes": policies.ReadBeforeWrite().Writes(), "hash": policies.ReadBeforeWrite().ContentHash("x"), "one glob": policies.Require("x", "[").After("y"),
		"key before a hash": policies.ReadBeforeWrite().Key("z").ContentHash("/h"),
	} {
		if r.Register(bad) == nil {
			t.Errorf("%s was registered", name)
		}
	}
	old := r.Set()
	if got := r.PoliciesFor("deploy"); len(got) != 2 || got[0].Name() != "a" || len(r.PoliciesFor("other")) != 0 {
		t.Errorf("policies %v", got)
	}
	c := session.Call{Tool: "deploy"}
	v := session.View{Owner: session.Owner{Session: "s"}}
	primary, all := r.CheckAll(v, c)
	if primary.Policy != "a" || len(all) != 2 || all[1].Policy != "b" {
		t.Errorf("%+v", all)
	}
	if !r.Enable("a", false) || r.Set().Enabled("a") || r.Enable("nobody", true) {
		t.Error("enable")
	}
	if primary, all = r.CheckAll(v, c); primary.Policy != "b" || len(all) != 1 {
		t.Errorf("%+v", all)
	}
	if !r.Unregister("b") || r.Unregister("b") {
		t.Error("unregister")
	}
	if primary, _ = r.CheckAll(v, c); !primary.Allowed {
		t.Errorf("%+v", primary)
	}
	if primary, _ = old.CheckAll(v, c); primary.Policy != "a" || old.Len() != 2 || len(old.All()) != 2 {
		t.Error("a set changed")
	}
	if want := []string{"register a", "register b", "disable a", "unregister b"}; !slices.Equal(changes, want) {
		t.Error(changes)
	}
	ctx := session.NewContext(t.Context(), session.Here{Policies: r.Set()})
	if session.FromContext(ctx).Policies.Len() != 1 || session.FromContext(t.Context()).Policies.Len() != 0 {
		t.Error("the policies are not found in the context")
	}
	for _, ctx := range []context.Context{ctx, t.Context()} { // nobody knows the state there
		if d, _, err := session.FromContext(ctx).Check(ctx, c); d.Allowed || !errors.Is(err, session.ErrNoSession) {
			t.Errorf("%+v %v", d, err)
		}
	}
}

// Proves H6, TPS-04: a call of no session satisfies nobody's prerequisites.
func TestNoSession(t *testing.T) {
	b := newBook(t, policies.Require("deploy").After("test"), policies.ReadBeforeWrite(), policies.Limit("mail").Calls(1).InSession())
	b.run("test", `{}`, session.Succeeded)
	for tool, args := range map[string]string{"deploy": `{}`, "write_file": `{"path":"a"}`, "mail": `{}`} {
		c := b.call(tool, args)
		v := b.view(c)
		v.Owner.Session = ""
		if d, _ := b.reg.CheckAll(v, c); d.Allowed || d.Code != stopgate.CodeKeyUnavailable {
			t.Errorf("%s: %+v", tool, d)
		}
	}
}
