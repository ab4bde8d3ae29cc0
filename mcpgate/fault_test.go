package mcpgate_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/mcpgate"
	"github.com/stopgate/stopgate/session"
)

// Proves I14: whatever a server does instead of responding, the call is denied with the reason, and
// the gate continues.
func TestServerFaults(t *testing.T) {
	for name, answer := range map[string]handler{
		"dies": func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
			return "", link.ErrDead
		},
		"garbage": func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
			return `{"content":`, nil
		},
		"twice": func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
			return `{"content":[],"content":[1]}`, nil
		},
		"a list": func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) { return `[]`, nil },
		"Content": func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
			return `{"content":[],"IsError":true}`, nil
		},
		"http": func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
			return "", &link.StatusError{Status: 500}
		},
		"hangs": func(ctx context.Context, _ *fakeLink, _ *link.Call, _ *jsonrpc.Message) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		},
		"panics": func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) { panic("a bug") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(echoTool)
			f.answers["tools/call"] = answer
			b := setup(t, free, mcpgate.Settings{Timeout: 50 * time.Millisecond}, map[string]*fake{"": f})
			c := b.stdio()
			c.hello(`{}`)
			got := c.ask(call("1", "echo", `{}`))
			if name == "panics" {
				has(t, got, "-32603")
			} else {
				has(t, got, "tool_unreachable", `"isError":true`, "the call may have run")
				if rows := b.rows.Events(stopgate.AuditResult); len(rows) != 1 {
					t.Errorf("results on record: %+v", rows)
				}
			}
			has(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`), `{}`)
		})
	}
}

// Proves I14: no tool of a server without a valid list runs.
func TestListFaults(t *testing.T) {
	for name, answer := range map[string]string{
		"no list": `{}`, "no array": `{"tools":{}}`, "an error": `error:{"code":-1,"message":"no"}`, "garbage": `{"tools":[`, "endless": `{"tools":[],"nextCursor":"again"}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(echoTool)
			pages := 0
			f.answers["tools/list"] = func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
				pages++
				if name == "endless" {
					return strings.Replace(answer, "again", strings.Repeat("x", pages), 1), nil
				}
				return answer, nil
			}
			b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f})
			c := b.stdio()
			c.hello(`{}`)
			has(t, c.ask(call("1", "echo", `{}`)), "tool_unreachable")
			if b.codes() != "denied tool_unreachable" {
				t.Errorf("on record: %s", b.codes())
			}
			if pages > 100 {
				t.Errorf("%d pages", pages)
			}
		})
	}
}

// Proves W55: a server that exited is restarted after a pause, and initialized again for the
// client.
func TestRestart(t *testing.T) {
	f := newFake(echoTool)
	dying := make(chan *fakeLink, 1)
	f.answers["tools/call"] = func(_ context.Context, l *fakeLink, _ *link.Call, _ *jsonrpc.Message) (string, error) {
		select {
		case dying <- l:
			l.Close()
			return "", link.ErrDead
		default:
			return `{"content":[]}`, nil
		}
	}
	b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{}`)
	has(t, c.ask(call("1", "echo", `{}`)), "tool_unreachable")
	// Too early for a restart; then it continues.
	early := c.ask(call("2", "echo", `{}`))
	has(t, early, "tool_unreachable")
	hasNot(t, early, "may have run")
	until(t, "the server is back", func() bool { return strings.Contains(c.ask(call("3", "echo", `{}`)), `"content":[]`) })
	if n := len(f.calls("initialize")); n != 2 {
		t.Errorf("introduced %d times", n)
	}
	if n := len(f.calls("notifications/initialized")); n != 2 {
		t.Errorf("ready %d times", n)
	}
}

// Proves I14: if a server cannot be started, all calls are denied.
func TestNoServer(t *testing.T) {
	f := newFake(echoTool)
	f.refuse = errors.New("no such program")
	b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f})
	c := b.stdio()
	has(t, c.hello(`{}`), `"code":-32603`)
	has(t, c.ask(call("1", "echo", `{}`)), "not initialized")
	has(t, b.stdio().ask(modernCall("1", `{}`, "")), "tool_unreachable")
}

// Proves FM4, I22: a call whose row cannot be written does not run.
func TestNoRecord(t *testing.T) {
	f := newFake(echoTool)
	b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f})
	b.rows.Fault = func(context.Context, int, *stopgate.Record) error { return errors.New("disk full") }
	c := b.stdio()
	c.hello(`{}`)
	has(t, c.ask(call("1", "echo", `{}`)), "audit_unavailable")
	if n := len(f.calls("tools/call")); n != 0 {
		t.Errorf("%d calls reached the server", n)
	}
}

// Proves S59: a lockdown denies even calls that the policy allows.
func TestLockdown(t *testing.T) {
	f := newFake(echoTool)
	b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{}`)
	b.gate.Lock(gate.Lockdown{Since: time.Now(), By: "ada"})
	has(t, c.ask(call("1", "echo", `{}`)), "lockdown")
	b.gate.Lock(gate.Lockdown{})
	has(t, c.ask(call("2", "echo", `{}`)), "ran")
}

// Proves W55: a request that the client cancels is cancelled at the server, and gets no response.
func TestCancel(t *testing.T) {
	f := newFake(echoTool)
	started, ended := make(chan struct{}), make(chan struct{})
	f.answers["tools/call"] = func(ctx context.Context, _ *fakeLink, _ *link.Call, _ *jsonrpc.Message) (string, error) {
		close(started)
		<-ctx.Done()
		close(ended)
		return "", context.Cause(ctx)
	}
	c := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f}).stdio()
	c.hello(`{}`)
	c.send(call("1", "echo", `{}`))
	<-started
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	<-ended
	c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	want(t, c.next(), `{"jsonrpc":"2.0","id":2,"result":{}}`)
}

// Proves I14: a client that does not read cannot keep the gate from ending.
func TestClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": newFake(echoTool)})
		in, client := io.Pipe()
		out, gate := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.g.ServeStdio(ctx, session.Owner{Principal: "local", Session: "s"}, in, gate) }()
		if _, err := io.WriteString(client, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the response is being written
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		has(t, b.log.String(), "does not read")
		out.Close()
		client.Close()
	})
}

// Requests before the initialization are refused.
func TestNotInitialized(t *testing.T) {
	f := newFake(echoTool)
	c := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f}).stdio()
	for _, method := range []string{"tools/list", "resources/list", "x/y"} {
		has(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`), "-32600")
	}
	if f.all() != "" {
		t.Errorf("the server got %s", f.all())
	}
	f.version = "2024-01-01"
	has(t, c.hello(`{}`), "-32022")
}
