package events

import "github.com/stopgate/stopgate"

// Content is one text of the model, as far as it has arrived.
type Content struct {
	Choice int // 0 if the provider has no choices
	Index  int // among the texts of the choice
	// Text is the text that the policy has received so far.
	Text string
	// Complete reports whether the text has ended.
	Complete bool

	state any // private state of a policy of this package
}

// Call is one tool call of the model, as far as it has arrived.
type Call struct {
	Choice int
	Index  int // among the calls of the response
	ID     stopgate.CallID
	Name   stopgate.ToolName
	// Arguments is the JSON text received so far. A hook may change it before it sends the complete
	// call; the gate judges the changed arguments.
	Arguments string
	// Refused is the code if the gate has already refused the call, which no policy can change,
	// else "".
	Refused stopgate.Code
}

// Chunk is output of a hook: a call, or a text if Call is nil. The gateway encodes it in the format
// of the exchange's provider.
type Chunk struct {
	Text string
	Call *Call
}

// TextChunk returns a chunk of text.
func TextChunk(text string) Chunk { return Chunk{Text: text} }

// BlockChunk returns a complete text or call as one chunk.
func BlockChunk[Block *Content | *Call](b Block) Chunk {
	if call, ok := any(b).(*Call); ok {
		return Chunk{Call: call}
	}
	return Chunk{Text: any(b).(*Content).Text}
}
