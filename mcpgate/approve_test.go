package mcpgate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/mcpgate"
)

const asking = "[tools.echo.policy]\nrun = \"ask\"\n"

// modernCall returns a call in the revision without sessions.
func modernCall(id, args, more string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + meta + `,"name":"echo","arguments":` + args + more + `}}`
}

// stateOf returns the sealed state of a response.
func stateOf(t testing.TB, line string) string {
	t.Helper()
	m, err := jsonrpc.Read([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	v, ok := m.Result.Get("requestState")
	if !ok {
		t.Fatalf("no state in %s", line)
	}
	return v.Text()
}

// tampered returns a state with one significant bit changed.
func tampered(state string) string {
	mid, other := len(state)/2, "A"
	if state[mid] == 'A' {
		other = "B"
	}
	return state[:mid] + other + state[mid+1:]
}

func back(state, decision string) string {
	return `,"requestState":` + string(jsonstream.AppendQuote(nil, state)) +
		`,"inputResponses":{"stopgate.approval":{"action":"accept","content":{"decision":"` + decision + `"}}}`
}

// Proves W56: in the revision without sessions the question is the response; an acceptance runs the
// call exactly once, and any other answer does not run it.
func TestInputRequired(t *testing.T) {
	f := newFake(echoTool)
	b := setup(t, asking, mcpgate.Settings{Elicitation: true}, map[string]*fake{"": f})
	c := b.stdio()
	args := `{"text":"a\u202eb"}`
	line := c.ask(modernCall("1", args, ""))
	has(t, line, `Why it asks: a rule of the policy wants a person to look at it (p.toml:`, `"resultType":"input_required"`, `"stopgate.approval":{"method":"elicitation/create"`, `"mode":"form"`, `"enum":["allow","deny"]`, `\\u{202e}`)
	state := stateOf(t, line)
	hasNot(t, state, "echo", "local")
	for name, more := range map[string]string{
		"tampered":            back(tampered(state), "allow"),
		"cut":                 back(state[:20], "allow"),
		"not ours":            back("whatever", "allow"),
		"another form":        `,"requestState":7`,
		"an empty state":      back("", "allow"),
		"with padding behind": back(state+"=", "allow"),
	} {
		if got := c.ask(modernCall("2", args, more)); !strings.Contains(got, "-32602") {
			t.Errorf("%s: %s", name, got)
		}
	}
	// Other arguments: the state is invalid, and the call is a new one with its own question.
	has(t, c.ask(modernCall("3", `{"text":"c"}`, back(state, "allow"))), "input_required")
	// No answer, or one that does not allow.
	has(t, c.ask(modernCall("4", args, `,"requestState":"`+state+`"`)), "input_required")
	if n := len(f.calls("tools/call")); n != 0 {
		t.Fatalf("%d calls reached the server", n)
	}
	has(t, c.ask(modernCall("5", args, back(state, "allow"))), `"ran"`)
	sent := f.calls("tools/call")[0]
	hasNot(t, sent, "requestState", "inputResponses", "stopgate.approval")
	// A second use.
	has(t, c.ask(modernCall("6", args, back(state, "allow"))), "input_required")
	// A no.
	line = c.ask(modernCall("7", args, ""))
	has(t, c.ask(modernCall("8", args, back(stateOf(t, line), "deny"))), "approval_declined")
	if n := len(f.calls("tools/call")); n != 1 {
		t.Errorf("%d calls reached the server", n)
	}
}

// Proves W56: a state is bound to one session and one call.
func TestStateOfAnotherSession(t *testing.T) {
	f := newFake(echoTool)
	b := setup(t, asking, mcpgate.Settings{Elicitation: true}, map[string]*fake{"": f})
	h := b.http(t)
	state := stateOf(t, h.post(t, "anna", modernCall("1", `{}`, "")))
	has(t, h.post(t, "bert", modernCall("2", `{}`, back(state, "allow"))), "-32602")
	has(t, h.post(t, "anna", modernCall("3", `{}`, back(state, "allow"))), "ran")
	if n := len(f.calls("tools/call")); n != 1 {
		t.Errorf("%d calls reached the server", n)
	}
}

// Proves S18: without the setting, or with a client without elicitation, there is no question.
func TestNoElicitation(t *testing.T) {
	f := newFake(echoTool)
	b := setup(t, asking, mcpgate.Settings{}, map[string]*fake{"": f})
	has(t, b.stdio().ask(modernCall("1", `{}`, "")), "no_approver")
	b = setup(t, asking, mcpgate.Settings{Elicitation: true}, map[string]*fake{"": f})
	has(t, b.stdio().ask(strings.Replace(modernCall("1", `{}`, ""), `"elicitation":{}`, ``, 1)), "no_approver")
	c := b.stdio()
	c.hello(`{}`)
	has(t, c.ask(call("1", "echo", `{}`)), "no_approver", "The user answers in a terminal: stopgate approvals watch")
	b = setup(t, "[tools.echo.policy]\nrun = \"edit\"\n", mcpgate.Settings{Elicitation: true}, map[string]*fake{"": f})
	c = b.stdio()
	c.hello(`{"elicitation":{}}`)
	has(t, c.ask(call("1", "echo", `{}`)), "no_approver")
}

// With a session the question is sent on the call's own stream.
func TestElicitation(t *testing.T) {
	for _, c := range []struct{ answer, want string }{
		{`"result":{"action":"accept","content":{"decision":"allow"}}`, "ran"},
		{`"result":{"action":"accept","content":{"decision":"deny"}}`, "approval_declined"},
		{`"result":{"action":"accept","content":{"decision":"Allow"}}`, "approval_declined"},
		{`"result":{"action":"accept"}`, "approval_declined"},
		{`"result":{"action":"decline","content":{"decision":"allow"}}`, "approval_declined"},
		{`"result":{"action":"cancel"}`, "approval_declined"},
		{`"error":{"code":-1,"message":"no"}`, "approval_declined"},
	} {
		f := newFake(echoTool)
		b := setup(t, asking, mcpgate.Settings{Elicitation: true}, map[string]*fake{"": f})
		cl := b.stdio()
		cl.hello(`{"elicitation":{}}`)
		cl.send(call("1", "echo", `{"text":"x"}`))
		question := cl.next()
		has(t, question, `"method":"elicitation/create"`, `may the tool echo run`, `{\"text\":\"x\"}`)
		cl.send(`{"jsonrpc":"2.0","id":"stopgate-1",` + c.answer + `}`)
		has(t, cl.next(), `"id":1`, c.want)
		if ran := len(f.calls("tools/call")) == 1; ran != (c.want == "ran") {
			t.Errorf("%s: ran %t", c.answer, ran)
		}
	}
}

// watched answers the first question of the queue.
func (b *bench) watched(t *testing.T, kind approve.Kind) {
	q, err := approve.New(b.app, approve.Options{Poll: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = q.Watch(ctx, func(list []approve.Entry) error {
			for _, e := range list {
				if e.State == approve.Waiting && e.Complete {
					if _, err := q.Answer(ctx, e.ID, approve.Reply{Kind: kind, By: "ada"}); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
				}
			}
			return nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	until(t, "somebody watches", func() bool {
		at, err := b.app.Attended(context.Background())
		return err == nil && !at.IsZero()
	})
}

// A watcher of the approvals answers first; the client is not asked then.
func TestQueueFirst(t *testing.T) {
	for kind, want := range map[approve.Kind]string{approve.Yes: "ran", approve.No: "approval_declined"} {
		f := newFake(echoTool)
		b := setup(t, asking, mcpgate.Settings{Elicitation: true}, map[string]*fake{"": f})
		b.watched(t, kind)
		c := b.stdio()
		c.hello(`{"elicitation":{}}`)
		c.send(call("1", "echo", `{}`))
		has(t, c.next(), `"id":1`, want)
	}
}

// Proves S5: after the end of the hold the question remains, and the identical call uses the later
// answer.
func TestHoldEnds(t *testing.T) {
	f := newFake(echoTool)
	b := setup(t, asking, mcpgate.Settings{Elicitation: true, ApprovalTimeout: 100 * time.Millisecond}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{"elicitation":{}}`)
	c.send(call("1", "echo", `{}`))
	has(t, c.next(), "elicitation/create")
	has(t, c.ask(`{"jsonrpc":"2.0","id":0,"method":"ping"}`), `{}`)
	var line string
	for line = c.next(); !strings.Contains(line, `"id":1,`); line = c.next() {
	}
	has(t, line, "approval_pending")
	entries, err := b.app.Entries(context.Background(), approve.Filter{})
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	q, _ := approve.New(b.app, approve.Options{})
	if _, err := q.Answer(context.Background(), entries[0].ID, approve.Reply{Kind: approve.Yes, By: "ada"}); err != nil {
		t.Fatal(err)
	}
	has(t, c.ask(call("2", "echo", `{}`)), "ran")
}

// Proves S34: after a grant the same question is asked neither in the queue nor of the client.
func TestGrantAsksOnce(t *testing.T) {
	f := newFake(echoTool)
	b := setup(t, asking, mcpgate.Settings{Elicitation: true, ApprovalTimeout: 100 * time.Millisecond}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{"elicitation":{}}`)
	c.send(call("1", "echo", `{"text":"a"}`))
	has(t, c.next(), "elicitation/create")
	var line string
	for line = c.next(); !strings.Contains(line, `"id":1,`); line = c.next() {
	}
	has(t, line, "approval_pending")
	entries, err := b.app.Entries(context.Background(), approve.Filter{})
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	q, _ := approve.New(b.app, approve.Options{})
	if _, _, err := q.Grant(context.Background(), entries[0].ID, approve.Reply{By: "ada"}, approve.Scope{}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"2", "3", "4"} {
		c.send(call(id, "echo", `{"text":"a"}`))
		has(t, c.next(), `"id":`+id, "ran")
	}
	if entries, err = b.app.Entries(context.Background(), approve.Filter{}); err != nil || len(entries) != 1 {
		t.Errorf("%d questions, %v", len(entries), err)
	}
}

// Proves FM8, I14: a call that its client cancelled during its question is denied and recorded, and
// does not run.
func TestCancelledWhileAsked(t *testing.T) {
	f := newFake(echoTool)
	b := setup(t, asking, mcpgate.Settings{Elicitation: true}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{"elicitation":{}}`)
	c.send(call("1", "echo", `{}`))
	has(t, c.next(), "elicitation/create")
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	until(t, "the row is written", func() bool { return len(b.rows.Decisions()) == 1 })
	if r := b.rows.Decisions()[0]; r.Status == stopgate.StatusAllowed || r.Code != stopgate.CodeClientGone {
		t.Errorf("row %+v", r)
	}
	c.send(`{"jsonrpc":"2.0","id":"stopgate-1","result":{"action":"accept","content":{"decision":"allow"}}}`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`), `{}`)
	if n := len(f.calls("tools/call")); n != 0 {
		t.Errorf("%d calls reached the server", n)
	}
}

// edits answers every question with another text.
func (b *bench) edits(t *testing.T, text string) {
	q, err := approve.New(b.app, approve.Options{Poll: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = q.Watch(ctx, func(list []approve.Entry) error {
			for _, e := range list {
				if e.State == approve.Waiting && e.Complete {
					if _, err := q.Answer(ctx, e.ID, approve.Reply{Kind: approve.With, By: "ada", Args: []byte(text)}); err != nil && ctx.Err() == nil {
						t.Error(err)
					}
				}
			}
			return nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	until(t, "somebody watches", func() bool {
		at, err := b.app.Attended(context.Background())
		return err == nil && !at.IsZero()
	})
}
