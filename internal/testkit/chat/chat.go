// Package chat is a terminal agent for tests: a real gate, real tools in a directory of
// the test, and a scripted model whose pace the test holds in its hand.
package chat

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/agent"
	"github.com/stopgate/stopgate/agent/conversation"
	"github.com/stopgate/stopgate/agent/provider"
	"github.com/stopgate/stopgate/agent/tools"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/store/mem"
)

// Options make a rig. Script is required.
type Options struct {
	Script string // of the model, see replay.ParseScenario; without its first line
	Policy string // "" asks about everything
	API    provider.API
	Files  map[string]string // in the working tree
	Alone  bool              // nobody is asked
	Store  conversation.Store
	Past   []conversation.Entry
	Local  []tools.Local
	Watch  agent.Watcher // told beside the rig
	// Observer is told how long things take.
	Observer agent.Observer
	Now      func() time.Time
	// Transport stands before the scripted model.
	Transport func(http.RoundTripper) http.RoundTripper
}

// Rig is an agent and everything around it.
type Rig struct {
	T       testing.TB
	Dir     string
	Agent   *agent.Agent
	Desk    *agent.Desk
	Tools   *tools.Set
	Store   conversation.Store
	Queue   *approve.Queue
	Records *Recorder
	// Slow is how many more tokens the model writes before it waits for Go; a negative
	// number never waits.
	slow    atomic.Int64
	held    chan struct{}
	blocked atomic.Bool

	mu      sync.Mutex
	reports []replay.Report
	bodies  []string
	calls   map[int]agent.Call
	history []agent.Call
	text    strings.Builder
	notices []string
}

// Ask is the policy that asks about everything but looking, and refuses secrets.
const Ask = `version = 1
[tools."*".policy]
run = "ask"
[tools.fs_read_file.policy]
run = "unattended"
[tools.fs_list_files.policy]
run = "unattended"
[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"
reason = "secrets stay out of reach"
`

// New makes a rig.
func New(t testing.TB, o Options) *Rig {
	t.Helper()
	r := &Rig{T: t, Dir: t.TempDir(), held: make(chan struct{}), calls: map[int]agent.Call{}, Store: o.Store, Records: new(Recorder)}
	r.slow.Store(-1)
	for name, text := range o.Files {
		path := filepath.Join(r.Dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	if o.Policy == "" {
		o.Policy = Ask
	}
	program, mistakes := policy.Compile([]policy.Source{{Name: "test.toml", Text: []byte(o.Policy), Trusted: true}}, policy.Options{Root: r.Dir})
	if program == nil {
		t.Fatal(mistakes.Err())
	}
	script, err := replay.ParseScenario("test", []byte("model stopgate-test\n"+o.Script))
	must(t, err)
	up, err := replay.New(replay.Options{
		Scenarios: []*replay.Scenario{script}, TokensPerSecond: 1, Sleep: r.sleep, Now: func() time.Time { return time.Unix(0, 0) },
		Ended: func(report replay.Report) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.reports = append(r.reports, report)
		},
	})
	must(t, err)
	transport := http.RoundTripper(&tap{r, replay.Transport(up)})
	if o.Transport != nil {
		transport = o.Transport(transport)
	}
	if o.API == "" {
		o.API = provider.Chat
	}
	e := &provider.Endpoint{API: o.API, URL: "http://replay/v1", Model: "stopgate-test", Transport: transport}
	if o.API == provider.Messages {
		e.URL = "http://replay"
	}
	r.Tools, err = tools.New(tools.Options{Dir: r.Dir, Env: os.Environ(), Local: o.Local})
	must(t, err)
	t.Cleanup(func() { r.Tools.Close() })
	r.Queue, err = approve.New(new(mem.Approvals), approve.Options{})
	must(t, err)
	r.Desk = agent.NewDesk("anna", r.Queue, time.Now)
	options := []gate.Option{gate.WithRecorder(r.Records), gate.WithStore(mem.New()), gate.WithDenyMode(gate.DenyToolResult)}
	if !o.Alone {
		options = append(options, gate.WithApprover(r.Desk))
	}
	g, err := gate.New(program, options...)
	must(t, err)
	if r.Store == nil {
		r.Store = new(mem.Conversations)
	}
	var watch agent.Watcher = watcher{r}
	if o.Watch != nil {
		watch = both{watch, o.Watch}
	}
	r.Agent, err = agent.New(agent.Options{
		Observer: o.Observer,
		Gate:     g, Endpoint: e, Tools: r.Tools, Conversations: r.Store, Watch: watch, Dir: r.Dir, System: "be brief",
		Owner: session.Owner{Principal: "local", Session: "talk"}, Now: o.Now, Wait: func(context.Context, time.Duration) error { return nil },
	}, o.Past)
	must(t, err)
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Hold lets the model write n more tokens, and then wait.
func (r *Rig) Hold(n int) { r.slow.Store(int64(n)) }

// Held waits until the model waits.
func (r *Rig) Held() {
	r.T.Helper()
	r.Until("the model waits", r.blocked.Load)
}

// Go lets the model write on without end.
func (r *Rig) Go() {
	r.slow.Store(-1)
	close(r.held)
}

func (r *Rig) sleep(ctx context.Context, d time.Duration) error {
	n := int64(d / time.Second)
	for {
		left := r.slow.Load()
		if left < 0 {
			return nil
		}
		if left >= n && r.slow.CompareAndSwap(left, left-n) {
			return nil
		}
		if left < n {
			r.blocked.Store(true)
			select {
			case <-r.held:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// tap keeps the requests.
type tap struct {
	r    *Rig
	next http.RoundTripper
}

func (t *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	t.r.mu.Lock()
	t.r.bodies = append(t.r.bodies, string(body))
	t.r.mu.Unlock()
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	return t.next.RoundTrip(req)
}

// Requests are the bodies that the model was sent.
func (r *Rig) Requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.bodies...)
}

// Reports say how far each answer of the model came.
func (r *Rig) Reports() []replay.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]replay.Report(nil), r.reports...)
}

// Saved is how many bytes the model did not have to write. It waits until every answer
// has ended.
func (r *Rig) Saved() (n int64) {
	r.Until("the end of the answers", func() bool { return len(r.Reports()) == len(r.Requests()) })
	for _, report := range r.Reports() {
		n += report.Total - report.Generated
	}
	return n
}

// Call is the latest state of a call.
func (r *Rig) Call(n int) agent.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[n]
}

// Notices are what a person was told.
func (r *Rig) Notices() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.notices...)
}

// Text is what the model said.
func (r *Rig) Text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// Entries are the log of the conversation.
func (r *Rig) Entries() []conversation.Entry {
	r.T.Helper()
	list, err := r.Store.ConversationEntries(context.Background(), "talk")
	must(r.T, err)
	return list
}

// File is the content of a file of the working tree, "" if there is none.
func (r *Rig) File(name string) string {
	text, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// Until waits for a condition.
func (r *Rig) Until(what string, ok func() bool) {
	r.T.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.T.Fatalf("%s does not happen", what)
		}
	}
}

// Question waits for the next question.
func (r *Rig) Question() *agent.Question {
	r.T.Helper()
	var q *agent.Question
	r.Until("a question", func() bool { q, _ = r.Desk.Next(); return q != nil })
	return q
}

// Answers answers every question in a goroutine that ends with the test.
func (r *Rig) Answers(answer func(q *agent.Question)) {
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if q, _ := r.Desk.Next(); q != nil {
				answer(q)
			}
			select {
			case <-r.Desk.Changed():
			case <-time.After(5 * time.Millisecond):
			case <-done:
				return
			}
		}
	}()
	r.T.Cleanup(func() { close(done); <-ended })
}

// Said is how a message ended.
type Said struct {
	Sum agent.Summary
	Err error
}

// Say says something to the agent in a goroutine.
func (r *Rig) Say(ctx context.Context, text string) <-chan Said {
	done := make(chan Said, 1)
	go func() {
		sum, err := r.Agent.Say(ctx, text)
		done <- Said{sum, err}
	}()
	return done
}

// watcher keeps what happens.
type watcher struct{ r *Rig }

func (w watcher) lock(f func()) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	f()
}

func (w watcher) Asked()             {}
func (w watcher) Answered()          {}
func (w watcher) Thinking(string)    {}
func (w watcher) Text(piece string)  { w.lock(func() { w.r.text.WriteString(piece) }) }
func (w watcher) Notice(text string) { w.lock(func() { w.r.notices = append(w.r.notices, text) }) }
func (w watcher) Call(c agent.Call) {
	w.lock(func() { w.r.calls[c.Number] = c; w.r.history = append(w.r.history, c) })
}

type both [2]agent.Watcher

func (b both) Asked()                { b[0].Asked(); b[1].Asked() }
func (b both) Answered()             { b[0].Answered(); b[1].Answered() }
func (b both) Text(piece string)     { b[0].Text(piece); b[1].Text(piece) }
func (b both) Thinking(piece string) { b[0].Thinking(piece); b[1].Thinking(piece) }
func (b both) Notice(text string)    { b[0].Notice(text); b[1].Notice(text) }
func (b both) Call(c agent.Call)     { b[0].Call(c); b[1].Call(c) }

// Recorder keeps audit rows in memory.
type Recorder struct {
	mu   sync.Mutex
	rows []stopgate.Record
}

// Record implements gate.Recorder.
func (r *Recorder) Record(_ context.Context, row *stopgate.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, *row)
	return nil
}

// Rows are the rows so far.
func (r *Recorder) Rows() []stopgate.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]stopgate.Record(nil), r.rows...)
}

// Legal checks the history of a request: every call is answered once, directly behind
// its message, and nothing is answered that was not called.
func Legal(t testing.TB, api provider.API, body string) {
	t.Helper()
	var req struct {
		Messages []struct {
			Role      string
			Content   any
			ToolCalls []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
			ToolCallID string `json:"tool_call_id"`
		}
		Input []struct {
			Type, Role, Arguments string
			CallID                string `json:"call_id"`
		}
	}
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	open := map[string]bool{}
	call := func(id, args string) {
		var object map[string]any
		if id == "" || open[id] || json.Unmarshal([]byte(args), &object) != nil {
			t.Errorf("call %q with %s", id, args)
		}
		open[id] = true
	}
	answer := func(id string) {
		if !open[id] {
			t.Errorf("a result for %q, which was not called", id)
		}
		delete(open, id)
	}
	settled := func(where string) {
		if len(open) > 0 {
			t.Errorf("before %s the calls %v have no result: %s", where, open, body)
		}
	}
	last := ""
	for i, m := range req.Messages {
		switch {
		case m.Role == "tool":
			answer(m.ToolCallID)
		case api != provider.Messages:
			settled(m.Role)
		}
		for _, c := range m.ToolCalls {
			call(c.ID, c.Function.Arguments)
		}
		if api == provider.Messages {
			if m.Role == last || i == 0 && m.Role != "user" {
				t.Errorf("%s behind %q", m.Role, last)
			}
			blocks, _ := m.Content.([]any)
			if len(blocks) == 0 {
				t.Errorf("a message without content: %s", body)
			}
			for _, b := range blocks {
				block, _ := b.(map[string]any)
				switch block["type"] {
				case "tool_use":
					input, _ := json.Marshal(block["input"])
					call(block["id"].(string), string(input))
				case "tool_result":
					answer(block["tool_use_id"].(string))
				case "text":
					if block["text"] == "" {
						t.Error("an empty text")
					}
				}
			}
			if m.Role == "user" {
				settled("the next answer")
			}
		}
		last = m.Role
	}
	for _, item := range req.Input {
		switch item.Type {
		case "function_call":
			call(item.CallID, item.Arguments)
		case "function_call_output":
			answer(item.CallID)
		default:
			settled(item.Type)
		}
	}
	settled("the end")
}
