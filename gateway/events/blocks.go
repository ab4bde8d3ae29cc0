package events

import (
	"strings"

	"github.com/stopgate/stopgate"
)

// Content is a text of the model, as far as it has come (V3-16).
type Content struct {
	Choice int // 0 where a provider has no choices
	Index  int // of the texts of the choice
	text   strings.Builder
	done   bool
	state  any // of a policy of this package
}

// Text is what this policy was given of it so far.
func (b *Content) Text() string { return b.text.String() }

// Complete reports whether nothing more comes.
func (b *Content) Complete() bool { return b.done }

// Call is a tool call of the model, as far as it has come.
type Call struct {
	Choice int
	Index  int // of the calls of the response
	ID     stopgate.CallID
	Name   stopgate.ToolName
	// Arguments is the JSON text so far. A hook may change it before it sends the
	// complete call on; what runs is judged.
	Arguments string
	// Refused is why the gate will not let the call run, whatever policies say; "" if it
	// has not refused it so far.
	Refused stopgate.Code
}

// Chunk is something that a hook sends. It is made by a builder, and written in the form
// of the exchange's provider (V3-09).
type Chunk struct {
	text string
	call *Call
}

// TextChunk is a piece of text.
func TextChunk(text string) Chunk { return Chunk{text: text} }

// Block is what is complete and can be sent as one chunk.
type Block interface{ chunk() Chunk }

// BlockChunk is a complete text or call as one chunk.
func BlockChunk(b Block) Chunk { return b.chunk() }

func (b *Content) chunk() Chunk { return Chunk{text: b.Text()} }
func (b *Call) chunk() Chunk    { return Chunk{call: b} }
