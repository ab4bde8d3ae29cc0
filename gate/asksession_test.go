package gate_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// askingFile is sessionFile with policies that ask.
var askingFile = strings.NewReplacer(
	`type = "require"`, "type = \"require\"\nmode = \"ask\"", `type = "read_before_write"`, "type = \"read_before_write\"\nmode = \"ask\"",
	`type = "limit"`, "type = \"limit\"\nmode = \"ask\"", "max_calls = 1\n", "max_calls = 1\nwithin = \"1h\"\n[[session]]\ntype = \"limit\"\nname = \"never\"\ntools = \"other\"\nmax_calls = 0\n",
).Replace(sessionFile)

// person answers questions and remembers them.
type person struct {
	answer func(gate.View) gate.Answer
	asked  []gate.View
}

func (*person) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true, CanEdit: true}
}

func (p *person) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	v, err := q.Complete(ctx)
	p.asked = append(p.asked, v)
	return p.answer(v), err
}

func yes(v gate.View) gate.Answer { return v.Approve("ann") }
func no(v gate.View) gate.Answer  { return v.Decline("ann") }

// missing returns what the person was shown in the questions since the last call.
func (p *person) missing() (texts []string) {
	for _, v := range p.asked {
		texts = append(texts, strings.Join(v.Missing, "; "))
	}
	p.asked = nil
	return texts
}

func askingBench(t *testing.T, opts ...gate.Option) *bench {
	t.Helper()
	b := &bench{t: t, store: &ports.Store{Memory: true}, rec: new(ports.Recorder)}
	b.g = fileGate(t, askingFile, append([]gate.Option{gate.WithStore(b.store), gate.WithRecorder(b.rec)}, opts...)...)
	return b
}

const (
	unreadText = "a was not read in this session"
	untested   = "test did not succeed in this session"
	limitText  = "the limit is reached: 1 call within 1h"
)

// A session policy with mode ask asks a person, who is shown what is missing. A yes allows this
// one call and is in its row; without an approver the call is denied, and the model is told what
// would satisfy the policy.
func TestSessionPoliciesAsk(t *testing.T) {
	for _, c := range []struct {
		before, tool, args string
		code               stopgate.Code
		missing, public    string
	}{
		{"", "deploy", `{}`, stopgate.CodePrerequisiteMissing, untested, "Call test first; it must have succeeded."},
		{"", "write", `{"path":"a"}`, stopgate.CodeReadRequired, unreadText, "Read this file first, with read."},
		{"mail", "mail", `{}`, stopgate.CodeSessionPolicyDenied, limitText, "The limit of 1 call within 1h would be exceeded; try again later."},
	} {
		begin := func(opts ...gate.Option) *bench {
			b := askingBench(t, opts...)
			if c.before != "" {
				b.run(stopgate.ToolName(c.before), c.args, "{}")
			}
			return b
		}
		tool := stopgate.ToolName(c.tool)
		if out := begin().expect(tool, c.args, stopgate.CodeNoApprover); !strings.HasSuffix(out.Verdict.Public, c.public) {
			t.Errorf("%s: %q", c.tool, out.Verdict.Public)
		}
		begin(gate.WithApprover(&person{answer: no})).expect(tool, c.args, stopgate.CodeApprovalDeclined)
		p := &person{answer: yes}
		b := begin(gate.WithApprover(p))
		for range 2 { // a yes allows one call
			out := b.decide(tool, c.args)
			if got := p.missing(); !out.Allowed() || out.Approval == nil || out.Verdict.Mode != stopgate.Ask || !slices.Equal(got, []string{c.missing}) {
				t.Errorf("%s: %+v, shown %q", c.tool, out, got)
			}
			rows := b.rec.Decisions()
			row := rows[len(rows)-1]
			if row.Status != stopgate.StatusAllowed || *row.Mode != stopgate.Ask || row.Layer != stopgate.LayerSession || row.Code != c.code ||
				row.Approval == nil || row.Approval.By != "ann" || len(row.Objections) != 1 || !strings.HasSuffix(row.Objections[0], string(c.code)) {
				t.Errorf("%s: row %+v", c.tool, row)
			}
		}
	}
}

// What is satisfied is not asked about, a call without its key is denied, and where another
// policy denies nobody is asked.
func TestSessionPoliciesAskOnlyWhereTheyObject(t *testing.T) {
	p := &person{answer: yes}
	b := askingBench(t, gate.WithApprover(p))
	b.run("read", `{"path":"a"}`, "{}")
	b.run("test", `{}`, `{"exit":0}`)
	b.expect("write", `{"path":"a"}`, "")
	b.expect("deploy", `{}`, "")
	b.expect("write", `{}`, stopgate.CodeKeyUnavailable)
	b.expect("other", `{}`, stopgate.CodeSessionPolicyDenied)
	if got := p.missing(); got != nil {
		t.Errorf("asked about %q", got)
	}
	pending := b.g.Turn(sessionS, "t")
	if out := decideAll(t, b.g, pending, []string{"read", "write"}, `{"path":"b"}`); out[1].Verdict.Code != stopgate.CodePrerequisitePending {
		t.Errorf("a read that is under way: %v", out[1].Verdict)
	}
}

// decideAll decides calls of one turn together.
func decideAll(t *testing.T, g *gate.Gate, turn *gate.Turn, tools []string, args string) []stopgate.Outcome {
	t.Helper()
	var calls []*gate.Pending
	for _, tool := range tools {
		p, err := turn.Open(ctx, stopgate.Call{Tool: stopgate.ToolName(tool)})
		if err != nil {
			t.Fatal(err)
		}
		p.Feed([]byte(args))
		p.Close(stopgate.Ended)
		calls = append(calls, p)
	}
	return g.ResolveAll(ctx, calls)
}

// A limit that the calls of one turn reach together asks about each call beyond it, in the step
// that releases it; a no, or an edit, is an answer there as anywhere. Calls over the limit count.
func TestSessionPoliciesAskInTheStepOfTheRelease(t *testing.T) {
	edit := func(v gate.View) gate.Answer { return v.Edit("ann", []byte(`{"to":"bob"}`)) }
	for name, c := range map[string]struct {
		answer func(gate.View) gate.Answer
		codes  string
		args   string
	}{
		"yes":      {yes, "allowed allowed allowed", `{}`},
		"no":       {no, "allowed approval_declined approval_declined", ""},
		"edit":     {edit, "allowed allowed allowed", `{"to":"bob"}`},
		"nobody":   {nil, "allowed no_approver no_approver", ""},
		"no words": {func(gate.View) gate.Answer { return gate.Answer{} }, "allowed invalid_policy_result invalid_policy_result", ""},
	} {
		var opts []gate.Option
		p := &person{answer: c.answer}
		if c.answer != nil {
			opts = append(opts, gate.WithApprover(p))
		}
		b := askingBench(t, opts...)
		outs := decideAll(t, b.g, b.g.Turn(sessionS, "t"), []string{"mail", "mail", "mail"}, `{}`)
		var codes []string
		for _, out := range outs {
			if out.Allowed() {
				codes = append(codes, "allowed")
			} else {
				codes = append(codes, string(out.Verdict.Code))
			}
		}
		if got := strings.Join(codes, " "); got != c.codes {
			t.Errorf("%s: %s, want %s", name, got, c.codes)
		}
		if got := string(outs[2].Args); got != c.args {
			t.Errorf("%s: %s runs, want %s", name, got, c.args)
		}
		if got, want := p.missing(), []string{limitText, limitText}; c.answer != nil && !slices.Equal(got, want) {
			t.Errorf("%s: shown %q", name, got)
		}
		released := 0
		for _, kind := range b.store.Kinds(sessionS) {
			if kind == session.Released {
				released++
			}
		}
		if want := strings.Count(c.codes, "allowed"); released != want {
			t.Errorf("%s: %d releases, want %d", name, released, want)
		}
	}
}

// While a person is asked in the step of the release, the gate may be locked and the policy may
// change. That holds for the calls of the turn that are released after it, too.
func TestCallsAfterAQuestionInTheStepOfTheRelease(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*bench) error
		codes     [3]stopgate.Code
	}{
		"a lockdown": {func(b *bench) error { return b.g.Order(ctx, mem.New(), stop, "ann") }, [3]stopgate.Code{"", stopgate.CodeLockdown, stopgate.CodeLockdown}},
		"another policy": {func(b *bench) error {
			return b.g.Swap(compile(t, strings.Replace(askingFile, "[tools.read]\npolicy.run = \"unattended\"", "[tools.read]\npolicy.run = \"deny\"", 1)))
		},
			[3]stopgate.Code{"", "", stopgate.CodeRuleMatched}},
		"nothing": {func(*bench) error { return nil }, [3]stopgate.Code{}},
	} {
		var b *bench
		p := &person{answer: func(v gate.View) gate.Answer {
			if err := c.meanwhile(b); err != nil {
				t.Error(err)
			}
			return yes(v)
		}}
		b = askingBench(t, gate.WithApprover(p))
		for i, out := range decideAll(t, b.g, b.g.Turn(sessionS, "t"), []string{"mail", "mail", "read"}, `{}`) {
			if want := c.codes[i]; out.Allowed() != (want == "") || want != "" && out.Verdict.Code != want {
				t.Errorf("%s: call %d is %v %s, want %q", name, i, out.Status, out.Verdict.Code, want)
			}
		}
	}
}

// A call that was opened before the policy changed may touch only the files that both permit.
func TestAccessOfThePolicyInForce(t *testing.T) {
	var b *bench
	b = askingBench(t, gate.WithApprover(&person{answer: func(v gate.View) gate.Answer {
		if err := b.g.Swap(compile(t, strings.Replace(askingFile, "[tools.mail]", "[tools.mail]\naccess = { read = [] }", 1))); err != nil {
			t.Error(err)
		}
		return yes(v)
	}}))
	outs := decideAll(t, b.g, b.g.Turn(sessionS, "t"), []string{"mail", "mail"}, `{}`)
	if outs[0].Access != nil || !outs[1].Allowed() || outs[1].Access == nil || outs[1].Access.MayRead("/x") {
		t.Errorf("%+v", outs)
	}
}

// An approval allows the objections that its question showed, and no others: not those that come
// up while the person decides, nor those of the call that it was edited into.
func TestSessionApprovalsFitTheirQuestion(t *testing.T) {
	var b *bench
	other := func(tool stopgate.ToolName, args string) func(gate.View) gate.Answer {
		asked := false
		return func(v gate.View) gate.Answer {
			if !asked { // the call in the question's time asks too
				asked = true
				b.decide(tool, args)
			}
			return v.Approve("ann")
		}
	}
	edit := func(args string) func(gate.View) gate.Answer {
		return func(v gate.View) gate.Answer { return v.Edit("ann", []byte(args)) }
	}
	unbound := func(v gate.View) gate.Answer {
		a := v.Approve("ann")
		a.Binding.Objections = ""
		return a
	}
	const more = "[[session]]\ntype = \"limit\"\nname = \"once\"\ntools = \"deploy\"\nmax_calls = 1\nmode = \"ask\"\n"
	for name, c := range map[string]struct {
		tool, args string
		answer     func(gate.View) gate.Answer
		code       stopgate.Code
	}{
		"another objection meanwhile": {"deploy", `{}`, other("deploy", `{}`), stopgate.CodeApprovalStale},
		"the same one":                {"write", `{"path":"a"}`, other("write", `{"path":"b"}`), ""},
		"edited, the same file":       {"write", `{"path":"a"}`, edit(`{"path":"./a","text":"x"}`), ""},
		"edited, another file":        {"write", `{"path":"a"}`, edit(`{"path":"b"}`), stopgate.CodeApprovalStale},
		"edited, without its key":     {"write", `{"path":"a"}`, edit(`{}`), stopgate.CodeKeyUnavailable},
		"an answer to another one":    {"write", `{"path":"a"}`, unbound, stopgate.CodeApprovalStale},
	} {
		b = askingBench(t)
		b.g = fileGate(t, askingFile+more, gate.WithStore(b.store), gate.WithApprover(&person{answer: c.answer}))
		out := b.decide(stopgate.ToolName(c.tool), c.args)
		if code := out.Verdict.Code; out.Allowed() != (c.code == "") || c.code != "" && code != c.code {
			t.Errorf("%s: %v %s, want %q", name, out.Status, code, c.code)
		}
	}
}

// A policy without a key that asks does not end a call before its arguments, and an approval that
// was given before they were complete is asked for again with what is missing.
func TestSessionPoliciesAskAboutCompleteCalls(t *testing.T) {
	p := &person{answer: yes}
	b := &bench{t: t, store: &ports.Store{Memory: true}, rec: new(ports.Recorder)}
	b.g = fileGate(t, strings.Replace(askingFile, "[tools.deploy]\npolicy.run = \"unattended\"", "[tools.deploy]\npolicy.run = \"ask\"", 1),
		gate.WithStore(b.store), gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
			v, _ := q.View()
			p.asked = append(p.asked, v)
			return v.Approve("ann"), nil
		})))
	call, err := b.g.Open(ctx, stopgate.Call{Tool: "deploy", Session: sessionS.Session, Principal: sessionS.Principal})
	if err != nil {
		t.Fatal(err)
	}
	if err := call.Ask(ctx); err != nil {
		t.Fatal(err)
	}
	call.AwaitAnswer()
	call.Feed([]byte(`{}`))
	if v := call.Close(stopgate.Ended); v.Terminal() {
		t.Fatal(v)
	}
	out, _ := call.Resolve(ctx)
	if got := p.missing(); !out.Allowed() || !slices.Equal(got, []string{"", untested}) {
		t.Errorf("%+v, shown %q", out, got)
	}
}
