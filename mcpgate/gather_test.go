package mcpgate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/mcpgate"
)

func named(name string) string { return strings.Replace(echoTool, "echo", name, 1) }

// The list of several servers is one response with every page of every server, because many clients
// read only one page; a tool that a server lists twice occurs once.
func TestJoinedLists(t *testing.T) {
	one, two := newFake(), newFake(named("say"))
	one.answers["tools/list"] = func(_ context.Context, _ *fakeLink, _ *link.Call, m *jsonrpc.Message) (string, error) {
		if m.Params.IsValid() {
			if v, ok := m.Params.Get("cursor"); ok {
				return `{"tools":[` + named("b") + `,` + named("a") + `],"x-more":"` + v.Text() + `"}`, nil
			}
		}
		return `{"tools":[` + named("a") + `],"nextCursor":"p2"}`, nil
	}
	b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"one": one, "two": two}, "one", "two")
	c := b.stdio()
	c.hello(`{}`)
	got := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var names []string
	for _, part := range strings.Split(got, `{"name":"`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		names = append(names, name)
	}
	want(t, strings.Join(names, " "), "one__a one__b two__say")
	hasNot(t, got, "nextCursor")
	has(t, one.calls("tools/list")[1], `"cursor":"p2"`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`), `"result":{"prompts":[]}`) // neither server has any

	// In the revision without sessions the lifetime of the list is the shortest one.
	for name, f := range map[string]*fake{"one": one, "two": two} {
		ttl := map[string]string{"one": "9000", "two": "7000"}[name]
		f.answers["tools/list"] = func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
			return `{"tools":[],"resultType":"complete","ttlMs":` + ttl + `}`, nil
		}
	}
	has(t, b.stdio().ask(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{`+meta+`}}`), `"ttlMs":7000,"cacheScope":"private"`)
}

// Proves I14: a server with an endless list does not affect the others; its own list is truncated.
func TestListWithoutEnd(t *testing.T) {
	one, two := newFake(), newFake(named("say"))
	one.answers["tools/list"] = func(_ context.Context, _ *fakeLink, _ *link.Call, m *jsonrpc.Message) (string, error) {
		page := 1
		if m.Params.IsValid() {
			cursor, _ := m.Params.Get("cursor")
			fmt.Sscan(cursor.Text(), &page)
		}
		return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, named(fmt.Sprint("t", page)), page+1), nil
	}
	b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"one": one, "two": two}, "one", "two")
	c := b.stdio()
	c.hello(`{}`)
	got := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	has(t, got, `"name":"one__t1"`)
	has(t, got, `"name":"one__t100"`)
	has(t, got, `"name":"two__say"`)
	hasNot(t, got, `"name":"one__t101"`)
	hasNot(t, got, "nextCursor")
}

// Proves I14: a server that cannot be started, or refuses the initialization, does not affect the
// others; it is available once it works.
func TestMissingServer(t *testing.T) {
	for name, broken := range map[string]func(*fake){
		"not started": func(f *fake) { f.refuse = errors.New("no such program") },
		"refuses": func(f *fake) {
			f.answers["initialize"] = func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
				return `error:{"code":-32603,"message":"no key"}`, nil
			}
		},
		"dies": func(f *fake) {
			f.answers["initialize"] = func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
				return "", link.ErrDead
			}
		},
		"of another time": func(f *fake) { f.version = "2023-01-01" },
		"panics": func(f *fake) {
			f.answers["initialize"] = func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) { panic("a bug") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			one, two := newFake(named("say")), newFake(echoTool)
			good := one.answers["initialize"]
			broken(one)
			b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"one": one, "two": two}, "one", "two")
			c := b.stdio()
			has(t, c.hello(`{}`), `"protocolVersion":"2025-11-25"`, `"tools":{"listChanged":true}`)
			has(t, b.log.String(), "a response omits a server that did not respond", "server=one")
			list := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			has(t, list, `"two__echo"`)
			hasNot(t, list, `"one__say"`)
			has(t, c.ask(call("2", "two__echo", `{}`)), "ran")
			has(t, c.ask(call("3", "one__say", `{}`)), "tool_unreachable")
			has(t, c.ask(`{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{"level":"info"}}`), `"id":4`)

			one.mu.Lock()
			one.refuse, one.version, one.answers["initialize"] = nil, "2025-11-25", good
			one.mu.Unlock()
			until(t, "the server is back", func() bool {
				return strings.Contains(c.ask(`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`), `"one__say"`)
			})
			has(t, c.ask(call("6", "one__say", `{}`)), "ran")
		})
	}
}

// If no server is ready, the client gets the reason.
func TestNoServerReady(t *testing.T) {
	one, two := newFake(echoTool), newFake(echoTool)
	one.refuse, two.refuse = errors.New("no such program"), errors.New("no such program")
	c := setup(t, free, mcpgate.Settings{}, map[string]*fake{"one": one, "two": two}, "one", "two").stdio()
	has(t, c.hello(`{}`), `"code":-32603`, "one: ")
	one.refuse, two.refuse = nil, nil
	one.version, two.version = "2023-01-01", "2023-01-01"
	until(t, "the servers are started again", func() bool {
		return strings.Contains(c.hello(`{}`), "an unknown protocol version")
	})
}

// A server that starts slowly delays the others only up to a limit, receives nothing before its
// initialization, and is announced afterwards.
func TestSlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, quick := newFake(named("say")), newFake(echoTool)
		hello := slow.answers["initialize"]
		slow.answers["initialize"] = func(ctx context.Context, l *fakeLink, c *link.Call, m *jsonrpc.Message) (string, error) {
			select {
			case <-time.After(45 * time.Second):
				return hello(ctx, l, c, m)
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
		c := setup(t, free, mcpgate.Settings{}, map[string]*fake{"slow": slow, "quick": quick}, "slow", "quick").stdio()
		began := time.Now()
		c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
		has(t, <-c.lines, `"serverInfo":{"name":"stopgate"`)
		if waited := time.Since(began); waited != 20*time.Second {
			t.Errorf("the client waited %v", waited)
		}
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		list := c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		has(t, list, "quick__echo")
		hasNot(t, list, "slow__say")
		if slow.calls("tools/list") != nil || slow.calls("notifications/initialized") != nil {
			t.Errorf("the slow server received:\n%s", slow.all())
		}
		has(t, <-c.lines, "notifications/tools/list_changed")
		if waited := time.Since(began); waited != 45*time.Second {
			t.Errorf("the client was notified of the server after %v", waited)
		}
		has(t, c.ask(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`), "quick__echo", "slow__say")
		if n := len(slow.calls("notifications/initialized")); n != 1 {
			t.Errorf("the slow server received %d times that the client is ready", n)
		}

		// When the client disconnects, its pending requests are cancelled.
		c = setup(t, free, mcpgate.Settings{}, map[string]*fake{"slow": slow, "quick": quick}, "slow", "quick").stdio()
		c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
		has(t, <-c.lines, `"serverInfo"`)
	})
}
