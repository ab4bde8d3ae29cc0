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
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// bad is a policy, an approver, a judge and a recorder that fails in one way.
type bad func(ctx context.Context) error

func (bad) Name() string { return "bad" }

func (b bad) Check(ctx context.Context, _ gate.Proposal) (gate.Decision, error) {
	return gate.Decision{}, b(ctx)
}

func (bad) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true}
}

func (b bad) Approve(ctx context.Context, _ *gate.Question) (gate.Answer, error) {
	return gate.Answer{}, b(ctx)
}

func (b bad) Judge(ctx context.Context, _ gate.Proposal) (gate.Opinion, error) {
	return gate.Opinion{}, b(ctx)
}

func (bad) Capabilities() gate.Capabilities { return gate.Capabilities{} }

func (b bad) Record(ctx context.Context, _ *stopgate.Record) error { return b(ctx) }

// badStore is a store that cannot be read.
type badStore struct{ gate.Store }

func (badStore) Capabilities() gate.Capabilities { return gate.Capabilities{} }

func (badStore) Load(context.Context, session.Owner, []session.Key) (session.State, error) {
	return session.State{}, errors.New("no route to the store")
}

func (badStore) Update(context.Context, session.Owner, []session.Key, func(session.State) (gate.Change, error)) error {
	return errors.New("no route to the store")
}

// Proves H17, I14: what code that the gate calls did wrong is told to the program that
// wrote it, in its own words, and to nobody else; who listens changes nothing.
func TestTrouble(t *testing.T) {
	const text = "version = 1\n[tools.free.policy]\nrun = \"unattended\"\n[tools.asked.policy]\nrun = \"ask\"\n" +
		"[[session]]\ntype = \"limit\"\ntools = [\"counted\"]\nmax_calls = 1\n[tools.counted.policy]\nrun = \"unattended\"\n"
	program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	fails := bad(func(context.Context) error { return errors.New("secret words") })
	panics := bad(func(context.Context) error { panic("secret words") })
	hangs := bad(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	silent := bad(func(context.Context) error { return nil })
	for name, c := range map[string]struct {
		tool stopgate.ToolName
		with gate.Option
		code stopgate.Code
		want string // of what is told, "" for nothing
	}{
		"policy fails":    {"free", gate.WithToolPolicies(fails), stopgate.CodePolicyError, "policy bad: secret words"},
		"policy panics":   {"free", gate.WithToolPolicies(panics), stopgate.CodePolicyError, "policy bad: panic: secret words\ngoroutine "},
		"policy hangs":    {"free", gate.WithToolPolicies(hangs), stopgate.CodePolicyTimeout, "policy bad: timeout"},
		"policy silent":   {"free", gate.WithToolPolicies(silent), stopgate.CodeInvalidPolicyResult, "policy bad: invalid decision: kind 0"},
		"approver fails":  {"asked", gate.WithApprover(fails), stopgate.CodeNoApprover, "approver: secret words"},
		"approver panics": {"asked", gate.WithApprover(panics), stopgate.CodeNoApprover, "approver: panic: secret words"},
		"approver silent": {"asked", gate.WithApprover(silent), stopgate.CodeInvalidPolicyResult, "approver: invalid answer"},
		"judge fails":     {"free", gate.WithJudge(fails, stopgate.Deny), stopgate.CodeJudgeUnavailable, "judge: secret words"},
		"recorder fails":  {"free", gate.WithRecorder(fails), stopgate.CodeAuditUnavailable, "recorder: secret words"},
		"recorder panics": {"free", gate.WithRecorder(panics), stopgate.CodeAuditUnavailable, "recorder: panic: secret words"},
		"store fails":     {"counted", gate.WithStore(badStore{mem.New()}), stopgate.CodeStoreUnavailable, "store: no route to the store"},
		"all is well":     {"free", gate.WithStore(mem.New()), stopgate.CodeRuleMatched, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var told []string
			var limits gate.Limits
			if name == "policy hangs" {
				limits.Policy = 5 * time.Millisecond
			}
			g, err := gate.New(program, c.with, gate.WithLimits(limits), gate.WithDenyMode(gate.DenyToolResult),
				gate.WithTrouble(func(w gate.Trouble) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, fmt.Sprint(w))
					panic("and so does the listener")
				}))
			if err != nil {
				t.Fatal(err)
			}
			out, err := g.Decide(t.Context(), stopgate.Call{Tool: c.tool, Session: "s", Args: []byte(`{}`)})
			if err != nil || out.Verdict.Code != c.code {
				t.Fatalf("%v %v, want %s", out.Verdict, err, c.code)
			}
			mu.Lock()
			defer mu.Unlock()
			switch all := strings.Join(told, "\n"); {
			case c.want == "" && all != "":
				t.Errorf("told: %s", all)
			case !strings.HasPrefix(all, c.want):
				t.Errorf("told %q, want %q", all, c.want)
			}
			if strings.Contains(fmt.Sprint(out.Envelope()), "secret") {
				t.Errorf("the model is told %v", out.Envelope())
			}
		})
	}
}

// Proves TPS-21, H10: a session policy in Go that can deny no tool of the policy files is reported,
// when the gate is made, when it is registered and when the files change; not where other
// tools may run too.
func TestIdleSessionPolicies(t *testing.T) {
	compile := func(text string) *policy.Program {
		p, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte("version = 1\n" + text), Trusted: true}}, policy.Options{})
		if p == nil {
			t.Fatal(mistakes)
		}
		return p
	}
	const files = "[tools.read_file.policy]\nrun = \"unattended\"\n"
	var told []string
	registry := session.NewRegistry()
	if err := registry.Register(policies.ReadBeforeWrite()); err != nil {
		t.Fatal(err)
	}
	expect := func(when string, want ...string) {
		t.Helper()
		if !slices.Equal(told, want) {
			t.Errorf("%s: told of %q, want %q", when, told, want)
		}
		told = nil
	}
	g, err := gate.New(compile(files), gate.WithSessionPolicies(registry), gate.WithTrouble(func(r gate.Trouble) {
		if !strings.Contains(r.Err.Error(), "governs no tool") {
			t.Error(r)
		}
		told = append(told, r.Who)
	}))
	if err != nil {
		t.Fatal(err)
	}
	expect("made", "session policy read_before_write")
	for _, p := range []session.Policy{policies.Limit("read_*").Calls(1), policies.Require("deplyo").After("read_file")} {
		if err := registry.Register(p); err != nil {
			t.Fatal(err)
		}
	}
	expect("registered", "session policy read_before_write", "session policy read_before_write", "session policy require:deplyo")
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a writer":      {files + "[tools.write_file.policy]\nrun = \"ask\"\n", []string{"session policy require:deplyo"}},
		"tools by glob": {files + "[tools.\"mcp__*\".policy]\nrun = \"ask\"\n", nil},
		"other tools":   {files + "[gate]\nunknown_tool = \"ask\"\n", nil},
	} {
		if err := g.Swap(compile(c.text)); err != nil {
			t.Fatal(err)
		}
		expect(name, c.want...)
	}
}
