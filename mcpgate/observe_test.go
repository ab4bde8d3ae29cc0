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

// recordingObserver is an observer that records everything.
type recordingObserver struct {
	mu   sync.Mutex
	seen []string
}

type requestKey struct{}

func (n *recordingObserver) Request(ctx context.Context, o *mcpgate.Observed) (context.Context, func()) {
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

// noObserver returns no observation.
type noObserver struct{}

func (noObserver) Request(ctx context.Context, _ *mcpgate.Observed) (context.Context, func()) {
	return ctx, nil
}

// Proves 10.2: an observer receives every request of a client and every request to a server,
// nested, with its result.
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
		book := new(recordingObserver)
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
			o.Observer = mcpgate.Observers(book, noObserver{})
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

// detailObserver is an observer that stores its details, and sends a trace to servers.
type detailObserver struct {
	mu   sync.Mutex
	seen []mcpgate.Observed
}

func (l *detailObserver) Request(ctx context.Context, o *mcpgate.Observed) (context.Context, func()) {
	if o.Outgoing && o.Traced {
		o.Traceparent = "00-ours-01"
	}
	return ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.seen = append(l.seen, *o)
	}
}

// ConnInfo implements the connection information of a link.
func (l *fakeLink) ConnInfo() link.ConnInfo {
	return link.ConnInfo{Transport: "tcp", Protocol: "http", Address: "files.example:443", Session: "the server's"}
}

// Proves 10.1: an observer gets the session, transport and ids of a request on either side, with
// unchanged arguments and result; the trace of the client is replaced by the gate's, and everything
// else of _meta is unchanged.
func TestObserverDetails(t *testing.T) {
	book := new(detailObserver)
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

// A server gets a trace although the client named none, next to the members that the gate adds to a
// call.
func TestTraceWithoutOne(t *testing.T) {
	f := newFake(echoTool)
	b := build(t, free, mcpgate.Settings{}, map[string]*fake{"": f}, func(o *mcpgate.Options) { o.Observer = tracePropagator{} })
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

// tracePropagator sends a trace to servers.
type tracePropagator struct{}

func (tracePropagator) Request(ctx context.Context, o *mcpgate.Observed) (context.Context, func()) {
	if o.Outgoing {
		o.Traceparent, o.Tracestate = "00-ours-01", "v=2"
	}
	return ctx, nil
}

// Proves 10.2: the session over HTTP is observed, and the trace of a client with a token.
func TestObserverHTTP(t *testing.T) {
	book := new(detailObserver)
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

// sessionObserver records sessions.
type sessionObserver struct {
	noObserver
	seen chan string
}

func (v sessionObserver) Session(s *mcpgate.Session) {
	line := fmt.Sprintf("%t %s %s %q", s.Outgoing, s.Version, s.Transport, s.Failure)
	if s.Began.IsZero() || s.Ended.Before(s.Began) {
		line += " WITHOUT A TIME"
	}
	v.seen <- line
}

// An observer receives every session that ended, with a client and with a server, and the reason.
func TestSessionsObserved(t *testing.T) {
	v := sessionObserver{seen: make(chan string, 10)}
	open := func(t *testing.T) *site {
		return setupWith(t, free, map[string]*fake{"": newFake(echoTool)}, func(o *mcpgate.Options) { o.Observer = mcpgate.Observers(noObserver{}, v) }).http(t)
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
