package agent

import (
	"context"
	"errors"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/agent/conversation"
	"github.com/stopgate/stopgate/agent/provider"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/session"
)

// Runner runs calls. It gets the bytes that the gate released.
type Runner interface {
	// Definitions are the tools as they are now. Where they are elsewhere it waits for
	// them, but not longer than ctx lasts.
	Definitions(ctx context.Context) []Tool
	// Has reports whether calls of this name are for this runner.
	Has(tool stopgate.ToolName) bool
	// Run runs a call. It returns soon after ctx ends; what the tool itself could not do
	// is a result with Failed.
	Run(ctx context.Context, t Task) Result
	// Preview shows what a call would change, "" if there is nothing to show: a unified
	// diff. It changes nothing.
	Preview(tool stopgate.ToolName, args string) string
}

// Tool is a tool of a [Runner].
type Tool struct {
	stopgate.ToolDefinition
	Server stopgate.ServerID // the MCP server that has it, "" for none
	// Transport is how the server is reached, "pipe" or "tcp".
	Transport string
	// Refused is why every call of it is refused: the model is not told of the tool. ""
	// for one that can be called.
	Refused stopgate.Code
}

// Task is a call that may run.
type Task struct {
	Tool stopgate.ToolName
	Args string
	// Progress is told how far the call is, in words that may hold anything; nil for
	// nobody.
	Progress func(text string)
}

// Result is what a tool gives back.
type Result struct {
	Text   string
	Failed bool
	Absent bool // nothing is where the call looked
	// Raw is what the tool's server sent, where Text is what was made of it for the
	// model: the gate reads success from it. nil if Text is the whole result.
	Raw []byte
}

// Options make an agent. Gate, Endpoint, Tools, Conversations and Watch are required.
type Options struct {
	Gate          *gate.Gate
	Endpoint      *provider.Endpoint
	Tools         Runner
	Conversations conversation.Store
	Watch         Watcher
	// Owner is whose session it is; its session is the conversation's id.
	Owner  session.Owner
	System string // what the model is told before everything else
	Dir    string // where the agent works
	// Now is the wall clock; nil for the machine's.
	Now func() time.Time
	// Wait waits before a request is repeated; nil for real time.
	Wait func(ctx context.Context, d time.Duration) error
	// Observer is told how long models and tools take; nil for nobody.
	Observer Observer
	// MaxSteps is how many answers one message may lead to, 0 for 200.
	MaxSteps int
}

// Agent is one conversation. Its methods belong to one goroutine.
type Agent struct {
	Options
	entries []conversation.Entry
	calls   int // of the conversation so far
}

// New begins a conversation, or goes on with one whose entries are given.
func New(o Options, entries []conversation.Entry) (*Agent, error) {
	if o.Gate == nil || o.Endpoint == nil || o.Tools == nil || o.Conversations == nil || o.Watch == nil || o.Owner.Session == "" {
		return nil, errors.New("agent: gate, endpoint, tools, conversations, a watcher and a session are required")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	if o.MaxSteps <= 0 {
		o.MaxSteps = 200
	}
	return &Agent{Options: o, entries: entries}, nil
}

// ID is the conversation's id.
func (a *Agent) ID() string { return string(a.Owner.Session) }

// Waiting reports whether the conversation ends where the model has to speak: a process
// died there.
func (a *Agent) Waiting() bool { return conversation.Open(a.entries) }

// append adds entries to the log. What was done is written down also if nobody waits
// any more.
func (a *Agent) append(ctx context.Context, entries ...conversation.Entry) error {
	for i := range entries {
		entries[i].At = a.Now()
	}
	if len(a.entries) == 0 {
		entries = append([]conversation.Entry{{Kind: conversation.Begun, At: a.Now(), Dir: a.Dir}}, entries...)
	}
	if err := a.Conversations.AppendEntries(context.WithoutCancel(ctx), a.ID(), entries...); err != nil {
		return err
	}
	a.entries = append(a.entries, entries...)
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
