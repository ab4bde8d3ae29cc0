package agent

import (
	"io"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/cli"
)

// agentLines writes events as lines of JSON.
type agentLines struct {
	out   io.Writer
	model model

	mu   sync.Mutex
	last map[int]string // the arguments of each call so far
	err  error
}

var _ agent.Watcher = (*agentLines)(nil)

// agentEvent is one line.
type agentEvent struct {
	Event string `json:"event"` // asked, text, thinking, answered, call, notice, end
	Text  string `json:"text,omitempty"`
	*agentCall
	*agentEnd
}

// agentCall is a call in a line.
type agentCall struct {
	Call      int                 `json:"call"`
	Proposal  stopgate.ProposalID `json:"proposal"`
	Tool      stopgate.ToolName   `json:"tool"`
	State     string              `json:"state"`
	Mode      string              `json:"mode,omitempty"`
	Code      stopgate.Code       `json:"code,omitempty"`
	Rule      *stopgate.RuleRef   `json:"rule,omitempty"`
	Pointer   string              `json:"pointer,omitempty"`
	DecidedAt *int64              `json:"decided_at,omitempty"`
	Complete  map[string]raw      `json:"complete"`
	Pending   []string            `json:"pending,omitempty"`
	Bytes     int64               `json:"bytes"`
	Approval  *stopgate.Approval  `json:"approval,omitempty"`
	Result    *string             `json:"result,omitempty"`
	Withheld  bool                `json:"withheld,omitempty"`
}

// raw is JSON text as it is.
type raw string

// MarshalJSON implements json.Marshaler.
func (r raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// agentEnd is the last line.
type agentEnd struct {
	Conversation string        `json:"conversation"`
	Summary      agent.Summary `json:"summary"`
	NotGenerated *int64        `json:"not_generated,omitempty"`
	Error        string        `json:"error,omitempty"`
}

func (l *agentLines) write(e agentEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = cli.WriteJSON(l.out, e)
	}
}

// Asked implements [agent.Watcher], as the other methods do.
func (l *agentLines) Asked()                { l.write(agentEvent{Event: "asked"}) }
func (l *agentLines) Answered()             { l.write(agentEvent{Event: "answered"}) }
func (l *agentLines) Text(piece string)     { l.write(agentEvent{Event: "text", Text: piece}) }
func (l *agentLines) Thinking(piece string) { l.write(agentEvent{Event: "thinking", Text: piece}) }
func (l *agentLines) Notice(text string)    { l.write(agentEvent{Event: "notice", Text: text}) }

var stateNames = map[agent.CallState]string{
	agent.Arriving: "arriving", agent.Complete: "complete", agent.Running: "running",
	agent.Done: "done", agent.Failed: "failed", agent.Refused: "refused",
}

// Call writes a line where something but the number of bytes changed (Q7).
func (l *agentLines) Call(c agent.Call) {
	out := &agentCall{
		Call: c.Number, Proposal: c.Proposal, Tool: c.Tool, State: stateNames[c.State], Complete: map[string]raw{},
		Bytes: c.Received, Approval: c.Approval, Withheld: c.Withheld,
	}
	key := out.State
	for _, p := range c.Parameters {
		if p.Complete() {
			out.Complete[p.Name] = raw(p.JSON)
		} else {
			out.Pending = append(out.Pending, p.Name)
		}
		key += " " + p.Name
		if p.Complete() {
			key += "!"
		}
	}
	if v := c.Verdict; v.Decided {
		out.Mode, out.Code, out.Rule, out.Pointer, out.DecidedAt = v.Mode.String(), v.Code, v.Rule, v.Pointer, &v.DecidedAt
		key += " " + v.String()
	}
	if c.Ended() {
		out.Result = &c.Result
	}
	l.mu.Lock()
	known := l.last[c.Number] == key
	if l.last == nil {
		l.last = map[int]string{}
	}
	l.last[c.Number] = key
	l.mu.Unlock()
	if !known {
		l.write(agentEvent{Event: "call", agentCall: out})
	}
}

// end writes the last line. It returns the first write error.
func (l *agentLines) end(id string, sum agent.Summary, err error) error {
	end := &agentEnd{Conversation: id, Summary: sum}
	if err != nil {
		end.Error = err.Error()
	}
	if l.model.script != nil {
		saved := l.model.script.saved()
		end.NotGenerated = &saved
	}
	l.write(agentEvent{Event: "end", agentEnd: end})
	return l.err
}
