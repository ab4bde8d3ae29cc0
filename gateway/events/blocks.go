package events

import (
	"strings"

	"github.com/stopgate/stopgate"
)

// Content is one text of the model, as far as it has arrived.
type Content struct {
	Choice int // 0 if the provider has no choices
	Index  int // among the texts of the choice
	text   strings.Builder
	done   bool
	state  any // private state of a policy of this package
}

// Text returns the text that this policy has received so far.
func (b *Content) Text() string { return b.text.String() }

// Complete reports whether the text has ended.
func (b *Content) Complete() bool { return b.done }

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

// Chunk is output of a hook. The package encodes it in the format of the exchange's provider.
type Chunk struct {
	text string
	call *Call
}

// TextChunk returns a chunk of text.
func TextChunk(text string) Chunk { return Chunk{text: text} }

// Block is a complete text or call.
type Block interface{ chunk() Chunk }

// BlockChunk returns a complete text or call as one chunk.
func BlockChunk(b Block) Chunk { return b.chunk() }

func (b *Content) chunk() Chunk { return Chunk{text: b.Text()} }
func (b *Call) chunk() Chunk    { return Chunk{call: b} }
