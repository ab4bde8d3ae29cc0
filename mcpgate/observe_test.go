package mcpgate_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/mcpgate"
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

// Proves 10.2: an observer hears of every request of a client and of every
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

// ledger is an observer that keeps what it is told, and names a trace to servers.
type ledger struct {
	mu   sync.Mutex
	seen []mcpgate.Observed
}

func (l *ledger) Request(ctx context.Context, o *mcpgate.Observed) (context.Context, func()) {
	if o.Outgoing && o.Traced {
		o.Traceparent = "00-ours-01"
	}
	return ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.seen = append(l.seen, *o)
	}
}

// Place implements [link.Placed].
func (l *fakeLink) ConnInfo() link.ConnInfo {
	return link.ConnInfo{Transport: "tcp", Protocol: "http", Address: "files.example:443", Session: "the server's"}
}

// Proves 10.1: an observer is told which session, transport and ids a request
// has, at either end; arguments and result are there as they are; the name of the trace
// that a client sent gives way to ours, and everything else of _meta stays.
func TestObserverDetails(t *testing.T) {
	book := new(ledger)
	f := newFake(echoTool)
	b := build(t, free, mcpgate.Settings{}, map[string]*fake{"": f}, func(o *mcpgate.Options) { o.Observer = book })
	c := b.stdio()
	c.hello("{}")
	c.ask(`{"jsonrpc":"2.0","id":"r-7","method":"tools/call","params":{"name":"echo","arguments":{"text":"a","n":1.50},"_meta":{"x":1,"traceparent":"theirs","tracestate":"v=1"}}}`)
	c.ask(`{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"uri":"file:///x"}}`)
	book.mu.Lock()
	defer book.mu.Unlock()
	var served, asked, resource *mcpgate.Observed
	for i := range book.seen {
		switch o := &book.seen[i]; {
		case o.Method == "tools/call" && o.Outgoing:
			asked = o
		case o.Method == "tools/call":
			served = o
		case o.Method == "resources/read" && !o.Outgoing:
			resource = o
		}
	}
	if served == nil || asked == nil || resource == nil {
		t.Fatalf("%+v", book.seen)
	}
	if served.ID != "r-7" || served.Transport != "pipe" || served.Protocol != "" || served.Session != "" || served.Version != "2025-11-25" ||
		string(served.Arguments) != `{"text":"a","n":1.50}` || !strings.Contains(string(served.Result), `"ran"`) || served.Traceparent != "theirs" || served.Tracestate != "v=1" {
		t.Errorf("%+v", served)
	}
	if asked.ID == "" || asked.ID == "r-7" || asked.Transport != "tcp" || asked.Protocol != "http" || asked.Address != "files.example:443" || asked.Session != "the server's" ||
		asked.Version != "2025-11-25" || string(asked.Arguments) != `{"text":"a","n":1.50}` {
		t.Errorf("%+v", asked)
	}
	if resource.Resource != "file:///x" || resource.Code != "-32601" || resource.ID != "8" {
		t.Errorf("%+v", resource)
	}
	sent := f.calls("tools/call")
	if len(sent) != 1 || !strings.Contains(sent[0], `"_meta":{"x":1,"traceparent":"00-ours-01"}`) {
		t.Errorf("%q", sent)
	}
}

// A server is told of a trace that the client did not name, beside what
// the gate itself puts into a call.
func TestTraceWithoutOne(t *testing.T) {
	f := newFake(echoTool)
	b := build(t, free, mcpgate.Settings{}, map[string]*fake{"": f}, func(o *mcpgate.Options) { o.Observer = teller{} })
	c := b.stdio()
	c.hello("{}")
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
	c.ask(call("2", "echo", `{"text":"a"}`))
	sent := f.calls("tools/call")
	if len(sent) != 2 {
		t.Fatalf("%q", sent)
	}
	for i, want := range []string{`"arguments":{}`, `"arguments":{"text":"a"}`} {
		m, err := jsonrpc.Read([]byte(sent[i]))
		if err != nil {
			t.Fatal(err, sent[i])
		}
		meta, _ := m.Params.Get("_meta")
		if string(meta.Raw()) != `{"traceparent":"00-ours-01","tracestate":"v=2"}` || !strings.Contains(sent[i], want) {
			t.Errorf("%s", sent[i])
		}
	}
}

// teller names a trace to servers.
type teller struct{}

func (teller) Request(ctx context.Context, o *mcpgate.Observed) (context.Context, func()) {
	if o.Outgoing {
		o.Traceparent, o.Tracestate = "00-ours-01", "v=2"
	}
	return ctx, nil
}

// Proves 10.2: a session over HTTP is told, and the trace that a client names
// which showed a token.
func TestObserverHTTP(t *testing.T) {
	book := new(ledger)
	f := newFake(echoTool)
	b := build(t, free, mcpgate.Settings{}, map[string]*fake{"": f}, func(o *mcpgate.Options) { o.Observer = book })
	s := b.http(t)
	id := s.session(t)
	r := s.request(t, "POST", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{"traceparent":"theirs"}}}`, map[string]string{"Mcp-Session-Id": id})
	text(t, r)
	book.mu.Lock()
	defer book.mu.Unlock()
	for _, o := range book.seen {
		if o.Method == "tools/call" && !o.Outgoing {
			if o.Session != id || o.Transport != "tcp" || o.Protocol != "http" || o.ID != "3" || !o.Traced || o.Traceparent != "theirs" {
				t.Errorf("%+v", o)
			}
			return
		}
	}
	t.Errorf("%+v", book.seen)
}

// visits is an observer that writes down sessions.
type visits struct {
	nobody
	seen chan string
}

func (v visits) Session(s *mcpgate.Session) {
	line := fmt.Sprintf("%t %s %s %q", s.Outgoing, s.Version, s.Transport, s.Failure)
	if s.Began.IsZero() || s.Ended.Before(s.Began) {
		line += " WITHOUT A TIME"
	}
	v.seen <- line
}

// An observer hears of every session that is over, with a client and
// with a server, and of why a server's ended.
func TestSessionsObserved(t *testing.T) {
	v := visits{seen: make(chan string, 10)}
	open := func(t *testing.T) *site {
		return setupWith(t, free, map[string]*fake{"": newFake(echoTool)}, func(o *mcpgate.Options) { o.Observer = mcpgate.Observers(nobody{}, v) }).http(t)
	}
	s := open(t)
	id := s.session(t)
	text(t, s.request(t, http.MethodPost, call("1", "echo", `{}`), map[string]string{"Mcp-Session-Id": id}))
	text(t, s.request(t, http.MethodDelete, "", map[string]string{"Mcp-Session-Id": id}))
	got := []string{<-v.seen, <-v.seen}
	slices.Sort(got)
	if want := []string{`false 2025-11-25 tcp ""`, `true 2025-11-25 tcp ""`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	t.Run("without sessions", func(t *testing.T) {
		text(t, open(t).request(t, http.MethodPost, modernCall("1", `{}`, ""), nil))
	}) // and is closed
	select {
	case more := <-v.seen:
		t.Errorf("also %q", more)
	default:
	}
}
