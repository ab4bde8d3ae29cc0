package provider

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// ReplacedCall is a denied call that the provider knows and the client does not, because it
// was removed or replaced by a message.
type ReplacedCall struct {
	Message string // id of the message, or the key of the position
	Text    string // text of the message, if clients may send it back without its id
	// Position identifies the content that follows the position, if Message alone does not
	// identify it. Stored entries call it Place.
	Position string `json:"Place,omitempty"`
	Call     string // id of the call
	// Item is the call as the provider sent it; empty if it is unknown. It contains
	// arguments, so it must not be written to a record.
	Item []byte
	// Output is the item that gives the provider the result of the call; empty if the call
	// has no such item.
	Output []byte
}

// CallReplacer is implemented by the streams and bodies of a dialect in which calls are
// replaced. After Release, Replaced returns the id of the response and the calls that were
// replaced in it.
type CallReplacer interface {
	Replaced() (response string, list []ReplacedCall)
}

// ItemIDs is implemented by the streams and bodies of a dialect whose results may name the
// item of a call instead of the call. ItemIDs maps the ids of calls to the ids of their
// items.
type ItemIDs interface {
	ItemIDs() map[stopgate.CallID]stopgate.CallID
}

// BackgroundReader is implemented by the streams of a dialect whose provider stores
// responses. After the gate has ended such a response early, it may read the rest of it in
// the background, so that the provider stores all of it.
type BackgroundReader interface {
	CallReplacer
	// ReadOn processes an event that follows the end written by Release, and reports
	// whether it is the last. It updates Notes and Replaced.
	ReadOn(ev *sse.Event) (over bool)
	// LateCalls lists the calls that the provider made after the cancellation. No client
	// receives them.
	LateCalls() []LateCall
}

// LateCall is a call that was made after its response was cancelled.
type LateCall struct {
	Call stopgate.CallID
	Tool stopgate.ToolName
	Args []byte // empty if they are not one JSON object
}

// ResponseLog finds replaced calls of earlier responses.
type ResponseLog interface {
	// Response returns the calls for which the provider still expects a result when a
	// request continues the response with this id. latest is the id under which the
	// provider knows the response; it differs from id if the response continued in later
	// rounds.
	Response(id string) (latest string, denied []ReplacedCall)
	// Conversation returns the same for a conversation.
	Conversation(id string) []ReplacedCall
	// Message returns the call that the message with this id replaced.
	Message(id string) (ReplacedCall, bool)
	// ByText returns all calls of the session that were replaced by messages with this
	// text, oldest first, for clients that drop ids.
	ByText(text string) []ReplacedCall
}

// Restorer is implemented by a dialect whose provider requires the history exactly as it
// wrote it. Restore inserts the denied calls into a request again, each with a denial as
// its result. It returns a request that needs no change as it is.
type Restorer interface {
	Restore(body []byte, l ResponseLog) []byte
}

// Stateful is implemented by a dialect whose provider stores calls: a request may contain
// the result of a call without the call.
type Stateful interface {
	Restorer
	Stateful()
}
