package mcpgate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/mcpgate"
)

// rounds returns a server that requests input before it responds.
func rounds(key, method, state string) *fake {
	f := newFake(echoTool)
	answer := func(_ context.Context, _ *fakeLink, _ *link.Call, m *jsonrpc.Message) (string, error) {
		if _, ok := m.Params.Get("inputResponses"); ok {
			return `{"resultType":"complete","content":[{"type":"text","text":"thanks"}]}`, nil
		}
		return `{"resultType":"input_required","x":1.0,"inputRequests":{"` + key + `":{"method":"` + method + `","params":{"message":"your name?"}}}` + state + `}`, nil
	}
	f.answers["tools/call"], f.answers["prompts/get"], f.answers["resources/read"] = answer, answer, answer
	return f
}

const elicits = "[tools.\"mcp.elicitation\".policy]\nrun = \"unattended\"\n"

// A round trip of a server is forwarded under the gate's seal, and its state returns to it
// unchanged.
func TestServerRounds(t *testing.T) {
	for method, params := range map[string]string{
		"tools/call": `"name":"echo","arguments":{"n":1}`, "prompts/get": `"name":"p"`, "resources/read": `"uri":"test://x"`,
	} {
		t.Run(method, func(t *testing.T) {
			f := rounds("user_name", "elicitation/create", `,"requestState":"theirs \u00e9"`)
			c := setup(t, free+elicits, mcpgate.Settings{}, map[string]*fake{"": f}).stdio()
			ask := func(id, more string) string {
				return c.ask(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + meta + `,` + params + more + `}}`)
			}
			line := ask("1", "")
			has(t, line, `"user_name":{"method":"elicitation/create","params":{"message":"your name?"}}`, `"x":1.0`)
			hasNot(t, line, "theirs")
			state := stateOf(t, line)
			has(t, ask("2", `,"requestState":"theirs \u00e9","inputResponses":{}`), "-32602")
			has(t, ask("3", `,"requestState":"`+state+`","inputResponses":{"user_name":{"action":"accept","content":{"a":1.0}}}`), "thanks")
			sent := f.calls(method)
			has(t, sent[len(sent)-1], `"requestState":"theirs é"`, `"inputResponses":{"user_name":{"action":"accept","content":{"a":1.0}}}`)
			// With other arguments the state is invalid and does not reach the server.
			if method == "tools/call" {
				c.ask(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{` + meta + `,"name":"echo","arguments":{"n":2},"requestState":"` + state + `"}}`)
				sent = f.calls(method)
				hasNot(t, sent[len(sent)-1], "requestState")
			}
			hasNot(t, f.all(), "sg1.")
		})
	}
}

// Proves G11: a request that a server may not make turns the whole result into a denial.
func TestServerRoundsDenied(t *testing.T) {
	for name, c := range map[string]struct{ policy, key, method, state, want string }{
		"no table":         {"", "user_name", "elicitation/create", "", "policy_not_configured"},
		"denied":           {"[tools.\"mcp.elicitation\".policy]\nrun = [{ arg = \"/message\", prefix = \"your\", mode = \"deny\", reason = \"no questions\" }, { mode = \"unattended\" }]\n", "user_name", "elicitation/create", "", "no questions"},
		"our key":          {elicits, "stopgate.approval", "elicitation/create", "", "protocol_violation"},
		"another method":   {elicits, "user_name", "tools/call", "", "protocol_violation"},
		"a state, no text": {elicits, "user_name", "elicitation/create", `,"requestState":7`, "protocol_violation"},
	} {
		t.Run(name, func(t *testing.T) {
			cl := setup(t, free+c.policy, mcpgate.Settings{}, map[string]*fake{"": rounds(c.key, c.method, c.state)}).stdio()
			got := cl.ask(modernCall("1", `{}`, ""))
			has(t, got, c.want, `"isError":true`, `"resultType":"complete"`)
			hasNot(t, got, "input_required", "your name")
			has(t, cl.ask(`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{`+meta+`,"name":"p"}}`), "-32010")
		})
	}
}

// A waiting call sends progress to a client that requested it.
func TestOtherMethods(t *testing.T) {
	f := newFake(echoTool)
	other := func(result string) handler {
		return func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) { return result, nil }
	}
	f.answers["completion/complete"] = other(`{"completion":{"values":["a"]}}`)
	f.answers["logging/setLevel"] = other(`{}`)
	f.answers["resources/subscribe"] = other(`{}`)
	f.answers["tasks/get"] = other(`{"taskId":"t","status":"working"}`)
	f.answers["server/discover"] = other(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
	f.answers["subscriptions/listen"] = func(ctx context.Context, l *fakeLink, c *link.Call, m *jsonrpc.Message) (string, error) {
		note, _ := jsonrpc.Read([]byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(c.ID) + `}}}`))
		c.OnMessage(note)
		return `{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":` + string(c.ID) + `}}`, nil
	}
	b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{}`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"}}}`), `"values":["a"]`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}`), `"result":{}`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"test://x"}}`), `"result":{}`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":4,"method":"tasks/get","params":{"taskId":"t"}}`), `"working"`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{}}`), `-32602`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":6,"method":"prompts/get","params":{}}`), `-32602`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}`), `-32602`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":8,"method":"tools/call"}`), `-32602`)
	m := b.stdio()
	has(t, m.ask(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta+`}}`), `"supportedVersions":["2026-07-28"]`)
	m.send(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{` + meta + `,"notifications":{}}}`)
	has(t, m.next(), `"io.modelcontextprotocol/subscriptionId":"sub"`, "acknowledged")
	has(t, m.next(), `"id":"sub"`, `"io.modelcontextprotocol/subscriptionId":"sub"`)
	has(t, m.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{`+meta+`}}`), `"cacheScope":"private"`)
	// A task belongs to the client that started it; over HTTP other clients cannot access it.
	has(t, b.http(t).post(t, "anna", `{"jsonrpc":"2.0","id":4,"method":"tasks/get","params":{`+meta+`,"taskId":"t"}}`), "-32602")
}

// The gate determines how long a list may be cached.
func TestCaching(t *testing.T) {
	f := newFake(echoTool)
	f.answers["tools/list"] = func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
		return `{"tools":[` + echoTool + `],"ttlMs":3600000,"cacheScope":"public"}`, nil
	}
	c := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f}).stdio()
	has(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{`+meta+`}}`), `"ttlMs":60000`, `"cacheScope":"private"`)
}

// Two servers are discovered as one; capabilities that neither has are absent.
func TestDiscoverSeveral(t *testing.T) {
	servers := map[string]*fake{}
	for name, versions := range map[string]string{"one": `"2025-11-25","2026-07-28"`, "two": `"2026-07-28"`} {
		f := newFake(echoTool)
		f.answers["server/discover"] = func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
			return `{"resultType":"complete","supportedVersions":[` + versions + `],"instructions":"I am ` + name + `","capabilities":{"tools":{"listChanged":true},"experimental":{"x":{}}}}`, nil
		}
		servers[name] = f
	}
	b := setup(t, free, mcpgate.Settings{}, servers, "one", "two")
	c := b.stdio()
	want(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta+`}}`),
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"stopgate","version":"test"}},"instructions":"one: I am one\n\ntwo: I am two","ttlMs":0,"cacheScope":"private"}}`)
	// A missing server does not affect the other; that list may not be cached.
	servers["one"].refuse = link.ErrDead
	c = b.stdio()
	has(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+meta+`}}`), `"result":{"tools":[{"name":"two__echo"`, `"ttlMs":0,"cacheScope":"private"}`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{`+meta+`}}`), `"instructions":"two: I am two"`)
}

// A server may cancel its request to the client, and the client may send progress for it.
func TestServerRequestCancelAndProgress(t *testing.T) {
	f := newFake(echoTool)
	links := make(chan *fakeLink, 1)
	release := make(chan struct{})
	f.answers["tools/call"] = func(_ context.Context, l *fakeLink, _ *link.Call, _ *jsonrpc.Message) (string, error) {
		links <- l
		<-release
		return `{"content":[]}`, nil
	}
	b := setup(t, free+elicits, mcpgate.Settings{}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{"elicitation":{}}`)
	c.send(call("1", "echo", `{}`))
	l := <-links
	l.say(t, `{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	until(t, "the ping is answered", func() bool { return strings.Contains(f.all(), `{"jsonrpc":"2.0","id":7,"result":{}}`) })
	l.say(t, `{"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{"_meta":{"progressToken":"p8"},"message":"?"}}`)
	has(t, c.next(), `"id":"stopgate-1"`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p8","progress":1}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"forged","progress":1}}`)
	until(t, "the progress arrives", func() bool { return strings.Contains(f.all(), `"progressToken":"p8","progress":1`) })
	l.say(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8,"reason":"x"}}`)
	has(t, c.next(), `"notifications/cancelled"`, `"requestId":"stopgate-1"`)
	l.say(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	c.send(`{"jsonrpc":"2.0","id":"stopgate-1","result":{"late":1}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	until(t, "notifications are forwarded", func() bool { return strings.Contains(f.all(), "roots/list_changed") })
	hasNot(t, f.all(), "late", "forged")
	close(release)
	has(t, c.next(), `"id":1`)
}

// Proves K32: the model gets a result as a person edited it.
func TestResultEdited(t *testing.T) {
	for edit, want := range map[string]string{
		`{"content":[{"type":"text","text":"[cut]"}]}`: `"result":{"content":[{"type":"text","text":"[cut]"}]}`,
		`{"only":"this"}`: `"text":"{\"only\":\"this\"}"`,
	} {
		b := setup(t, "[tools.echo.policy]\nrun = \"unattended\"\nresult = \"edit\"\n", mcpgate.Settings{}, map[string]*fake{"": newFake(echoTool)})
		b.edits(t, edit)
		c := b.stdio()
		c.hello(`{}`)
		got := c.ask(call("1", "echo", `{}`))
		has(t, got, want)
		hasNot(t, got, `"ran"`)
	}
}

// Proves I15: the number of open requests of a client is bounded.
func TestOverload(t *testing.T) {
	f := newFake(echoTool)
	release := make(chan struct{})
	f.answers["x/slow"] = func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
		<-release
		return `{}`, nil
	}
	c := setup(t, free, mcpgate.Settings{Timeout: time.Minute}, map[string]*fake{"": f}).stdio()
	c.hello(`{}`)
	for i := range 257 {
		c.send(`{"jsonrpc":"2.0","id":"s` + strings.Repeat("x", i) + `","method":"x/slow"}`)
	}
	has(t, c.next(), "too many requests")
	close(release)
	for range 256 {
		has(t, c.next(), `"result":{}`)
	}
}

// A subscription with several servers receives from all of them, and ends with the first.
func TestListenSeveral(t *testing.T) {
	servers := map[string]*fake{}
	end := make(chan struct{})
	ended := make(chan string, 2)
	for _, name := range []string{"one", "two"} {
		f := newFake(echoTool)
		f.answers["subscriptions/listen"] = func(ctx context.Context, _ *fakeLink, c *link.Call, _ *jsonrpc.Message) (string, error) {
			m, _ := jsonrpc.Read([]byte(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + name + `","_meta":{"io.modelcontextprotocol/subscriptionId":` + string(c.ID) + `}}}`))
			c.OnMessage(m)
			select {
			case <-ctx.Done():
				ended <- name
				return "", context.Cause(ctx)
			case <-end:
				return `{"resultType":"complete"}`, nil
			}
		}
		servers[name] = f
	}
	c := setup(t, free, mcpgate.Settings{}, servers, "one", "two").stdio()
	c.send(`{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{` + meta + `,"notifications":{}}}`)
	got := c.next() + c.next()
	has(t, got, `"uri":"one"`, `"uri":"two"`, `"io.modelcontextprotocol/subscriptionId":"sub"`)
	end <- struct{}{}
	has(t, c.next(), `"id":"sub"`)
	<-ended
}

// A completion request goes to the server of its prompt or resource.
func TestCompleteSeveral(t *testing.T) {
	servers := map[string]*fake{}
	for _, name := range []string{"one", "two"} {
		f := newFake(echoTool)
		f.answers["completion/complete"] = func(_ context.Context, _ *fakeLink, c *link.Call, _ *jsonrpc.Message) (string, error) {
			return `{"completion":{"values":["` + name + `"]}}`, nil
		}
		f.answers["prompts/get"] = func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
			return `{"messages":[]}`, nil
		}
		f.answers["resources/list"] = func(context.Context, *fakeLink, *link.Call, *jsonrpc.Message) (string, error) {
			return `{"resources":[{"uri":"test://` + name + `"}]}`, nil
		}
		servers[name] = f
	}
	c := setup(t, free+"[tools.\"mcp.prompts.get\".policy]\nrun = [{ arg = \"/name\", const = \"two__p\", mode = \"unattended\" }, { mode = \"deny\", reason = \"only p\" }]\n", mcpgate.Settings{}, servers, "one", "two").stdio()
	c.hello(`{}`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"two__p"}}}`), `"two"`)
	has(t, servers["two"].calls("completion/complete")[0], `"name":"p"`)
	c.ask(`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":3,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"test://one"}}}`), `"one"`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":4,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"}}}`), `-32602`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"two__p","arguments":{"a":"b"}}}`), `"messages"`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":6,"method":"prompts/get","params":{"name":"one__p"}}`), "only p")
}

// Proves W55: a client that sent a progress token is notified of a question.
func TestWaiting(t *testing.T) {
	f := newFake(echoTool)
	b := setup(t, asking, mcpgate.Settings{Elicitation: true, ProgressInterval: 10 * time.Millisecond}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{"elicitation":{}}`)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{"progressToken":"p"}}}`)
	seen := ""
	for !strings.Contains(seen, "elicitation/create") || !strings.Contains(seen, `"progressToken":"p","progress":2,"message":"waiting for an approval"`) {
		seen += c.next()
	}
	c.send(`{"jsonrpc":"2.0","id":"stopgate-1","result":{"action":"decline"}}`)
	for line := c.next(); ; line = c.next() {
		if strings.Contains(line, "approval_declined") {
			break
		}
	}
}
