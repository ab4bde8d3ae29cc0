package mcpgate_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/mcpgate"
	"github.com/stopgate/stopgate/mcpgate/link"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// notebook is an observer that writes everything down.
type notebook struct {
	mu   sync.Mutex
	seen []string
}

type requestKey struct{}

func (n *notebook) Request(ctx context.Context, o *mcpgate.Observed) (context.Context, func()) {
	inside := ctx.Value(requestKey{}) != nil
	return context.WithValue(ctx, requestKey{}, true), func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		line := fmt.Sprintf("%s %s %q", map[bool]string{false: "served", true: "asked"}[o.Outgoing], strings.TrimSpace(o.Method+" "+string(o.Tool)), o.Failure)
		if o.Ended.Before(o.Began) || o.Began.IsZero() {
			line += " WITHOUT A TIME"
		}
		if o.Outgoing && !inside && o.Method != "tools/list" {
			line += " OUTSIDE"
		}
		n.seen = append(n.seen, line)
	}
}

// nobody observes nothing.
type nobody struct{}

func (nobody) Request(ctx context.Context, _ *mcpgate.Observed) (context.Context, func()) {
	return ctx, nil
}

// Proves WIRE 10.1, 10.2: an observer hears of every request of a client and of every
// one to a server, one inside the other, with what became of it.
func TestObserver(t *testing.T) {
	for _, test := range []struct {
		name, request string
		want          []string
	}{
		{"a call", call("1", "echo", `{"text":"a"}`), []string{`asked tools/call echo ""`, `served tools/call echo ""`}},
		{"a tool that fails", call("1", "fail", `{}`), []string{`asked tools/call fail "tool_error"`, `served tools/call fail "tool_error"`}},
		{"a server that is gone", call("1", "never", `{}`), []string{`asked tools/call never "unreachable"`, `served tools/call never "tool_error"`}},
		{"a call that is denied", call("1", "denied", `{}`), []string{`served tools/call denied "-32602"`}},
		{"a method that is not there", `{"jsonrpc":"2.0","id":1,"method":"x/call"}`, []string{`served x/call "-32601"`}},
	} {
		book := new(notebook)
		f := newFake(echoTool, strings.Replace(echoTool, "echo", "fail", 1), strings.Replace(echoTool, "echo", "never", 1))
		f.answers["tools/call"] = func(_ context.Context, l *fakeLink, _ *link.Call, m *jsonrpc.Message) (string, error) {
			switch name, _ := m.Params.Get("name"); name.Text() {
			case "fail":
				return `{"content":[],"isError":true}`, nil
			case "never":
				return "", link.ErrDead
			}
			return `{"content":[]}`, nil
		}
		b := build(t, free+"[tools.denied.policy]\nrun = \"deny\"\n", mcpgate.Settings{}, map[string]*fake{"": f}, func(o *mcpgate.Options) {
			o.Observer = mcpgate.Observers(book, nobody{})
		})
		c := b.stdio()
		c.hello("{}")
		c.ask(test.request)
		book.mu.Lock()
		var got []string
		for _, line := range book.seen {
			if !strings.Contains(line, "initialize") && !strings.Contains(line, "tools/list") {
				got = append(got, line)
			}
		}
		book.mu.Unlock()
		if fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
