package events

import (
	"maps"
	"net/http"
	"time"

	"github.com/stopgate/stopgate"
)

// Exchange is one request and its response, as the hooks of all policies see it
// (V3-02, V3-03). It belongs to the hook that runs.
type Exchange struct {
	ID        string
	TraceID   string // of the client's trace, "" without one
	SpanID    string
	Session   stopgate.SessionID
	Principal stopgate.Principal
	Agent     stopgate.AgentName
	Dialect   string // "openai-chat", "openai-responses" or "anthropic"
	Model     string
	Streamed  bool
	// Original is the request as the client sent it. It must not be changed.
	Original []byte
	// Scratchpad is where a policy keeps what belongs to this exchange. It begins empty
	// and ends with the exchange.
	Scratchpad map[string]any

	emit   func(Event)
	policy string // whose hook runs
}

// Severity says how much an event matters.
type Severity uint8

// The severities.
const (
	Info Severity = iota
	Warning
	Error
)

// String is the word for records.
func (s Severity) String() string {
	return [...]string{"info", "warning", "error"}[min(s, Error)]
}

// Event is something that a policy tells whoever watches (V3-04). It must not hold
// secrets: where events go is the operator's choice.
type Event struct {
	Type     string // dotted words of the policy's own, such as "judge.blocked"
	Summary  string // one line for people
	Severity Severity
	Details  map[string]any // values that encoding/json can write

	// Set by Emit.
	Policy   string
	Exchange string
	Session  stopgate.SessionID
	TraceID  string
	SpanID   string
	Time     time.Time
}

// Emit tells an event. It never blocks and never fails; who watches, and whether
// anybody does, is not the policy's business.
func (x *Exchange) Emit(e Event) {
	if x.emit == nil {
		return
	}
	e.Policy, e.Exchange, e.Session, e.TraceID, e.SpanID, e.Time = x.policy, x.ID, x.Session, x.TraceID, x.SpanID, time.Now()
	e.Details = maps.Clone(e.Details)
	x.emit(e)
}

// Count adds one to a number in the scratchpad and returns it.
func (x *Exchange) Count(name string) int {
	n, _ := x.Scratchpad[name].(int)
	x.Scratchpad[name] = n + 1
	return n + 1
}

// Rejection refuses a request with a status and a sentence of the policy's own.
type Rejection struct {
	Status  int    // 400 to 499; anything else is 403
	Message string // for the client; must not hold secrets
}

// Error is the message.
func (r *Rejection) Error() string { return r.Message }

// StatusCode is the status that the client gets.
func (r *Rejection) StatusCode() int {
	if r.Status < 400 || r.Status > 499 {
		return http.StatusForbidden
	}
	return r.Status
}
