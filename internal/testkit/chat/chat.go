// Package chat is a terminal agent for tests: a real gate, real tools in a directory of
// the test, and a scripted model whose pace the test holds in its hand.
package chat

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/agent/provider"
	"github.com/stopgate/stopgate/internal/agent/tools"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/session"
)

// Options make a rig. Script is required.
type Options struct {
	Script string // of the model, see replay.ParseScenario; without its first line
	Policy string // "" asks about everything
	API    provider.API
	Files  map[string]string // in the working tree
	Alone  bool              // nobody is asked
	Store  conversation.Store
	Facts  gate.Store // of the session; nil keeps them in memory
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
	T         testing.TB
	Dir       string
	Agent     *agent.Agent
	Questions *agent.QuestionQueue
	Tools     *tools.Set
	Store     conversation.Store
	Queue     *approve.Queue
	Records   *Recorder
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
	program, mistakes := prove.Compile([]policy.Source{{Name: "test.toml", Text: []byte(o.Policy), Trusted: true}}, policy.Options{Root: r.Dir})
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
	r.Questions = agent.NewQuestionQueue("anna", r.Queue, time.Now)
	if o.Facts == nil {
		o.Facts = mem.New()
	}
	options := []gate.Option{gate.WithRecorder(r.Records), gate.WithStore(o.Facts), gate.WithDenyMode(gate.DenyToolResult)}
	if !o.Alone {
		options = append(options, gate.WithApprover(r.Questions))
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

// Call is the latest state of a call.
func (r *Rig) Call(n int) agent.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[n]
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

// Question waits for the next question.
func (r *Rig) Question() *agent.Question {
	r.T.Helper()
	var q *agent.Question
	r.Until("a question", func() bool { q, _ = r.Questions.Next(); return q != nil })
	return q
}

// Answers answers every question in a goroutine that ends with the test.
func (r *Rig) Answers(answer func(q *agent.Question)) {
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if q, _ := r.Questions.Next(); q != nil {
				answer(q)
			}
			select {
			case <-r.Questions.Changed():
			case <-time.After(5 * time.Millisecond):
			case <-done:
				return
			}
		}
	}()
	r.T.Cleanup(func() { close(done); <-ended })
}

// Processed is the result of a message.
type Processed struct {
	Sum agent.Summary
	Err error
}

// Process sends a message to the agent in a goroutine.
func (r *Rig) Process(ctx context.Context, text string) <-chan Processed {
	done := make(chan Processed, 1)
	go func() {
		sum, err := r.Agent.Process(ctx, text)
		done <- Processed{sum, err}
	}()
	return done
}
