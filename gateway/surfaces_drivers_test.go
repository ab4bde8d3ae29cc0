package gateway_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/decide/client"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/tools"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/pin"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/testkit/chat"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/mcpgate"
	"github.com/stopgate/stopgate/session"
)

func surfaces() []surface {
	list := []surface{
		{"library, one after the other", playDecide}, {"library, together", playResolveAll},
		{"decision API", playAPI}, {"hook", playHook}, {"mcp", playMCP}, {"agent", playAgent},
	}
	for _, in := range tongues() {
		for _, stream := range []bool{true, false} {
			name := in.name + map[bool]string{true: ", streamed", false: ", whole"}[stream]
			list = append(list, surface{name, func(t *testing.T, w world, turns [][]step) []string {
				return playGateway(t, w, turns, in, stream)
			}})
		}
	}
	return list
}

var everyone = session.Owner{Principal: "local", Session: "s"}

// world is the environment of a surface.
type world struct {
	rows  *ports.Recorder
	store gate.Store
	// lossy: results may be lost, which the surface may report to its client.
	lossy bool
	// policy is the policy, "" for sequenced. said is the message of the person, which surfaces that
	// know it report; "" is one that no policy looks at.
	policy, said string
}

func (w world) text() string { return cmp.Or(w.policy, sequenced) }

func (w world) prompt() string { return cmp.Or(w.said, "go on") }

// texts are the texts of the session that a program reports itself.
func (w world) texts() gate.Texts {
	return gate.Texts{
		Whole: true, Known: flow.KnowsUser | flow.KnowsSystem | flow.KnowsResults,
		List: []gate.Text{{Message: &flow.Message{Source: flow.User, Text: []byte(w.prompt())}}},
	}
}

// report reports the texts of the session.
func (w world) report(t *testing.T, g *gate.Gate) {
	t.Helper()
	if err := g.AddTexts(t.Context(), everyone, "", w.texts()); err != nil {
		t.Fatal(err)
	}
}

func sequencedGate(t *testing.T, w world) *gate.Gate {
	return newGate(t, w.text(), w.rows, gate.WithStore(w.store), gate.WithApprover(editor{}))
}

// edited maps the arguments of a call that asks to those of the person.
var edited = map[string]string{`{"path":"ask"}`: `{"path":"here"}`, `{"path":"ask no more"}`: `{"path":"nowhere"}`}

// editor is a person who edits every call.
type editor struct{}

func (editor) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true, CanEdit: true}
}

func (editor) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	v, err := q.Complete(ctx)
	if err != nil {
		return gate.Answer{}, err
	}
	switch {
	case len(v.Missing) == 0:
		return v.Edit("anna", []byte(edited[v.Args])), nil
	case v.Args == refused:
		return v.Decline("anna"), nil
	}
	return v.Approve("anna"), nil
}

// refused are the arguments that the person refuses where a session policy asks.
const refused = `{"path":"refused"}`

func callOf(s step, turn int) stopgate.Call {
	return stopgate.Call{
		Tool: stopgate.ToolName(s.tool), Args: []byte(s.args), Session: everyone.Session, Principal: everyone.Principal,
		Turn: stopgate.TurnID(fmt.Sprint("t", turn)), Definition: &stopgate.ToolDefinition{Name: stopgate.ToolName(s.tool)},
	}
}

func tell(out *stopgate.Outcome) string {
	return string(out.Verdict.Code) + " " + out.Verdict.Public + "\n"
}

func see(t *testing.T, w world, g *gate.Gate, s step, out stopgate.Outcome) {
	t.Helper()
	if out.Status != stopgate.Allowed {
		return
	}
	_, err := g.Observe(t.Context(), stopgate.Result{
		Proposal: out.Proposal, Session: everyone.Session, Principal: everyone.Principal, Tool: stopgate.ToolName(s.tool),
		Failed: s.failed, Flagged: s.failed, Data: []byte(`"` + s.result + `"`),
	})
	if err != nil && !w.lossy {
		t.Fatal(err)
	}
}

// playDecide decides the calls of a turn one after the other, and has the results when the turn
// ends.
func playDecide(t *testing.T, w world, turns [][]step) (messages []string) {
	g := sequencedGate(t, w)
	w.report(t, g)
	for i, turn := range turns {
		outs, text := make([]stopgate.Outcome, len(turn)), ""
		for n, s := range turn {
			var err error
			if outs[n], err = g.Decide(t.Context(), callOf(s, i)); err != nil {
				t.Fatal(err)
			}
			text += tell(&outs[n])
		}
		for n, s := range turn {
			see(t, w, g, s, outs[n])
		}
		messages = append(messages, text)
	}
	return messages
}

// playResolveAll has all calls of a turn before one of them is resolved.
func playResolveAll(t *testing.T, w world, turns [][]step) (messages []string) {
	g := sequencedGate(t, w)
	w.report(t, g)
	for i, turn := range turns {
		var all []*gate.Pending
		for _, s := range turn {
			call := callOf(s, i)
			call.Args = nil
			p, err := g.Open(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range []byte(s.args) {
				p.Feed([]byte{b})
			}
			p.Close(stopgate.Ended)
			all = append(all, p)
		}
		text := ""
		outs := g.ResolveAll(t.Context(), all)
		for n, s := range turn {
			text += tell(&outs[n])
			see(t, w, g, s, outs[n])
		}
		messages = append(messages, text)
	}
	return messages
}

func playAPI(t *testing.T, w world, turns [][]step) (messages []string) {
	g := sequencedGate(t, w)
	w.report(t, g)
	api, err := decide.New(decide.Options{Gate: g})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close(context.Background()) })
	srv := httptest.NewServer(api.Handler(true))
	t.Cleanup(srv.Close)
	c, err := client.New(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	for i, turn := range turns {
		answers, text := make([]client.Decision, len(turn)), ""
		for n, s := range turn {
			answers[n], err = c.Decide(t.Context(), client.Call{Tool: stopgate.ToolName(s.tool), Args: []byte(s.args), Session: "s", Turn: stopgate.TurnID(fmt.Sprint("t", i))})
			if err != nil {
				t.Fatal(err)
			}
			text += fmt.Sprintf("%s %+v\n", answers[n].Code, answers[n])
		}
		for n, s := range turn {
			if !answers[n].Allowed() {
				continue
			}
			if _, err := c.Observe(t.Context(), answers[n].ID, client.Result{Failed: s.failed, Data: []byte(`"` + s.result + `"`)}); err != nil && !w.lossy {
				t.Fatal(err)
			}
		}
		messages = append(messages, text)
	}
	return messages
}

// playHook requests a decision on each call before any call of the turn has run: a call is a turn.
func playHook(t *testing.T, w world, turns [][]step) (messages []string) {
	host, err := hook.Lookup("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	g := sequencedGate(t, w)
	o := hook.Options{Open: func(_ context.Context, e *hook.Event) (*hook.Backend, error) {
		return &hook.Backend{Gate: g, Approver: host.Approver(e, nil), ObservesResults: true}, nil
	}}
	event := func(kind, rest string, s step, id string) hook.Reply {
		return host.Run(t.Context(), o, strings.NewReader(fmt.Sprintf(
			`{"session_id":"s","cwd":"/srv","hook_event_name":%q,"tool_name":%q,"tool_input":%s,"tool_use_id":%q%s}`, kind, s.tool, s.args, id, rest)))
	}
	host.Run(t.Context(), o, strings.NewReader(fmt.Sprintf(`{"session_id":"s","cwd":"/srv","hook_event_name":"UserPromptSubmit","prompt":%q}`, w.prompt())))
	for i, turn := range turns {
		text := ""
		ran := make([]bool, len(turn))
		for n, s := range turn {
			r := event("PreToolUse", "", s, fmt.Sprint("toolu_", i, "_", n))
			ran[n] = r.Exit == 0
			text += string(r.Stdout)
		}
		for n, s := range turn {
			kind, rest := "PostToolUse", fmt.Sprintf(`,"tool_response":%q`, s.result)
			if s.failed {
				kind, rest = "PostToolUseFailure", fmt.Sprintf(`,"error":%q,"is_interrupt":false`, s.result)
			}
			if ran[n] {
				event(kind, rest, s, fmt.Sprint("toolu_", i, "_", n))
			}
		}
		messages = append(messages, text)
	}
	return messages
}

// toolServer is an MCP server whose tools answer when the turn ends.
type toolServer struct {
	mu   sync.Mutex
	held chan struct{} // closed at the end of the turn
	by   map[string]step
	came chan struct{} // receives a value for each call that arrives
}

func (s *toolServer) Call(_ context.Context, c *link.Call) (link.Reply, error) {
	result := `{}`
	switch c.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
	case "tools/list":
		var list []string
		for _, name := range []string{"test", "deploy", "read", "write", "pay", "erase", "move", "publish"} {
			list = append(list, `{"name":"`+name+`","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}}`)
		}
		result = `{"tools":[` + strings.Join(list, ",") + `]}`
	case "tools/call":
		var m struct {
			Params struct{ Name string }
		}
		if err := json.Unmarshal(c.Text, &m); err != nil {
			return link.Reply{}, err
		}
		s.mu.Lock()
		held, step := s.held, s.by[m.Params.Name]
		s.mu.Unlock()
		s.came <- struct{}{}
		<-held
		result = fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":%t}`, step.result, step.failed)
	}
	m, err := jsonrpc.Read(jsonrpc.AppendResult(nil, c.ID, []byte(result)))
	return link.Reply{Message: m}, err
}

func (*toolServer) Send(context.Context, *link.Call) error { return nil }
func (*toolServer) Done() <-chan struct{}                  { return nil }
func (*toolServer) Close() error                           { return nil }

// playMCP sends the calls of a turn one after the other, and the server answers none of them before
// the last one is decided: a call is a turn.
func playMCP(t *testing.T, w world, turns [][]step) (messages []string) {
	server := &toolServer{came: make(chan struct{}, 16), by: map[string]step{}}
	program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(w.text()), Trusted: true}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	g, err := mcpgate.New(mcpgate.Options{
		Gate: sequencedGate(t, w), Program: func() mcpgate.Policy { return program }, Pins: pin.InMemory(),
		Servers: []mcpgate.Server{{Identity: "x", Transport: link.OpenFunc(func(context.Context, link.Events) (link.Link, error) { return server, nil })}},
	})
	if err != nil {
		t.Fatal(err)
	}
	fromAgent, client := io.Pipe()
	answers, toAgent := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- g.ServeStdio(context.Background(), everyone, fromAgent, toAgent) }()
	lines := make(chan string, 16)
	go func() {
		in := bufio.NewScanner(answers)
		for in.Scan() {
			lines <- in.Text()
		}
		close(lines)
	}()
	id := 0
	send := func(method, params string) {
		id++
		fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
	}
	send("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`)
	<-lines
	send("tools/list", `{}`)
	<-lines
	for _, turn := range turns {
		server.mu.Lock()
		server.held = make(chan struct{})
		for _, s := range turn {
			server.by[s.tool] = s
		}
		server.mu.Unlock()
		text, open := "", 0
		for _, s := range turn {
			send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, s.tool, s.args))
			select {
			case <-server.came:
				open++
			case line := <-lines:
				text += line
			}
		}
		close(server.held)
		for ; open > 0; open-- {
			<-lines
		}
		messages = append(messages, text)
	}
	client.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	toAgent.Close()
	for range lines { // until the reader has ended
	}
	return messages
}

// playGateway is a client that repeats the history of the conversation in each request.
func playGateway(t *testing.T, w world, turns [][]step, in tongue, stream bool) (messages []string) {
	k := newTalk(t, in, w.text(), func(o *gateway.Options) {
		o.Gate = sequencedGate(t, w)
		o.Settings.OnDeny = gateway.DenyText
	})
	k.stream, k.tools = stream, append(k.tools, "erase", "move", "publish")
	k.header = map[string]string{"X-Stopgate-Session": "s"}
	history := []historyEntry{user(w.prompt())}
	for i, turn := range turns {
		var calls []pastCall
		for n, s := range turn {
			calls = append(calls, pastCall{fmt.Sprint("call_", i, "_", n), s.tool, s.args})
		}
		body := k.converse(calls, history...)
		messages = append(messages, body)
		for n, s := range turn {
			if strings.Contains(body, `"`+calls[n].id+`"`) {
				history = append(history, call(calls[n].id, s.tool, s.args),
					historyEntry{result: &pastResult{id: calls[n].id, text: s.result, failed: s.failed}})
			}
		}
	}
	return messages
}

// playAgent runs the tools itself.
func playAgent(t *testing.T, w world, turns [][]step) (messages []string) {
	script, local := "", map[string]tools.Local{}
	for _, turn := range turns {
		script += "turn\n"
		for _, s := range turn {
			script += "call " + s.tool + "\n"
			var args map[string]string
			if err := json.Unmarshal([]byte(s.args), &args); err != nil {
				t.Fatal(err)
			}
			for name, value := range args {
				script += "  " + name + " string " + value + "\n"
			}
			exit := "true"
			if s.failed {
				exit = "false"
			}
			local[s.tool] = tools.Local{
				Definition: stopgate.ToolDefinition{Name: stopgate.ToolName(s.tool), Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
				Command:    []string{"/bin/sh", "-c", "echo '" + s.result + "'; " + exit},
			}
		}
	}
	r := chat.New(t, chat.Options{Script: script + "turn\nsay Done.\n", Policy: w.text(), Local: slices.Collect(maps.Values(local)), Facts: w.store})
	r.Answers(func(q *agent.Question) {
		for v := q.View(); ; v = q.View() {
			switch {
			case !v.Complete:
				continue
			case len(v.Missing) == 0:
				q.Edit(v, edited[v.Args])
			case v.Args == refused:
				q.Decline(v, "Not now.")
			default:
				q.Allow(v, nil)
			}
			return
		}
	})
	end := <-r.Process(t.Context(), w.prompt())
	if end.Err != nil && w.lossy { // the person learns of a lost result before the model continues
		end = <-r.Process(t.Context(), w.prompt())
	}
	if end.Err != nil {
		t.Fatal(end.Err)
	}
	for _, row := range r.Records.Rows() {
		if err := w.rows.Record(t.Context(), &row); err != nil {
			t.Fatal(err)
		}
	}
	// The request of a turn has the results of the previous turn.
	return r.Requests()[1:]
}
