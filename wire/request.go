package wire

import (
	"fmt"

	"github.com/stopgate/stopgate"
)

// Request is what a codec needs to know of a request to judge its response.
type Request struct {
	Model  string
	Stream bool
	// N is how many choices were asked for; 0 if the request does not say it in a
	// form that is understood.
	N int
	// Tools are the client-executed tools that the request declares, in its order.
	Tools []stopgate.ToolDefinition
	// Unknown are declared names that mean no tool: of a form that the gate does
	// not know, or declared twice. Calls to them are refused.
	Unknown []string
	// ServerTools are the types of tools that run at the provider, each once: the
	// surface allows or refuses them before the request is sent (WIRE 2.8).
	ServerTools []string
	// Conversational says that the request is a turn of a conversation and may
	// move session state (WIRE 4.9).
	Conversational bool

	index map[stopgate.ToolName]int // in Tools; -1: unknown
}

// Declare adds a client-executed tool. A name of another form than the gate
// knows, and a name that is declared twice, is no tool (WIRE 2.1).
func (r *Request) Declare(def stopgate.ToolDefinition) {
	if r.index == nil {
		r.index = make(map[stopgate.ToolName]int)
	}
	at, seen := r.index[def.Name]
	switch {
	case seen && at < 0:
		return
	case seen:
		r.Tools = append(r.Tools[:at], r.Tools[at+1:]...)
		for i, later := range r.Tools[at:] {
			r.index[later.Name] = at + i
		}
	case stopgate.ValidToolName(def.Name):
		r.index[def.Name] = len(r.Tools)
		r.Tools = append(r.Tools, def)
		return
	}
	r.index[def.Name] = -1
	r.Unknown = append(r.Unknown, string(def.Name))
}

// DeclareServer adds the type of a tool that runs at the provider.
func (r *Request) DeclareServer(typ string) {
	for _, known := range r.ServerTools {
		if known == typ {
			return
		}
	}
	r.ServerTools = append(r.ServerTools, typ)
}

// Tool returns the definition of a declared tool, or nil.
func (r *Request) Tool(name stopgate.ToolName) *stopgate.ToolDefinition {
	if at, ok := r.index[name]; ok && at >= 0 {
		return &r.Tools[at]
	}
	return nil
}

// Refuses reports whether a name is declared in a way that makes it unknown.
func (r *Request) Refuses(name stopgate.ToolName) bool {
	at, ok := r.index[name]
	return ok && at < 0
}

// RequestError says why a request is not sent on.
type RequestError struct {
	Status  int // HTTP status
	Code    stopgate.Code
	Message string // one sentence for people
}

func (e *RequestError) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message) }

// BadRequest is a request that breaks the dialect's form.
func BadRequest(format string, args ...any) *RequestError {
	return &RequestError{Status: 400, Code: stopgate.CodeProtocolViolation, Message: fmt.Sprintf(format, args...)}
}
