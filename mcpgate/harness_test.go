package mcpgate_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/pin"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/mcpgate"
	"github.com/stopgate/stopgate/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handler answers one request of a fake server: with the result as JSON, or with an error object
// after "error:".
type handler func(ctx context.Context, s *fakeLink, c *link.Call, m *jsonrpc.Message) (string, error)

// fake is a server in the test's own process.
type fake struct {
	mu      sync.Mutex
	tools   string // response to tools/list
	answers map[string]handler
	seen    []string // texts of requests, notifications and responses, in order
	opened  int
	version string
	refuse  error // error of opening
}

// fakeLink is one connection to a fake.
type fakeLink struct {
	f      *fake
	events link.Events
	once   sync.Once
	done   chan struct{}
}

const echoTool = `{"name":"echo","description":"Says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"number"}}}}`

func newFake(tools ...string) *fake {
	f := &fake{tools: "[" + strings.Join(tools, ",") + "]", version: "2025-11-25", answers: map[string]handler{}}
	f.answers["initialize"] = func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
		return `{"protocolVersion":"` + f.version + `","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"},"x-unknown":[1.0]}`, nil
	}
	f.answers["tools/list"] = func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return `{"tools":` + f.tools + `}`, nil
	}
	f.answers["tools/call"] = func(_ context.Context, _ *fakeLink, _ *link.Call, m *jsonrpc.Message) (string, error) {
		return `{"content":[{"type":"text","text":"ran"}],"structuredContent":{"x":1.50}}`, nil
	}
	return f
}

func (f *fake) open(_ context.Context, e link.Events) (link.Link, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened++
	if f.refuse != nil {
		return nil, f.refuse
	}
	return &fakeLink{f: f, events: e, done: make(chan struct{})}, nil
}

func (l *fakeLink) note(c *link.Call) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	l.f.seen = append(l.f.seen, string(c.Text))
}

func (l *fakeLink) Call(ctx context.Context, c *link.Call) (link.Reply, error) {
	l.note(c)
	m, err := jsonrpc.Read(c.Text)
	if err != nil {
		return link.Reply{}, fmt.Errorf("the gate sent what is no message: %w", err)
	}
	select {
	case <-l.done:
		return link.Reply{}, link.ErrDead
	default:
	}
	answer := l.f.answers[c.Method]
	if answer == nil {
		return l.read(jsonrpc.AppendError(nil, c.ID, -32601, "no such method", nil))
	}
	result, err := answer(ctx, l, c, m)
	if err != nil {
		return link.Reply{}, err
	}
	if body, ok := strings.CutPrefix(result, "error:"); ok {
		return l.read([]byte(`{"jsonrpc":"2.0","id":` + string(c.ID) + `,"error":` + body + `}`))
	}
	return l.read(jsonrpc.AppendResult(nil, c.ID, []byte(result)))
}

func (l *fakeLink) read(text []byte) (link.Reply, error) {
	m, err := jsonrpc.Read(text)
	if err != nil {
		return link.Reply{}, &link.InvalidResponseError{Cause: err}
	}
	return link.Reply{Message: m}, nil
}

func (l *fakeLink) Send(_ context.Context, c *link.Call) error { l.note(c); return nil }
func (l *fakeLink) Done() <-chan struct{}                      { return l.done }
func (l *fakeLink) Close() error                               { l.once.Do(func() { close(l.done) }); return nil }

// say sends a message of the server outside a request.
func (l *fakeLink) say(t testing.TB, text string) {
	t.Helper()
	m, err := jsonrpc.Read([]byte(text))
	if err != nil {
		t.Error(err)
		return
	}
	l.events.Unsolicited(m)
}

// calls returns the requests of one method that reached the server.
func (f *fake) calls(method string) (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, text := range f.seen {
		if m, err := jsonrpc.Read([]byte(text)); err == nil && m.Method == method {
			list = append(list, text)
		}
	}
	return list
}

// all returns all texts.
func (f *fake) all() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.seen, "\n")
}

func (f *fake) setTools(tools ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tools = "[" + strings.Join(tools, ",") + "]"
}

// bench is a gateway with everything that tests check.
type bench struct {
	t    testing.TB
	g    *mcpgate.Gateway
	gate *gate.Gate
	rows *ports.Recorder
	log  *logged
	app  *mem.Approvals
	pins *pin.Store
}

// logged stores the log.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func program(t testing.TB, text string) *policy.Program {
	t.Helper()
	p, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte("version = 1\n" + text), Trusted: true}}, policy.Options{Root: "/srv/proj", Home: "/home/u"})
	if mistakes.HasErrors() {
		t.Fatal(mistakes)
	}
	return p
}

// free allows every tool.
const free = "[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n"

// setup creates a gateway with servers; a server with the name "" is the only one.
func setup(t testing.TB, text string, set mcpgate.Settings, servers map[string]*fake, order ...string) *bench {
	t.Helper()
	return build(t, text, set, servers, nil, order...)
}

// setupWith is setup with other options.
func setupWith(t testing.TB, text string, servers map[string]*fake, change func(*mcpgate.Options)) *bench {
	t.Helper()
	return build(t, text, mcpgate.Settings{}, servers, change)
}

// brokenPins are pins that cannot be read.
type brokenPins struct{}

func (brokenPins) Check(string, stopgate.ToolName, string, []byte) (bool, error) {
	return true, errors.New("disk on fire")
}

func build(t testing.TB, text string, set mcpgate.Settings, servers map[string]*fake, change func(*mcpgate.Options), order ...string) *bench {
	t.Helper()
	b := &bench{t: t, rows: new(ports.Recorder), log: new(logged), app: new(mem.Approvals), pins: pin.InMemory()}
	if len(order) == 0 {
		for name := range servers {
			order = append(order, name)
		}
	}
	p := program(t, text)
	approver, err := mcpgate.NewApprover(b.app, approve.Options{Poll: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if set.ApprovalTimeout == 0 {
		set.ApprovalTimeout = 20 * time.Second
	}
	b.gate, err = gate.New(p, gate.WithRecorder(b.rows), gate.WithStore(mem.New()), gate.WithApprover(approver),
		gate.WithDenyMode(gate.DenyToolResult), gate.WithLimits(gate.Limits{Hold: set.ApprovalTimeout, Policy: 10 * time.Second, Store: 10 * time.Second, Record: 10 * time.Second}))
	if err != nil {
		t.Fatal(err)
	}
	o := mcpgate.Options{
		Gate: b.gate, Program: func() mcpgate.Policy { return p }, Pins: b.pins, Approver: approver, Settings: set,
		Log: slog.New(slog.NewTextHandler(b.log, nil)), Version: "test", StateSecret: []byte(strings.Repeat("k", 32)),
	}
	if change != nil {
		change(&o)
	}
	for _, name := range order {
		id := "srv-" + name
		o.Servers = append(o.Servers, mcpgate.Server{ID: serverOf(name), Identity: id, Transport: link.OpenFunc(servers[name].open)})
	}
	if b.g, err = mcpgate.New(o); err != nil {
		t.Fatal(err)
	}
	return b
}

// client is a client on standard input and output.
type client struct {
	t     testing.TB
	in    *io.PipeWriter
	lines chan string
	ended chan error
}

func (b *bench) stdio() *client {
	b.t.Helper()
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	c := &client{t: b.t, in: in, lines: make(chan string, 1000), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		c.ended <- b.g.ServeStdio(ctx, session.Owner{Principal: "local", Session: "s1"}, fromClient, toClient)
		toClient.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			c.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	b.t.Cleanup(func() {
		in.Close()
		if err := <-c.ended; err != nil && !errors.Is(err, context.Canceled) {
			b.t.Errorf("the gateway ended with %v", err)
		}
		cancel()
		<-read
	})
	return c
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// next returns the next line from the gateway.
func (c *client) next() string {
	c.t.Helper()
	select {
	case line := <-c.lines:
		return line
	case <-time.After(20 * time.Second):
		c.t.Fatal("the gateway says nothing")
		return ""
	}
}

// ask sends a request and returns its response; it drops earlier messages.
func (c *client) ask(text string) string {
	c.t.Helper()
	c.send(text)
	m, err := jsonrpc.Read([]byte(text))
	if err != nil {
		return c.next()
	}
	for {
		line := c.next()
		if got, err := jsonrpc.Read([]byte(line)); err == nil && got.ID == m.ID && got.Method == "" {
			return line
		}
	}
}

// hello initializes the client.
func (c *client) hello(capabilities string) string {
	c.t.Helper()
	line := c.ask(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"test","version":"1"}}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return line
}

// call returns a call of a tool in the revisions with sessions.
func call(id, tool, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
}

// meta is the member of every request in the revision without sessions.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// want compares a complete line.
func want(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// has checks that a text contains parts.
func has(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q in\n%s", part, text)
		}
	}
}

// hasNot checks that a text does not contain parts.
func hasNot(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("there is %q in\n%s", part, text)
		}
	}
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatal("waited in vain: " + what)
		}
	}
}

// codes returns the codes of the decisions so far.
func (b *bench) codes() string {
	var list []string
	for _, r := range b.rows.Decisions() {
		list = append(list, string(r.Status)+" "+string(r.Code))
	}
	return strings.Join(list, ", ")
}
