package provider

import (
	"errors"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/jsonstream"
)

// MaxRequest limits the size of a request body. Surfaces do not read more than that.
const MaxRequest = 64 << 20

// ReadRequest scans a request body, which must be one strict JSON object. The error is a
// *RequestError.
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

// Request holds the properties of a request that a codec needs to evaluate its response.
type Request struct {
	Model  string
	Stream bool
	// N is the requested number of choices; 0 if the request has it in a form that the gate
	// does not know.
	N int
	// MaxTokens is the maximum number of tokens of the response; 0 if the request has it in
	// a form that the gate does not know.
	MaxTokens int
	// Bytes is the size of the request, used to estimate its tokens.
	Bytes int
	// IncludeUsage reports that a streamed Chat response ends with its usage.
	IncludeUsage bool
	// Tools are the client-executed tools that the request declares, in its order.
	Tools []stopgate.ToolDefinition
	// Unknown lists declared names that do not identify a tool: their form is invalid, or
	// they are declared twice. Calls to them are refused.
	Unknown []string
	// ServerTools lists the types of tools that run at the provider, each once. The surface
	// allows or refuses them before it forwards the request.
	ServerTools []string
	// Refusals lists requested features that no surface can evaluate, such as a response
	// that is fetched later. A surface that enforces refuses the request with the first of
	// them; one that observes records them.
	Refusals []*RequestError
	// Conversational reports that the request is a turn of a conversation and can change
	// session state.
	Conversational bool
	// Hints identify the conversation, History are its earlier calls.
	Hints   Hints
	History []PastCall
	// Texts are the texts of the conversation that the model did not write, in their order.
	// Unseen names content that the model reads too and that only the provider has, apart from the
	// responses that Hints name.
	Texts  []Text
	Unseen []string

	index map[stopgate.ToolName]int // index in Tools; -1: unknown
}

// Declare adds a client-executed tool. A name of an invalid form, or one that is declared
// twice, is added to Unknown.
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

// ForceTool marks a tool that the request forces the model to call, or all tools if name is
// "".
func (r *Request) ForceTool(name stopgate.ToolName) {
	for i := range r.Tools {
		if name == "" || r.Tools[i].Name == name {
			r.Tools[i].Strict = true
		}
	}
}

// DeclareServerTool adds the type of a tool that runs at the provider.
func (r *Request) DeclareServerTool(typ string) {
	for _, known := range r.ServerTools {
		if known == typ {
			return
		}
	}
	r.ServerTools = append(r.ServerTools, typ)
}

// AddUnseenResults adds the note that the model may read results of tools that run at the provider
// and whose results the response does not have. shown is the one tool whose results it has.
func (r *Request) AddUnseenResults(shown string) {
	for _, typ := range r.ServerTools {
		if typ != shown {
			r.Texts = append(r.Texts, Text{Source: flow.Tool, Call: -1, OfProvider: true})
			return
		}
	}
}

// Tool returns the definition of a declared tool, or nil.
func (r *Request) Tool(name stopgate.ToolName) *stopgate.ToolDefinition {
	if at, ok := r.index[name]; ok && at >= 0 {
		return &r.Tools[at]
	}
	return nil
}

// IsUnknown reports whether a name is declared in Unknown.
func (r *Request) IsUnknown(name stopgate.ToolName) bool {
	at, ok := r.index[name]
	return ok && at < 0
}

// RequestError is the reason why a request is not forwarded.
type RequestError struct {
	Status  int // HTTP status
	Code    stopgate.Code
	Message string // one sentence for people
}

func (e *RequestError) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message) }

// BadRequest returns the error for a request that violates the dialect.
func BadRequest(format string, args ...any) *RequestError {
	return &RequestError{Status: 400, Code: stopgate.CodeProtocolViolation, Message: fmt.Sprintf(format, args...)}
}
