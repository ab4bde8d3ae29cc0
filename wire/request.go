package wire

import (
	"errors"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// MaxRequest bounds a request body; a surface reads no more anyway (WIRE 9.5).
const MaxRequest = 64 << 20

// ReadRequest scans a request body, which must be one strict JSON object. The
// error is a *RequestError.
func ReadRequest(doc *jsonstream.Document, body []byte) error {
	err := doc.Scan(body, EnvelopeOptions(MaxRequest))
	if err == nil {
		return nil
	}
	var bad *jsonstream.Error
	if errors.As(err, &bad) {
		switch bad.Code {
		case stopgate.CodeLimitExceeded:
			return &RequestError{Status: 413, Code: bad.Code, Message: "The request body exceeds a limit."}
		case stopgate.CodeDuplicateKey:
			return BadRequest("An object in the request body contains the same member twice.")
		}
	}
	return BadRequest("The request body is not one valid JSON object.")
}

// Request is what a codec needs to know of a request to judge its response.
type Request struct {
	Model  string
	Stream bool
	// N is how many choices were asked for; 0 if the request does not say it in a
	// form that is understood.
	N int
	// MaxTokens is how many tokens the answer may have; 0 if the request does not say it
	// in a form that is understood.
	MaxTokens int
	// Bytes is the size of the request, for an estimate of its tokens.
	Bytes int
	// IncludeUsage says that a streamed Chat response ends with its usage.
	IncludeUsage bool
	// Tools are the client-executed tools that the request declares, in its order.
	Tools []stopgate.ToolDefinition
	// Unknown are declared names that mean no tool: of a form that the gate does
	// not know, or declared twice. Calls to them are refused.
	Unknown []string
	// ServerTools are the types of tools that run at the provider, each once: the
	// surface allows or refuses them before the request is sent (WIRE 2.8).
	ServerTools []string
	// Refusals are what the request asks for and no surface can judge, such as an
	// answer that is fetched later: a surface that enforces refuses the request
	// with the first of them, one that observes records them.
	Refusals []*RequestError
	// Conversational says that the request is a turn of a conversation and may
	// move session state (WIRE 4.9).
	Conversational bool
	// Hints say which conversation that is, Past what happened in it before.
	Hints Hints
	Past  []Past

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

// Force notes that the request forces a call of a tool, of any of them if name is "".
func (r *Request) Force(name stopgate.ToolName) {
	for i := range r.Tools {
		if name == "" || r.Tools[i].Name == name {
			r.Tools[i].Strict = true
		}
	}
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
