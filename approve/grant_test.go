package approve_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// grant proposes a call and answers it with a grant.
func (d *fixture) grant(c stopgate.Call, s approve.Scope) approve.Grant {
	d.t.Helper()
	done := d.decide(d.t.Context(), c)
	_, g, err := d.queue.Grant(d.t.Context(), d.asked().ID, approve.Reply{By: "bob"}, s)
	if err != nil {
		d.t.Fatal(err)
	}
	d.wants(done, "")
	return g
}

// asks reports whether a call needs an answer, and answers no.
func (d *fixture) asks(c stopgate.Call) bool {
	d.t.Helper()
	done := d.decide(d.t.Context(), c)
	for _, e := range d.waiting() {
		d.answer(e.ID, approve.Reply{})
		return !(<-done).Allowed()
	}
	return !(<-done).Allowed()
}

// Proves D25-49, Q25, S34: the calls that a grant covers; paths below a directory are those of rules.
func TestGrantsCover(t *testing.T) {
	long := strings.Repeat("x", 300)
	with := func(edit func(*stopgate.Call)) stopgate.Call {
		c := call("write", page)
		edit(&c)
		return c
	}
	for _, c := range []struct {
		name  string
		first stopgate.Call
		scope approve.Scope
		then  stopgate.Call
		asks  bool
	}{
		{"the same call", call("write", page), approve.Scope{}, call("write", page), false},
		{"the same values in another order", call("write", page), approve.Scope{}, call("write", `{"content":"x","path":"docs/a.md"}`), false},
		{"another path", call("write", page), approve.Scope{}, call("write", `{"path":"docs/b.md","content":"x"}`), true},
		{"another short value", call("write", page), approve.Scope{}, call("write", `{"path":"docs/a.md","content":"y"}`), true},
		{"other long content", call("write", `{"path":"docs/a.md","content":"`+long+`"}`), approve.Scope{}, call("write", page), false},
		{"one value less", call("write", page), approve.Scope{}, call("write", `{"path":"docs/a.md"}`), true},
		{"one value more", call("write", `{"path":"docs/a.md"}`), approve.Scope{}, call("write", page), true},
		{"another session", call("write", page), approve.Scope{}, with(func(c *stopgate.Call) { c.Session = "s2" }), true},
		{"another session of the same person", call("write", page), approve.Scope{AllSessions: true}, with(func(c *stopgate.Call) { c.Session = "s2" }), false},
		{"no session", call("write", page), approve.Scope{AllSessions: true}, with(func(c *stopgate.Call) { c.Session = "" }), true},
		{"another person", call("write", page), approve.Scope{AllSessions: true}, with(func(c *stopgate.Call) { c.Principal = "eve" }), true},
		{"another definition", call("write", page), approve.Scope{}, with(func(c *stopgate.Call) {
			c.Definition = &stopgate.ToolDefinition{Name: "write", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}}}`)}
		}), true},
		{"another rule", call("write", page), approve.Scope{Wider: []approve.Value{{Pointer: "/path", How: approve.Below, Text: "docs"}}}, call("write", `{"path":"lib/a","content":"x"}`), true},
		{"below the directory", call("write", page), approve.Scope{Wider: []approve.Value{{Pointer: "/path", How: approve.Below, Text: "docs"}}}, call("write", `{"path":"docs/x/y","content":"x"}`), false},
		{"beside the directory", call("write", page), approve.Scope{Wider: []approve.Value{{Pointer: "/path", How: approve.Below, Text: "docs"}}}, call("write", `{"path":"docs2/x","content":"x"}`), true},
		{"out of the directory", call("write", page), approve.Scope{Wider: []approve.Value{{Pointer: "/path", How: approve.Below, Text: "docs"}}}, call("write", `{"path":"docs/../lib/x","content":"x"}`), true},
		{"a denied path below the directory", call("write", page), approve.Scope{Wider: []approve.Value{{Pointer: "/path", How: approve.Below, Text: "docs"}}}, call("write", `{"path":"docs/.env","content":"x"}`), true},
		{"a floor", call("write", page), approve.Scope{}, call("write", "{\"path\":\"docs/a.md\",\"content\":\"x\",\"mode\":\"0777\"}"), true},
		{"the same command", call("run", `{"command":"git status -s"}`), approve.Scope{}, call("run", `{"command":"git status -s"}`), false},
		{"first words", call("run", `{"command":"git status -s"}`), approve.Scope{Wider: []approve.Value{{Pointer: "/command", How: approve.Words, Text: "git status"}}}, call("run", `{"command":"git status -b"}`), false},
		{"other first words", call("run", `{"command":"git status"}`), approve.Scope{Wider: []approve.Value{{Pointer: "/command", How: approve.Words, Text: "git status"}}}, call("run", `{"command":"git push"}`), true},
		{"first words of a vector", call("exec", `{"argv":["git","status","-s"]}`), approve.Scope{Wider: []approve.Value{{Pointer: "/argv", How: approve.Words, Text: "git status"}}}, call("exec", `{"argv":["git","status","a b"]}`), false},
		{"another vector", call("exec", `{"argv":["git","status"]}`), approve.Scope{Wider: []approve.Value{{Pointer: "/argv", How: approve.Words, Text: "git status"}}}, call("exec", `{"argv":["git","push"]}`), true},
		{"the same vector", call("exec", `{"argv":["git","push","`+long+`"]}`), approve.Scope{}, call("exec", `{"argv":["git","push","`+long+`"]}`), false},
		{"a long word of a vector", call("exec", `{"argv":["git","push","`+long+`"]}`), approve.Scope{}, call("exec", `{"argv":["git","push","`+long+`y"]}`), true},
		{"first words and another command", call("run", `{"command":"git status"}`), approve.Scope{Wider: []approve.Value{{Pointer: "/command", How: approve.Words, Text: "git status"}}}, call("run", `{"command":"git status; rm -rf /"}`), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, new(mem.Approvals), quiet)
				d.grant(c.first, c.scope)
				if got := d.asks(c.then); got != c.asks {
					t.Errorf("asks: %t", got)
				}
			})
		})
	}
}

// Proves S34, I16: a grant ends by time, use or revocation, and satisfies only ask.
func TestGrantsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet)
		d.grant(call("write", page), approve.Scope{})
		time.Sleep(8*time.Hour - time.Minute)
		if d.asks(call("write", page)) {
			t.Error("a grant ends before its time")
		}
		time.Sleep(time.Minute)
		if !d.asks(call("write", page)) {
			t.Error("a grant outlives its time")
		}
		g := d.grant(call("write", page), approve.Scope{Limit: 2})
		if d.asks(call("write", page)) || d.asks(call("write", page)) || !d.asks(call("write", page)) {
			t.Error("a grant for two uses")
		}
		g = d.grant(call("write", page), approve.Scope{})
		for range 2 {
			if _, err := d.queue.Revoke(t.Context(), g.ID); err != nil {
				t.Fatal(err)
			}
		}
		if !d.asks(call("write", page)) {
			t.Error("a revoked grant")
		}
		if _, err := d.queue.Revoke(t.Context(), "nothing"); !errors.Is(err, approve.ErrUnknown) {
			t.Error(err)
		}
	})
}

// Proves S34, K2: questions for which no grant is possible.
func TestNoGrant(t *testing.T) {
	for _, c := range []struct {
		name string
		call stopgate.Call
		want error
		s    approve.Scope
	}{
		{"an edit", call("write", `{"path":"cfg/a"}`), approve.ErrNoGrant, approve.Scope{}},
		{"the protected list", call("write", `{"path":"docs/.git/hooks/x"}`), approve.ErrNoGrant, approve.Scope{}},
		{"wider than the call", call("write", page), approve.ErrNoGrant, approve.Scope{Wider: []approve.Value{{Pointer: "/path", How: approve.Below, Text: "lib"}}}},
		{"a value that is no path", call("write", page), approve.ErrNoGrant, approve.Scope{Wider: []approve.Value{{Pointer: "/content", How: approve.Below, Text: "x"}}}},
		{"a value that is not there", call("write", page), approve.ErrNoGrant, approve.Scope{Wider: []approve.Value{{Pointer: "/mode", How: approve.Below, Text: "x"}}}},
		{"anything at all", call("write", page), approve.ErrNoGrant, approve.Scope{Wider: []approve.Value{{Pointer: "/path", How: approve.Free}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, new(mem.Approvals), quiet)
				done := d.decide(t.Context(), c.call)
				e := d.asked()
				if _, _, err := d.queue.Grant(t.Context(), e.ID, approve.Reply{By: "bob"}, c.s); !errors.Is(err, c.want) {
					t.Error(err)
				}
				if list, _ := d.queue.Grants(t.Context(), approve.GrantFilter{}); len(list) != 0 {
					t.Error("a grant was left behind")
				}
				d.answer(e.ID, approve.Reply{})
				d.wants(done, stopgate.CodeApprovalDeclined)
			})
		})
	}
}

// Proves S5: a grant works without a present approver.
func TestGrantWithoutApprover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(mem.Approvals)
		newFixture(t, s, quiet).grant(call("write", page), approve.Scope{})
		d := newFixture(t, s, approve.Options{})
		d.wants(d.decide(t.Context(), call("write", page)), "")
		d.wants(d.decide(t.Context(), call("write", `{"path":"docs/b.md"}`)), stopgate.CodeNoApprover)
	})
}

var _ gate.Approver = (*approve.Queue)(nil)

// lost is a store whose grants cannot be read.
type lost struct{ approve.Store }

func (lost) Grants(context.Context, approve.GrantFilter) ([]approve.Grant, error) {
	return nil, errors.New("the disk is gone")
}

// Proves Q25: unreadable grants answer nothing.
func TestUnreadableGrants(t *testing.T) {
	q, err := approve.New(lost{new(mem.Approvals)}, approve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if a, ok, err := q.Granted(t.Context(), gate.View{}); ok || err == nil {
		t.Errorf("%+v, %v, %v", a, ok, err)
	}
}
