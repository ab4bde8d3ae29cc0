package agent

import (
	"context"
	"errors"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/agent/provider"
	"github.com/stopgate/stopgate/session"
)

// Runner runs calls. It receives the bytes that the gate released.
type Runner interface {
	// Definitions returns the current tools. It may wait for servers until ctx ends.
	Definitions(ctx context.Context) []Tool
	// Has reports whether the runner has the tool.
	Has(tool stopgate.ToolName) bool
	// Run runs a call. It returns soon after ctx ends. A failure of the tool is a result
	// with Failed.
	Run(ctx context.Context, t Task) Result
	// Preview returns the effect of a call as a unified diff, "" if there is none to show,
	// without running the call.
	Preview(tool stopgate.ToolName, args string) string
}

// Tool is a tool of a [Runner].
type Tool struct {
	stopgate.ToolDefinition
	Server stopgate.ServerID // the MCP server of the tool, "" for none
	// Transport is the transport to the server, "pipe" or "tcp".
	Transport string
	// Refused is the reason why every call of the tool is refused; the model does not see
	// such a tool. It is "" for other tools.
	Refused stopgate.Code
}

// Task is a call that is allowed to run.
type Task struct {
	Tool stopgate.ToolName
	Args string
	// Access limits the files that the tool may touch; nil is no limit. A runner that cannot
	// enforce a limit does not run the call.
	Access *stopgate.Access
	// Progress receives the progress of the call as untrusted text; it may be nil.
	Progress func(text string)
}

// Result is the result of a tool.
type Result struct {
	Text   string
	Failed bool
	Absent bool // the requested object does not exist
	// Raw is the server's original result if Text was derived from it: the gate evaluates
	// it. It is nil if Text is the complete result.
	Raw []byte
}

// Options configure an agent. Gate, Endpoint, Tools, Conversations and Watch are required.
type Options struct {
	Gate          *gate.Gate
	Endpoint      *provider.Endpoint
	Tools         Runner
	Conversations conversation.Store
	Watch         Watcher
	// Owner is the owner of the session; its session is the conversation's id.
	Owner  session.Owner
	System string // system prompt
	Dir    string // working directory
	// Now returns the time; nil uses the system clock.
	Now func() time.Time
	// Wait waits before a request is retried; nil uses real time.
	Wait func(ctx context.Context, d time.Duration) error
	// Observer receives operations for traces and metrics; it may be nil.
	Observer Observer
	// MaxSteps is the maximum number of responses per prompt, 0 for 200.
	MaxSteps int
}

// Agent is one conversation. Its methods must be called from one goroutine.
type Agent struct {
	Options
	entries []conversation.Entry
	calls   int // number of calls in the conversation
	// reported is set when the gate has the system prompt.
	reported bool
}

// New starts a conversation, or continues one with the given entries.
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

// ID returns the conversation's id.
func (a *Agent) ID() string { return string(a.Owner.Session) }

// Waiting reports whether the model is next because the last process ended there.
func (a *Agent) Waiting() bool { return conversation.Open(a.entries) }

// append adds entries to the log. It writes them even if ctx has ended.
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
