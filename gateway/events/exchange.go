package events

import (
	"maps"
	"net/http"
	"time"

	"github.com/stopgate/stopgate"
)

// Exchange is one request and its response. The hooks of all policies share its scratchpad. Only the
// running hook may use it.
type Exchange struct {
	ID        string
	TraceID   string // of the client's trace, or ""
	SpanID    string
	Session   stopgate.SessionID
	Principal stopgate.Principal
	Agent     stopgate.AgentName
	Dialect   string // "openai-chat", "openai-responses", "anthropic" or "gemini"
	Model     string
	Streamed  bool
	// Original is the request as the client sent it. Do not modify it.
	Original []byte
	// Calls counts the calls of the exchange that the gate has judged. OnFinishReason and
	// OnStreamComplete see the final numbers.
	Calls CallCounts
	// Scratchpad holds data of policies for this exchange. It is empty at the start and discarded
	// at the end.
	Scratchpad map[string]any

	// Policy is the name of the policy whose hooks have this exchange.
	Policy string
	// Publish receives the events of Emit; nil discards them. It must not block.
	Publish func(Event)
}

// CallCounts are numbers of calls.
type CallCounts struct {
	Judged    int // by the gate
	Blocked   int // of them: denied or skipped, by the gate or by a policy
	Rewritten int // of them: their arguments were replaced by a policy or by a person
}

// Severity is the importance of an event.
type Severity uint8

// The severities.
const (
	Info Severity = iota
	Warning
	Error
)

// String returns the name used in records.
func (s Severity) String() string {
	return [...]string{"info", "warning", "error"}[min(s, Error)]
}

// Event is reported by a policy to subscribers. It must not contain secrets: the operator decides
// where events are sent.
type Event struct {
	Type     string // dotted name chosen by the policy, such as "judge.blocked"
	Summary  string // one line for people
	Severity Severity
	Details  map[string]any // values that encoding/json can marshal

	// Set by Emit.
	Policy   string
	Exchange string
	Session  stopgate.SessionID
	TraceID  string
	SpanID   string
	Time     time.Time
}

// Emit reports an event. It never blocks and never fails, whether or not there are subscribers.
func (x *Exchange) Emit(e Event) {
	if x.Publish == nil {
		return
	}
	e.Policy, e.Exchange, e.Session, e.TraceID, e.SpanID, e.Time = x.Policy, x.ID, x.Session, x.TraceID, x.SpanID, time.Now()
	e.Details = maps.Clone(e.Details)
	x.Publish(e)
}

// Count increments a number in the scratchpad and returns it.
func (x *Exchange) Count(name string) int {
	n, _ := x.Scratchpad[name].(int)
	x.Scratchpad[name] = n + 1
	return n + 1
}

// Rejection refuses a request with a status and a message of the policy.
type Rejection struct {
	Status  int    // 400 to 499; other values become 403
	Message string // for the client; must not contain secrets
}

// Error returns the message.
func (r *Rejection) Error() string { return r.Message }

// StatusCode returns the status of the response to the client.
func (r *Rejection) StatusCode() int {
	if r.Status < 400 || r.Status > 499 {
		return http.StatusForbidden
	}
	return r.Status
}
