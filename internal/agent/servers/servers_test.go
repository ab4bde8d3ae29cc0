package servers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/servers"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/pin"
)

// The test binary is also the servers: its argument selects the behaviour.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "be" {
		be(os.Args[2], os.Args[3])
		return
	}
	goleak.VerifyTestMain(m)
}

// words stores the output of a server outside the protocol.
type words struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *words) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(w.b.String())
}

// rig is a set of servers with its notices.
type rig struct {
	*servers.Set
	t    *testing.T
	dir  string // for notes of the servers
	pins *pin.Store

	mu      sync.Mutex
	notices []string
}

// start starts servers with the behaviours in their names.
func start(t *testing.T, change func(o *servers.Options), names ...string) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), pins: pin.InMemory()}
	o := servers.Options{Pins: r.pins, Version: "test", Notice: func(text string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notices = append(r.notices, text)
	}}
	for _, name := range names {
		said := new(words)
		o.Servers = append(o.Servers, servers.Server{
			ID: stopgate.ServerID(name), Identity: name + "-id", LastWords: said.last,
			Open: func(_ context.Context, e link.Events) (link.Link, error) {
				return link.Start(link.Command{
					Args: []string{os.Args[0], "be", name, r.dir}, Env: os.Environ(), Stderr: said, Grace: 200 * time.Millisecond,
				}, e)
			},
		})
	}
	if change != nil {
		change(&o)
	}
	var err error
	if r.Set, err = servers.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func (r *rig) told() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.notices, "\n")
}

func (r *rig) names() (names []string) {
	for _, d := range r.Definitions(r.t.Context()) {
		name := string(d.Name)
		if d.Refused != "" {
			name += " refused: " + string(d.Refused)
		}
		names = append(names, name)
	}
	return names
}

func (r *rig) run(tool, args string) agent.Result {
	r.t.Helper()
	return r.Run(r.t.Context(), agent.Task{Tool: stopgate.ToolName(tool), Args: args})
}

// says waits for a note of a server in a file.
func (r *rig) says(file string) string {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(filepath.Join(r.dir, file)); err == nil && len(text) > 0 {
			return string(text)
		}
		if time.Now().After(end) {
			r.t.Fatalf("there is no %s", file)
		}
	}
}

func has(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in %q", want, text)
		}
	}
}

// Proves S39, G3: the tools of all pages, under the server's name, with their schemas; an invalid
// definition is left out and reported.
func TestDefinitions(t *testing.T) {
	r := start(t, nil, "good", "other")
	want := "good__echo good__image good__structured good__broken good__grow good__where other__echo other__image other__structured other__broken other__grow other__where"
	if got := strings.Join(r.names(), " "); got != want {
		t.Errorf("%s", got)
	}
	list := r.Definitions(t.Context())
	if list[0].Server != "good" || list[6].Server != "other" || !strings.Contains(string(list[0].Schema), `"text"`) {
		t.Errorf("%+v", list[0])
	}
	has(t, r.told(), "good: a tool is left out: two: two readers could read its member names differently", "other: a tool is left out")
	if !r.Has("good__x") || r.Has("fs_read_file") || r.Has("nobody__echo") {
		t.Error("the wrong runner is asked")
	}
	if r := r.run("nobody__echo", "{}"); !r.Failed {
		t.Errorf("%+v", r)
	}
}

// Proves G6: the model receives invisible characters of a description as escapes; the person is
// notified.
func TestHiddenDescriptions(t *testing.T) {
	r := start(t, nil, "hides")
	for _, d := range r.Definitions(t.Context()) {
		if strings.ContainsRune(d.Description+string(d.Schema), '\u200b') || !strings.Contains(d.Description, `\u{200b}`) || !strings.Contains(string(d.Schema), `\\u{200b}`) {
			t.Errorf("%q %s", d.Description, d.Schema)
		}
	}
	has(t, r.told(), "the description of echo holds characters that nobody sees")
}

func TestResults(t *testing.T) {
	r := start(t, nil, "good")
	r.names()
	for _, test := range []struct {
		tool, args, want string
		failed           bool
	}{
		{"good__echo", `{"text":"a\nb","n":1.50}`, `{"text":"a\nb","n":1.50}`, false},
		{"good__image", `{}`, "look:\n[image, image/png, 7 bytes: it cannot be shown here]\n[audio, of no type, 6 bytes: it cannot be shown here]\n[link to the resource notes file:///notes]\n[resource file:///a]\ninside\n[resource file:///b, application/zip, 3 bytes: it cannot be shown here]\n[content of the type \"hologram\", which cannot be shown here]", false},
		{"good__structured", `{}`, `{"x":1.50}`, false},
		{"good__broken", `{}`, "it broke", true},
		{"good__echo", `{"what":"nothing"}`, "[no content]", false},
		{"good__echo", `{"what":"no result"}`, "error: the server's answer is no result of a tool", true},
		{"good__echo", `{"what":"error"}`, "error: no such thing (-32602)", true},
		{"good__echo", `{"what":"input"}`, "error: the server wants an input of the user first, and nobody is asked here", true},
		{"good__echo", `{"what":"garbage"}`, "error: the server's answer cannot be read; the call may have run", true},
		{"good__gone", `{}`, `error: it did not run: the server has no tool "gone" any more`, true},
	} {
		if got := r.run(test.tool, test.args); got.Text != test.want || got.Failed != test.failed {
			t.Errorf("%s %s: %+v", test.tool, test.args, got)
		}
	}
}

// A result of ten megabytes is truncated, and states that.
func TestLargeResult(t *testing.T) {
	r := start(t, nil, "good")
	// Proves D25-49: a server cannot be held to a limit on files, so the call does not reach it.
	limited := r.Run(r.t.Context(), agent.Task{Tool: "good__echo", Args: `{"what":"x"}`, Access: &stopgate.Access{Read: []string{"/"}}})
	if !limited.Failed || !strings.Contains(limited.Text, "access: the policy limits the files that good__echo may touch") {
		t.Errorf("%+v", limited)
	}
	got := r.run("good__echo", `{"what":"big"}`)
	if got.Failed || len(got.Text) > 66<<10 {
		t.Errorf("%d bytes, %v", len(got.Text), got.Failed)
	}
	has(t, got.Text, "first", "last", "bytes left out")
	// A message that no link accepts ends the server, and the call reports that.
	got = r.run("good__echo", `{"what":"huge"}`)
	if !got.Failed {
		t.Errorf("%.80q", got.Text)
	}
	has(t, got.Text, "ended in the middle of the call, which may have run")
	if got = r.run("good__echo", `{"text":"again"}`); got.Failed {
		t.Errorf("%+v", got)
	}
}

// Proves W55: if a server exits, its call fails and is not repeated, and the server is restarted
// for the next call.
func TestServerDies(t *testing.T) {
	r := start(t, nil, "good")
	got := r.run("good__echo", `{"what":"die"}`)
	if !got.Failed {
		t.Errorf("%+v", got)
	}
	has(t, got.Text, "the server ended in the middle of the call, which may have run", "it said last:", "out of luck")
	if got = r.run("good__echo", `{"text":"again"}`); got.Failed || got.Text != `{"text":"again"}` {
		t.Errorf("%+v", got)
	}
	has(t, r.told(), "MCP server good is there again")
	if n := strings.Count(r.says("calls"), "die"); n != 1 {
		t.Errorf("the call was sent %d times", n)
	}
}

// If a server hangs, its call ends at the deadline or when the person interrupts it; the server is
// notified, and stays usable.
func TestServerHangs(t *testing.T) {
	r := start(t, func(o *servers.Options) { o.Timeout = 200 * time.Millisecond }, "good")
	r.names()
	got := r.run("good__echo", `{"what":"hang"}`)
	if !got.Failed {
		t.Errorf("%+v", got)
	}
	has(t, got.Text, "did not answer within 200ms and was told to stop")
	has(t, r.says("cancelled"), "notifications/cancelled")

	r = start(t, nil, "good")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for { // the server has received the call
			text, err := os.ReadFile(filepath.Join(r.dir, "calls"))
			if err == nil && strings.Contains(string(text), "hang") || ctx.Err() != nil {
				cancel(agent.Interrupted())
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	got = r.Run(ctx, agent.Task{Tool: "good__echo", Args: `{"what":"hang"}`})
	cancel(nil)
	if !got.Failed {
		t.Errorf("%+v", got)
	}
	has(t, got.Text, "the person interrupted it")
	r.says("cancelled")
	if got = r.run("good__echo", `{"text":"again"}`); got.Failed {
		t.Errorf("%+v", got)
	}
}

// Proves G4: a definition that changes while the agent runs is refused until an operator accepts
// it; new tools are available in the next request.
func TestToolsChange(t *testing.T) {
	r := start(t, nil, "good")
	if n := len(r.names()); n != 6 {
		t.Errorf("%d tools", n)
	}
	if got := r.run("good__grow", "{}"); got.Failed {
		t.Fatalf("%+v", got)
	}
	r.says("grown")
	got := strings.Join(r.names(), ", ")
	has(t, got, "good__fresh", "good__echo refused: tool_definition_changed")
	has(t, r.told(), "good: echo has changed since it was accepted", "stopgate mcp pin show good-id echo")
	if got := r.run("good__echo", "{}"); !got.Failed || !strings.Contains(got.Text, "has changed") {
		t.Errorf("%+v", got)
	}
	list, err := r.pins.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if p.Changed != nil {
			if err := r.pins.Accept(p.Server, p.Tool, p.Changed.Hash, "anna"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := r.run("good__grow", "{}"); got.Failed { // reports a change again
		t.Fatalf("%+v", got)
	}
	if got := strings.Join(r.names(), ", "); strings.Contains(got, "refused") {
		t.Error(got)
	}
}

// brokenPins are pins that cannot be read.
type brokenPins struct{}

func (brokenPins) Check(string, stopgate.ToolName, string, []byte) (bool, error) {
	return true, errors.New("disk on fire")
}

// Proves G4: if the accepted definitions are unknown, no definition is accepted.
func TestBrokenPins(t *testing.T) {
	r := start(t, func(o *servers.Options) { o.Pins = brokenPins{} }, "good")
	for _, name := range r.names() {
		if !strings.Contains(name, "refused") {
			t.Error(name)
		}
	}
	has(t, r.told(), "disk on fire")
}

// Proves G11: requests of a server to the client are refused; ping is answered.
func TestServerRequests(t *testing.T) {
	r := start(t, nil, "good")
	got := r.run("good__where", "{}")
	has(t, got.Text, "ping: result", "roots/list: error -32601", "sampling/createMessage: error -32601", "elicitation/create: error -32601")
}

func TestServersThatDoNotStart(t *testing.T) {
	r := start(t, func(o *servers.Options) {
		o.Start = 500 * time.Millisecond
		o.Servers = append(o.Servers, servers.Server{ID: "nothing", Open: func(context.Context, link.Events) (link.Link, error) {
			return link.Start(link.Command{Args: []string{filepath.Join(t.TempDir(), "not-there")}}, link.Events{})
		}})
		o.Servers = append(o.Servers, servers.Server{ID: "nowhere", Open: func(_ context.Context, e link.Events) (link.Link, error) {
			return link.Dial(link.Endpoint{URL: "http://127.0.0.1:1/mcp"}, e)
		}})
	}, "good", "early", "mute", "stranger", "liar", "toolless")
	for _, name := range r.names() {
		if !strings.HasPrefix(name, "good__") {
			t.Error(name)
		}
	}
	has(t, r.told(), "MCP server early: it ended before it said what its tools are; it said last: no key is set",
		"MCP server mute: it does not say what its tools are: its time was over",
		`MCP server stranger: it speaks a revision of MCP that is not known here: "1999-01-01"`,
		"MCP server liar: its list of tools cannot be read", "MCP server nothing: start server:", "MCP server nowhere: it cannot be reached: ")
	for _, s := range r.States() {
		if (s.Err == nil) != (s.ID == "good" || s.ID == "toolless") {
			t.Errorf("%s: %v", s.ID, s.Err)
		}
	}
	if got := r.run("early__x", "{}"); !got.Failed || !strings.Contains(got.Text, "it did not run: MCP server early") {
		t.Errorf("%+v", got)
	}
}

// The revision without sessions is used if the server supports no other.
func TestModernServer(t *testing.T) {
	r := start(t, nil, "modern")
	if got := r.run("modern__echo", `{"text":"hi"}`); got.Failed || got.Text != `{"text":"hi"}` {
		t.Errorf("%+v %s", got, r.told())
	}
}

// No server outlives the agent, including those that ignore the end, and those that are starting.
func TestClose(t *testing.T) {
	r := start(t, nil, "stubborn", "mute")
	if got := r.run("stubborn__echo", `{"text":"hi"}`); got.Failed {
		t.Fatalf("%+v", got)
	}
	r.says("mute")
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for _, file := range []string{"stubborn", "mute", "child"} {
		var pid int
		if _, err := fmt.Sscan(r.says(file), &pid); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ") {
				break
			}
			if time.Now().After(end) {
				t.Errorf("%s still runs", file)
				break
			}
		}
	}
	if got := r.run("stubborn__echo", `{}`); !got.Failed {
		t.Errorf("%+v", got)
	}
}

func TestNew(t *testing.T) {
	open := func(context.Context, link.Events) (link.Link, error) { return nil, link.ErrDead }
	for _, list := range [][]servers.Server{
		{{ID: "a__b", Open: open}}, {{ID: "", Open: open}}, {{ID: "a"}}, {{ID: "a", Open: open}, {ID: "a", Open: open}},
	} {
		if _, err := servers.New(servers.Options{Servers: list}); err == nil {
			t.Errorf("%+v", list)
		}
	}
}
