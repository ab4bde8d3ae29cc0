package gemini

import (
	"iter"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// The members that clients read in a response. Calls are parts of the content of candidates.
var (
	partShape = provider.Shape{
		provider.EvaluatedElements: nil, "functionCall": nil, "text": nil, "thought": nil, "thoughtSignature": nil,
		"inlineData": nil, "fileData": nil, "executableCode": nil, "codeExecutionResult": nil, "toolCall": nil, "toolResponse": nil,
		"functionResponse": nil,
	}
	candidateShape = provider.Shape{
		provider.EvaluatedElements: nil, "index": nil, "finishReason": nil, "finishMessage": nil, "logprobsResult": nil,
		"content": {"role": nil, "parts": partShape},
	}
	chunkShape = provider.Shape{
		"candidates": candidateShape, "usageMetadata": nil, "modelVersion": nil, "responseId": nil, "createTime": nil, "error": nil,
		"promptFeedback": nil,
	}
)

// Clients read these names. Some of them would also read a lookalike, so it makes the response
// malformed.
var (
	chunkNames     = []string{"candidates", "error", "promptFeedback"}
	candidateNames = []string{"content", "index", "finishReason", "finish_reason"}
	contentNames   = []string{"parts", "role"}
	partNames      = []string{"functionCall", "function_call", "text", "thoughtSignature", "thought_signature"}
	callNames      = []string{"name", "args", "id", "partialArgs", "willContinue", "partial_args", "will_continue"}
)

// candidate is one candidate of a chunk.
type candidate struct {
	v, content, parts jsonstream.Value
	reason            jsonstream.Value // finishReason, if it is set
	choice            *choice
	calls             []*call // by position in parts, nil for other parts
}

// chunk is one parsed response: an event, or a body.
type chunk struct {
	root       jsonstream.Value
	fault      jsonstream.Value // the error, if present
	blocked    bool             // the prompt was blocked: there are no candidates
	usage      jsonstream.Value
	candidates []candidate
	hasCalls   bool
}

// spelled reports whether an object has a name in the other spelling, which some clients accept.
func spelled(object jsonstream.Value, names ...string) bool {
	for _, name := range names {
		if _, ok := object.Get(name); ok {
			return true
		}
	}
	return false
}

// read parses a response. It returns false if clients could parse it differently.
func (c *chunk) read(root jsonstream.Value) bool {
	*c = chunk{root: root, candidates: c.candidates[:0]}
	if root.Kind() != jsonstream.Object || !provider.ExactNames(root, chunkNames) || spelled(root, "prompt_feedback") {
		return false
	}
	if v, ok := root.Get("error"); ok && provider.Present(v) {
		c.fault = v
	}
	if v, ok := root.Get("promptFeedback"); ok {
		_, c.blocked = v.Get("blockReason")
	}
	c.usage, _ = root.Get("usageMetadata")
	list, _ := root.Get("candidates")
	if !provider.Present(list) {
		return true
	}
	if list.Kind() != jsonstream.Array {
		return false
	}
	for v := range list.Elements() {
		e := candidate{v: v}
		if !e.read() {
			return false
		}
		c.candidates = append(c.candidates, e)
	}
	return true
}

func (e *candidate) read() bool {
	if e.v.Kind() != jsonstream.Object || !provider.ExactNames(e.v, candidateNames) || spelled(e.v, "finish_reason") {
		return false
	}
	if v, _ := e.v.Get("finishReason"); provider.Present(v) {
		e.reason = v
	}
	e.content, _ = e.v.Get("content")
	if !provider.Present(e.content) {
		return true
	}
	if e.content.Kind() != jsonstream.Object || !provider.ExactNames(e.content, contentNames) {
		return false
	}
	e.parts, _ = e.content.Get("parts")
	if !provider.Present(e.parts) {
		e.parts = jsonstream.Value{}
		return true
	}
	if e.parts.Kind() != jsonstream.Array {
		return false
	}
	for part := range e.parts.Elements() {
		if part.Kind() != jsonstream.Object || !provider.ExactNames(part, partNames) || spelled(part, "function_call") {
			return false
		}
		if call, ok := part.Get("functionCall"); ok && provider.Present(call) {
			_, text := part.Get("text")
			if text || call.Kind() != jsonstream.Object || !provider.ExactNames(call, callNames) || spelled(call, "partial_args", "will_continue") {
				return false
			}
		}
	}
	return true
}

// index returns the index of a candidate. A missing one is 0, as in Google's JSON.
func (e *candidate) index() (int, bool) {
	v, ok := e.v.Get("index")
	if !ok {
		return 0, true
	}
	return provider.SmallInt(v)
}

// scan scans a response, in which arguments of calls are JSON.
func scan(doc *jsonstream.Document, text []byte, maxBytes int) error {
	return provider.ScanEmbeddedArgs(doc, text, maxBytes, arguments, nil)
}

// arguments returns the arguments of the calls in a response, or in the responses of a list.
func arguments(root jsonstream.Value) iter.Seq[jsonstream.Value] {
	return func(yield func(jsonstream.Value) bool) {
		if list, ok := root.Get(listMember); ok {
			for response := range list.Elements() {
				for args := range arguments(response) {
					if !yield(args) {
						return
					}
				}
			}
			return
		}
		candidates, _ := root.Get("candidates")
		for c := range candidates.Elements() {
			content, _ := c.Get("content")
			parts, _ := content.Get("parts")
			for part := range parts.Elements() {
				call, _ := part.Get("functionCall")
				if args, ok := call.Get("args"); ok && !yield(args) {
					return
				}
			}
		}
	}
}
