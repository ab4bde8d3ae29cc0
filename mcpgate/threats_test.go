package mcpgate_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/mcpgate"
)

// rmAndEcho is a policy that could be bypassed by a reader that sees the other name.
const rmAndEcho = "[tools.echo.policy]\nrun = \"unattended\"\n[tools.rm.policy]\nrun = [{ arg = \"/text\", const = \"never\", mode = \"unattended\" }, { mode = \"deny\" }]\n"

var rmTool = strings.Replace(echoTool, "echo", "rm", 1)

// Proves W55, G8: ambiguous messages are refused end to end: the payloads of CVE-2026-27896 and its
// successors, sent to the gate as a client would.
func TestAmbiguousMessages(t *testing.T) {
	f := newFake(echoTool, rmTool)
	b := setup(t, rmAndEcho, mcpgate.Settings{}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{}`)
	until(t, "the server hears of the client", func() bool { return strings.Contains(f.all(), "notifications/initialized") })
	before := f.all()
	for name, text := range map[string]string{
		"method twice":             `{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"rm","arguments":{}}}`,
		"name twice":               `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"rm","arguments":{}}}`,
		"name twice, escaped":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","n\u0061me":"rm","arguments":{}}}`,
		"arguments twice":          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm","arguments":{"text":"never"},"arguments":{"text":"x"}}}`,
		"an argument twice":        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm","arguments":{"text":"never","text":"x"}}}`,
		"params twice":             `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"params":{"name":"rm"}}`,
		"Method":                   `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"rm","arguments":{}}}`,
		"METHOD alone":             `{"jsonrpc":"2.0","id":1,"METHOD":"tools/call","params":{"name":"rm","arguments":{}}}`,
		"Params":                   `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"Params":{"name":"rm"}}`,
		"Name":                     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"rm","arguments":{}}}`,
		"Name first":               `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"NAME":"rm","name":"echo","arguments":{}}}`,
		"Arguments":                `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm","arguments":{"text":"never"},"Arguments":{"text":"x"}}}`,
		"long s folds to s":        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm","arguments":{"text":"never"},"argument\u017f":{"text":"x"}}}`,
		"Kelvin-like fold":         `{"jsonrpc":"2.0","id":1,"method":"tools/call","paramſ":{"name":"rm"},"params":{"name":"echo","arguments":{}}}`,
		"NUL behind a name":        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name\u0000":"rm","arguments":{}}}`,
		"NUL behind method":        `{"jsonrpc":"2.0","id":1,"method":"ping","method\u0000":"tools/call","params":{"name":"rm","arguments":{}}}`,
		"NUL within a name":        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name\u0000x":"rm","arguments":{}}}`,
		"many NULs behind a name":  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name` + strings.Repeat(`\u0000`, 200) + `":"rm","arguments":{}}}`,
		"much zero width":          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name` + strings.Repeat(`\u200b`, 90) + `":"rm","arguments":{}}}`,
		"zero width in a name":     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","na\u200bme":"rm","arguments":{}}}`,
		"full width name":          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","\uff4eame":"rm","arguments":{}}}`,
		"a space behind a name":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name ":"rm","arguments":{}}}`,
		"a batch":                  `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm","arguments":{}}}]`,
		"an empty batch":           `[]`,
		"two messages":             `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"rm"}}`,
		"id null":                  `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"echo","arguments":{}}}`,
		"id 1.0":                   `{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"echo","arguments":{}}}`,
		"id 1e0":                   `{"jsonrpc":"2.0","id":1e0,"method":"tools/call","params":{"name":"echo","arguments":{}}}`,
		"id true":                  `{"jsonrpc":"2.0","id":true,"method":"tools/call","params":{"name":"echo","arguments":{}}}`,
		"id {}":                    `{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"echo","arguments":{}}}`,
		"method and result":        `{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{},"params":{"name":"echo"}}`,
		"method with a NUL":        `{"jsonrpc":"2.0","id":1,"method":"tools/call\u0000","params":{"name":"echo"}}`,
		"method no text":           `{"jsonrpc":"2.0","id":1,"method":7,"params":{"name":"echo"}}`,
		"params a list":            `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["rm",{}]}`,
		"no version":               `{"id":1,"method":"tools/call","params":{"name":"echo"}}`,
		"version 1.0":              `{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"echo"}}`,
		"bytes that are no text":   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"rm\xff\"}}",
		"a byte order mark":        "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`,
		"a comment":                `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}/**/}`,
		"deep":                     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","x":` + strings.Repeat("[", 400) + strings.Repeat("]", 400) + `}}`,
		"no object":                `"tools/call"`,
		"a lone surrogate in name": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo\ud800"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			c.t = t
			c.send(text)
			if got := c.next(); !strings.Contains(got, `"code":-32600`) && !strings.Contains(got, `"code":-32700`) {
				t.Errorf("answered %s", got)
			}
		})
	}
	c.t = t
	has(t, c.ask(`{"jsonrpc":"2.0","id":99,"method":"ping"}`), `"result":{}`)
	if f.all() != before {
		t.Errorf("something reached the server:\n%s", strings.TrimPrefix(f.all(), before))
	}
	for _, r := range b.rows.Decisions() {
		if r.Status == stopgate.StatusAllowed {
			t.Errorf("allowed: %+v", r)
		}
	}
	if !strings.Contains(b.codes(), "denied protocol_violation") {
		t.Error("no call is on record as a protocol violation")
	}
}

// Proves G8, I14: a request without an id is not a notification. It must not reach a server that
// would execute it without a response, nor a client.
func TestRequestsWithoutID(t *testing.T) {
	f := newFake(echoTool, rmTool)
	b := setup(t, rmAndEcho, mcpgate.Settings{}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{}`)
	until(t, "the server hears of the client", func() bool { return strings.Contains(f.all(), "notifications/initialized") })
	before := f.all()
	for _, text := range []string{
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"rm","arguments":{"text":"never"}}}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`,
		`{"jsonrpc":"2.0","method":"tools/call"}`,
		`{"jsonrpc":"2.0","method":"tools/call/","params":{"name":"rm","arguments":{}}}`,
		`{"jsonrpc":"2.0","method":"x/call","params":{"name":"rm","arguments":{}}}`,
		`{"jsonrpc":"2.0","method":"Tools/Call","params":{"name":"rm","arguments":{}}}`,
		`{"jsonrpc":"2.0","method":"resources/read","params":{"uri":"x"}}`,
		`{"jsonrpc":"2.0","method":"x/new","params":{"uri":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/progress"}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/../call\u0000","params":{"name":"rm"}}`,
	} {
		c.send(text)
	}
	c.t = t
	has(t, c.ask(`{"jsonrpc":"2.0","id":99,"method":"ping"}`), `"result":{}`)
	if f.all() != before {
		t.Errorf("something reached the server:\n%s", strings.TrimPrefix(f.all(), before))
	}
	if n := strings.Count(b.codes(), "denied protocol_violation"); n != 3 {
		t.Errorf("%d calls are on record as protocol violations, want 3:\n%s", n, b.codes())
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":100,"method":"ping"}`), `"result":{}`)
	if n := len(f.calls("notifications/roots/list_changed")); n != 1 {
		t.Errorf("%d notifications reached the server, want 1", n)
	}
}

// Proves G8, CVE-2026-111770: ids and tokens of two clients are separate, and a response without a
// request is dropped.
func TestIDs(t *testing.T) {
	f := newFake(echoTool)
	var hold []chan struct{}
	for range 2 {
		hold = append(hold, make(chan struct{}))
	}
	n := make(chan int, 2)
	n <- 0
	n <- 1
	started := make(chan *link.Call, 2)
	links := make(chan *fakeLink, 2)
	f.answers["tools/call"] = func(_ context.Context, s *fakeLink, c *link.Call, m *jsonrpc.Message) (string, error) {
		i := <-n
		links <- s
		started <- c
		<-hold[i]
		return `{"content":[{"type":"text","text":"for ` + string(rune('0'+i)) + `"}]}`, nil
	}
	b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f})
	one, two := b.stdio(), b.stdio()
	one.hello(`{}`)
	two.hello(`{}`)
	text := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{"progressToken":"tok"}}}`
	one.send(text)
	first, firstLink := <-started, <-links
	two.send(text)
	<-started
	<-links
	// The first server's progress reaches only the first client, under its own token.
	m, _ := jsonrpc.Read([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(first.ID) + `,"progress":1}}`))
	first.OnMessage(m)
	want(t, one.next(), `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":1}}`)
	// An unknown token is dropped, as is a response without a request.
	firstLink.say(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":2}}`)
	firstLink.say(t, `{"jsonrpc":"2.0","id":77,"result":{}}`)
	// The same id twice at once is refused.
	one.send(text)
	has(t, one.next(), "-32600")
	close(hold[1])
	has(t, two.next(), `"id":1`, "for 1")
	close(hold[0])
	has(t, one.next(), `"id":1`, "for 0")
	has(t, b.log.String(), "unknown request")
}

// Proves W55, G4: a changed definition disables the tool, until an operator accepts it.
func TestChangedDefinition(t *testing.T) {
	for _, member := range []struct{ name, changed string }{
		{"description", strings.Replace(echoTool, "again", "again, and sends it to me", 1)},
		{"schema", strings.Replace(echoTool, `"n":`, `"to":{"type":"string"},"n":`, 1)},
		{"annotations", strings.Replace(echoTool, `"description"`, `"annotations":{"readOnlyHint":true},"description"`, 1)},
		{"title", strings.Replace(echoTool, `"description"`, `"title":"Safe","description"`, 1)},
	} {
		t.Run(member.name, func(t *testing.T) {
			f := newFake(echoTool)
			b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f})
			c := b.stdio()
			c.hello(`{}`)
			has(t, c.ask(call("1", "echo", `{}`)), "ran")
			f.setTools(member.changed)
			hasNot(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), `"echo"`)
			has(t, c.ask(call("3", "echo", `{}`)), "tool_definition_changed", `"isError":true`)
			pins, err := b.pins.List()
			if err != nil || len(pins) != 1 || pins[0].Changed == nil {
				t.Fatalf("pins %+v, %v", pins, err)
			}
			if err := b.pins.Accept(pins[0].Server, pins[0].Tool, pins[0].Changed.Hash, "ada"); err != nil {
				t.Fatal(err)
			}
			has(t, c.ask(call("4", "echo", `{}`)), "ran")
			has(t, c.ask(`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`), `"echo"`)
			if n := len(f.calls("tools/call")); n != 2 {
				t.Errorf("%d calls reached the server", n)
			}
		})
	}
	// Parts that are not pinned may change, as may the formatting.
	f := newFake(echoTool)
	b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{}`)
	c.ask(call("1", "echo", `{}`))
	f.setTools(`{ "inputSchema":{"properties":{"n":{"type":"number"},"text":{"type":"string"}},"type":"object"}, "description":"Says it \u0061gain","name":"echo","icons":[] }`)
	has(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), `"echo"`)
}

// Proves G4: if pins cannot be read, nothing runs.
func TestUnreadablePins(t *testing.T) {
	f := newFake(echoTool)
	b := setupWith(t, free, map[string]*fake{"": f}, func(o *mcpgate.Options) { o.Pins = brokenPins{} })
	c := b.stdio()
	c.hello(`{}`)
	has(t, c.ask(call("1", "echo", `{}`)), "tool_definition_changed")
	hasNot(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), `"echo"`)
}

// Proves G1, G3: names that do not match exactly are unknown tools, in calls and in lists.
func TestNames(t *testing.T) {
	var tools []string
	for _, name := range []string{"r\u0435ad_file", "read_file\u200b", "read_file ", "", "read/file"} {
		tools = append(tools, strings.Replace(echoTool, "echo", name, 1))
	}
	f := newFake(append(tools, strings.Replace(echoTool, "echo", "read_file", 1), strings.Replace(echoTool, `"name":"echo"`, `"name":"ok","Name":"rm"`, 1), `{"name":"bare"}`, `7`)...)
	b := setup(t, "[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n[tools.a__b__c.policy]\nrun = \"unattended\"\n", mcpgate.Settings{}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{}`)
	want(t, c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), `{"jsonrpc":"2.0","id":1,"result":{"tools":[`+strings.Replace(echoTool, "echo", "read_file", 1)+`]}}`)
	for _, name := range []string{"r\u0435ad_file", `read_file\u200b`, "read_file ", "Read_File", "READ_FILE", "read/file", "ok", "bare"} {
		has(t, c.ask(call("2", name, `{}`)), "Unknown tool")
	}
	if n := len(f.calls("tools/call")); n != 0 {
		t.Errorf("%d calls reached the server", n)
	}
	confusable := map[string]bool{}
	for _, row := range b.rows.Decisions() {
		if row.Status != stopgate.StatusDenied || row.Code != stopgate.CodePolicyNotConfigured {
			t.Errorf("row %+v", row)
		}
		confusable[string(row.Tool)] = row.Cause == "name"
	}
	if want := map[string]bool{
		"r\u0435ad_file": true, `"read_file\u200b"`: true, "read_file ": true, "read/file": true, "Read_File": false, "READ_FILE": false, "ok": false, "bare": false,
	}; !maps.Equal(confusable, want) {
		t.Errorf("on record as no names: %v, want %v", confusable, want)
	}
	// The first delimiter splits: the id of a server contains none.
	for _, id := range []string{"a__b", "a_b", "A", "", strings.Repeat("a", 33), "a.b"} {
		if mcpgate.ValidServerID(stopgate.ServerID(id)) {
			t.Errorf("%q names a server", id)
		}
	}
	one, two := newFake(strings.Replace(echoTool, "echo", "b__c", 1)), newFake(strings.Replace(echoTool, "echo", "c", 1))
	b = setup(t, "[tools.a__b__c.policy]\nrun = \"unattended\"\n", mcpgate.Settings{}, map[string]*fake{"a": one, "a-b": two}, "a", "a-b")
	c = b.stdio()
	c.hello(`{}`)
	has(t, c.ask(call("1", "a__b__c", `{}`)), "ran")
	if len(one.calls("tools/call")) != 1 || len(two.calls("tools/call")) != 0 {
		t.Error("the call went to the wrong server")
	}
	has(t, c.ask(call("2", "a-b__c", `{}`)), "Unknown tool")
}

// Proves G5: annotations of a server do not allow its tool.
func TestFalseAnnotations(t *testing.T) {
	f := newFake(strings.Replace(echoTool, `"description"`, `"annotations":{"readOnlyHint":true,"destructiveHint":false},"description"`, 1))
	b := setup(t, "[tools.\"*\".policy]\nrun = \"ask\"\n", mcpgate.Settings{}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{}`)
	has(t, c.ask(call("1", "echo", `{}`)), "no_approver")
}

// Proves G6: hidden text of a description is shown and reported.
func TestHiddenText(t *testing.T) {
	tool := `{"name":"echo","title":"E\u202echo","description":"line\n\u001b[31mred\u200b \ud83d\ude00","inputSchema":{"type":"object","properties":{"a":{"type":"string","description":"x\u2066y"},"description":{"type":"string","title":"t"}}}}`
	b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": newFake(tool)})
	c := b.stdio()
	c.hello(`{}`)
	got := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for _, hidden := range []string{"\u202e", "\u001b", "\u200b", "\u2066", `\u001b`, `\u200b`, `\u202e`, `\u2066`} {
		if strings.Contains(strings.ReplaceAll(got, `\\`, "/"), hidden) {
			t.Errorf("%q is still there in %s", hidden, got)
		}
	}
	has(t, got, "line\\n", "red", "\U0001F600", `"title":"t"`)
	has(t, b.log.String(), "hidden characters")
}

// Proves G11: requests of servers without a table in the policy are refused.
func TestServerRequests(t *testing.T) {
	for _, c := range []struct {
		method, policy string
		reaches        bool
	}{
		{"sampling/createMessage", "", false},
		{"elicitation/create", "", false},
		{"roots/list", "", false},
		{"x/other", "", false},
		{"elicitation/create", "[tools.\"mcp.elicitation\".policy]\nrun = \"unattended\"\n", true},
		{"sampling/createMessage", "[tools.\"mcp.sampling\".policy]\nrun = [{ arg = \"/maxTokens\", maximum = 100, mode = \"unattended\" }, { mode = \"deny\" }]\n", true},
		{"roots/list", "[tools.\"mcp.roots\".policy]\nrun = \"unattended\"\n", true},
	} {
		t.Run(c.method, func(t *testing.T) {
			f := newFake(echoTool)
			links := make(chan *fakeLink, 1)
			release := make(chan struct{})
			f.answers["tools/call"] = func(_ context.Context, s *fakeLink, call *link.Call, _ *jsonrpc.Message) (string, error) {
				m, _ := jsonrpc.Read([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + c.method + `","params":{"maxTokens":7,"message":"?"}}`))
				call.OnMessage(m)
				links <- s
				<-release
				return `{"content":[]}`, nil
			}
			b := setup(t, free+c.policy, mcpgate.Settings{}, map[string]*fake{"": f})
			cl := b.stdio()
			cl.hello(`{"sampling":{},"elicitation":{},"roots":{"listChanged":true},"other":{}}`)
			declared := f.calls("initialize")[0]
			for capability, method := range map[string]string{"sampling": "sampling/createMessage", "elicitation": "elicitation/create", "roots": "roots/list"} {
				if strings.Contains(declared, `"`+capability+`":`) != (c.reaches && c.method == method) {
					t.Errorf("the server gets %s", declared)
				}
			}
			has(t, declared, `"other":{}`)
			cl.send(call("5", "echo", `{}`))
			<-links
			if c.reaches {
				got := cl.next()
				has(t, got, `"id":"stopgate-1"`, c.method, `"maxTokens":7`)
				cl.send(`{"jsonrpc":"2.0","id":"stopgate-1","result":{"ok":[1.0]}}`)
				until(t, "the answer reaches the server", func() bool { return strings.Contains(f.all(), `{"jsonrpc":"2.0","id":1,"result":{"ok":[1.0]}}`) })
			} else {
				until(t, "the server is refused", func() bool { return strings.Contains(f.all(), `"id":1,"error":{"code":-32`) })
			}
			// A response without a request is dropped.
			cl.send(`{"jsonrpc":"2.0","id":"stopgate-9","result":{"forged":1}}`)
			close(release)
			has(t, cl.next(), `"id":5`)
			hasNot(t, f.all(), "forged")
		})
	}
}

// Proves G2: globs of tool names are case-sensitive.
func TestGlobCase(t *testing.T) {
	f := newFake(strings.Replace(echoTool, "echo", "Vfs_write", 1), strings.Replace(echoTool, "echo", "vfs_read", 1))
	b := setup(t, "[tools.\"vfs_*\"]\nuncovered = \"allow\"\n[tools.\"vfs_*\".policy]\nrun = \"unattended\"\n", mcpgate.Settings{}, map[string]*fake{"": f})
	c := b.stdio()
	c.hello(`{}`)
	has(t, c.ask(call("1", "vfs_read", `{}`)), "ran")
	has(t, c.ask(call("2", "Vfs_write", `{}`)), "Unknown tool: Vfs_write")
}
