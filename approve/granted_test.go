package approve_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/session"
)

// Proves I16, S34, FM13: a grant answers if everything that it names is equal, and not if anything
// differs.
func TestGrantConditions(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	type m = map[string]func(*approve.Grant, *gate.View)
	leaf := func(f func(*gate.Leaf)) func(*approve.Grant, *gate.View) {
		return func(_ *approve.Grant, v *gate.View) { f(&v.Leaves[0]) }
	}
	holds := m{
		"as it was":                     func(*approve.Grant, *gate.View) {},
		"other content":                 func(_ *approve.Grant, v *gate.View) { v.Leaves[1].JSON = `"other"` },
		"another policy":                func(_ *approve.Grant, v *gate.View) { v.Binding.Policy = "other" },
		"all sessions":                  func(g *approve.Grant, v *gate.View) { g.Session, v.Binding.Session = "", "s2" },
		"its own floor":                 func(g *approve.Grant, v *gate.View) { own(g, v, stopgate.CodeControlCharacter) },
		"the last use":                  func(g *approve.Grant, v *gate.View) { g.Limit, g.Uses = 3, 2 },
		"a clock that is a little slow": func(g *approve.Grant, _ *gate.View) { g.Made = now.Add(30 * time.Second) },
	}
	not := m{
		"cut":                func(_ *approve.Grant, v *gate.View) { v.Complete = false },
		"edit":               func(_ *approve.Grant, v *gate.View) { v.Verdict.Mode = stopgate.Edit },
		"deny":               func(_ *approve.Grant, v *gate.View) { v.Verdict.Mode = stopgate.Deny },
		"another code":       func(_ *approve.Grant, v *gate.View) { v.Verdict.Code = stopgate.CodeNoRuleMatched },
		"another rule":       func(_ *approve.Grant, v *gate.View) { v.Verdict.Rule = &stopgate.RuleRef{ID: "r2"} },
		"a rule without id":  func(g *approve.Grant, v *gate.View) { g.Rule, v.Verdict.Rule = "", nil },
		"another person":     func(_ *approve.Grant, v *gate.View) { v.Binding.Principal = "eve" },
		"another session":    func(_ *approve.Grant, v *gate.View) { v.Binding.Session = "s2" },
		"no session":         func(g *approve.Grant, v *gate.View) { g.Session, v.Binding.Session = "", "" },
		"another tool":       func(_ *approve.Grant, v *gate.View) { v.Binding.Tool = "other" },
		"another definition": func(_ *approve.Grant, v *gate.View) { v.Binding.Definition = "other" },
		"another server":     func(_ *approve.Grant, v *gate.View) { v.Binding.Server = "other" },
		"a result":           func(_ *approve.Grant, v *gate.View) { v.Binding.Result = "hash" },
		"another floor": func(_ *approve.Grant, v *gate.View) {
			v.Verdict.Floors = []stopgate.Floor{{Code: stopgate.CodeUnknownParameter}}
		},
		"the protected list":           func(g *approve.Grant, v *gate.View) { own(g, v, stopgate.CodeProtectedTarget) },
		"another reason too":           func(_ *approve.Grant, v *gate.View) { v.Asking = append(v.Asking, "r2") },
		"a value less":                 func(_ *approve.Grant, v *gate.View) { v.Leaves = v.Leaves[:1] },
		"a value more":                 func(_ *approve.Grant, v *gate.View) { v.Leaves = append(v.Leaves, gate.Leaf{Pointer: "/c", JSON: "1"}) },
		"another name":                 leaf(func(l *gate.Leaf) { l.Pointer = "/other" }),
		"another value":                leaf(func(l *gate.Leaf) { l.JSON = `"b"` }),
		"content that nobody declared": func(_ *approve.Grant, v *gate.View) { v.Leaves[1].Known = false },
		"content that is a path":       func(_ *approve.Grant, v *gate.View) { v.Leaves[1].Type = "path" },
		"content that is no text":      func(_ *approve.Grant, v *gate.View) { v.Leaves[1].JSON = "1" },
		"no way at all":                func(g *approve.Grant, _ *gate.View) { g.Values[0].How = "" },
		"below, of what is no path":    func(g *approve.Grant, _ *gate.View) { g.Values[0].How, g.Values[0].Text = approve.Below, "a" },
		"words, of what is no command": func(g *approve.Grant, _ *gate.View) { g.Values[0].How, g.Values[0].Text = approve.Words, "a" },
		"its time is over":             func(g *approve.Grant, _ *gate.View) { g.Expires = now },
		"it was revoked":               func(g *approve.Grant, _ *gate.View) { g.Revoked = now },
		"it was used up":               func(g *approve.Grant, _ *gate.View) { g.Limit, g.Uses = 3, 3 },
		"it was made after now":        func(g *approve.Grant, _ *gate.View) { g.Made = now.Add(2 * time.Minute) },
	}
	for want, cases := range map[bool]m{true: holds, false: not} {
		for name, change := range cases {
			g := approve.Grant{
				ID: "g", Principal: "anna", Session: "s1", Tool: "write", Definition: "d", Server: "srv", Code: stopgate.CodeRuleMatched, Rule: "r1",
				Asking: []string{"r1"}, Values: []approve.Value{{Pointer: "/a", How: approve.Equal, Text: `"a"`}, {Pointer: "/b", How: approve.Free}},
				By: "bob", Made: now.Add(-time.Hour), Expires: now.Add(time.Hour),
			}
			v := gate.View{
				Proposal: "p", Complete: true, Asking: []string{"r1"},
				Verdict: stopgate.Verdict{Decided: true, Mode: stopgate.Ask, Code: stopgate.CodeRuleMatched, Rule: &stopgate.RuleRef{ID: "r1"}},
				Binding: gate.Binding{Args: "h", Tool: "write", Definition: "d", Server: "srv", Session: "s1", Principal: "anna"},
				Leaves:  []gate.Leaf{{Pointer: "/a", JSON: `"a"`}, {Pointer: "/b", Known: true, JSON: `"x"`}},
			}
			change(&g, &v)
			q, err := approve.New(every{new(mem.Approvals)}, approve.Options{Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			if err := q.Keep(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			if a, ok, err := q.Granted(t.Context(), v); ok != want || err != nil || ok && (a.Kind != gate.Approved || a.By != "bob") {
				t.Errorf("%s: %t, want %t (%v)", name, ok, want, err)
			}
		}
	}
}

// Proves S34, S35, K2: questions without a possible grant, and the lifetime of grants.
func TestOffer(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		by     string
		change func(*gate.View)
		scope  approve.Scope
		want   error
	}{
		"a call":           {by: "bob"},
		"for nobody":       {want: approve.ErrNoName},
		"cut":              {by: "bob", change: func(v *gate.View) { v.Complete = false }, want: approve.ErrIncomplete},
		"of no session":    {by: "bob", change: func(v *gate.View) { v.Call.Session = "" }, scope: approve.Scope{AllSessions: true}, want: approve.ErrNoGrant},
		"of a guess":       {by: "bob", change: func(v *gate.View) { v.Call.Session = session.WeakID("x") }, want: approve.ErrNoGrant},
		"an edit":          {by: "bob", change: func(v *gate.View) { v.Verdict.Mode = stopgate.Edit }, want: approve.ErrNoGrant},
		"a result":         {by: "bob", change: func(v *gate.View) { v.Binding.Result = "hash" }, want: approve.ErrNoGrant},
		"a protected file": {by: "bob", change: func(v *gate.View) { v.Verdict.Code = stopgate.CodeProtectedTarget }, want: approve.ErrNoGrant},
		"a floor besides": {by: "bob", change: func(v *gate.View) {
			v.Verdict.Floors = []stopgate.Floor{{Code: stopgate.CodeUnknownParameter}}
		}, want: approve.ErrNoGrant},
		"words of what is no command": {by: "bob", scope: approve.Scope{Wider: []approve.Value{{Pointer: "/a", How: approve.Words, Text: "a"}}}, want: approve.ErrNoGrant},
	} {
		v := gate.View{
			Call: stopgate.Call{Tool: "t", Session: "s1"}, Complete: true, Leaves: []gate.Leaf{{Pointer: "/a", JSON: `"a"`}},
			Verdict: stopgate.Verdict{Decided: true, Mode: stopgate.Ask, Code: stopgate.CodeRuleMatched, Rule: &stopgate.RuleRef{ID: "r1"}},
		}
		if c.change != nil {
			c.change(&v)
		}
		g, err := approve.Offer(v, c.scope, c.by, now)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if err == nil && (g.Session != "s1" || g.Rule != "r1" || !g.Made.Equal(now) || !g.Expires.Equal(now.Add(8*time.Hour))) {
			t.Errorf("%s: %+v", name, g)
		}
	}
	v := gate.View{Call: stopgate.Call{Session: "s1"}, Complete: true, Verdict: stopgate.Verdict{Mode: stopgate.Ask}}
	if g, err := approve.Offer(v, approve.Scope{For: time.Minute, AllSessions: true}, "bob", now); err != nil || g.Session != "" || !g.Expires.Equal(now.Add(time.Minute)) {
		t.Errorf("%+v %v", g, err)
	}
}

// own gives a grant and a question the same floor.
func own(g *approve.Grant, v *gate.View, code stopgate.Code) {
	g.Code, g.Rule, g.Asking = code, "", []string{string(code)}
	v.Verdict.Code, v.Verdict.Rule, v.Asking = code, nil, g.Asking
	v.Verdict.Floors = []stopgate.Floor{{Code: code}}
}

// every is a store that does not filter grants: whether a grant covers a call is not decided by the
// store.
type every struct{ *mem.Approvals }

func (s every) Grants(ctx context.Context, _ approve.GrantFilter) ([]approve.Grant, error) {
	return s.Approvals.Grants(ctx, approve.GrantFilter{})
}

const looked = `
version = 1
[tools.ping.policy]
run = "ask"
result = "ask"
[tools.pong]
parameters.n = { type = "integer" }
[tools.pong.policy]
run = [ { arg = "/n", const = 1, mode = "deny" } ]
result = [ { arg = "/n", const = 1, mode = "skip" } ]
`

// Proves S34, D25-43: a grant for calls releases no result, and an approved result approves no
// call.
func TestGrantsAreForCalls(t *testing.T) {
	for _, tool := range []string{"ping", "pong"} {
		synctest.Test(t, func(t *testing.T) {
			d := newFixture(t, new(mem.Approvals), quiet)
			d.gate = gateOf(t, d, program(t, looked))
			d.grant(call(tool, `{}`), approve.Scope{})
			out := <-d.decide(t.Context(), call(tool, `{}`))
			if !out.Allowed() {
				t.Fatal(out.Verdict)
			}
			told := make(chan bool, 1)
			go func() {
				got, err := d.gate.Observe(t.Context(), stopgate.Result{Proposal: out.Proposal, Call: "c", Session: "s1", Principal: "anna", Tool: stopgate.ToolName(tool), Data: []byte(`"secret"`)})
				told <- err == nil && got.Delivered()
			}()
			synctest.Wait()
			select {
			case delivered := <-told:
				t.Fatalf("%s: nobody was asked about the result; delivered %t", tool, delivered)
			default:
			}
			e := d.asked()
			if _, g, err := d.queue.Grant(t.Context(), e.ID, approve.Reply{By: "bob"}, approve.Scope{}); err == nil {
				t.Errorf("%s: a grant for a result: %+v", tool, g)
			}
			d.answer(e.ID, approve.Reply{})
			if <-told {
				t.Errorf("%s: a result that was declined was delivered", tool)
			}
		})
	}
}
