package wire

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/wire/sse"
)

// Replaced is a denied call that the provider knows and the client does not, because
// something else stands in its place: a message, or nothing.
type Replaced struct {
	Message string // id of the message, or what is known of the place
	Text    string // of the message, where clients may send it back without its id
	// Place is what stands behind the place, where Message alone does not say it.
	Place string `json:",omitempty"`
	Call  string // id of the call
	// Item is the call as the provider said it; empty if it is not known. It holds
	// arguments, so it belongs into no record.
	Item []byte
	// Output is the item that tells the provider what became of the call; empty
	// for a call that has no such item.
	Output []byte
}

// History is implemented by streams and bodies of such a dialect: the id of the
// response, and the calls that were replaced in it, after Release.
type History interface {
	Replaced() (response string, list []Replaced)
}

// Items is implemented by streams and bodies of a dialect whose results may name the item
// of a call instead of the call: the ids of the items, by those of their calls.
type Items interface {
	Items() map[stopgate.CallID]stopgate.CallID
}

// Follower is implemented by the streams of a dialect whose provider keeps responses. The
// provider of a response that was cancelled here may be read on, so that it keeps all of it.
type Follower interface {
	History
	// Follow takes an event that comes after Release has written the end of the response,
	// and reports whether it is the last. Notes and Replaced then count what it says.
	Follow(ev *sse.Event) (over bool)
	// Followed lists the calls that the provider made after the cancellation. No client
	// has them.
	Followed() []Followed
}

// Followed is a call that was made after the response had been cancelled.
type Followed struct {
	Call stopgate.CallID
	Tool stopgate.ToolName
	Args []byte // empty if they are not one JSON object
}

// Ledger finds what was replaced.
type Ledger interface {
	// Response is what the provider misses a result for where a request continues the
	// response of an id, and the id under which it knows that response: another one, if
	// it went on in later rounds.
	Response(id string) (latest string, denied []Replaced)
	// Conversation is the same for a conversation.
	Conversation(id string) []Replaced
	// Message is what a message stands for, by its id.
	Message(id string) (Replaced, bool)
	// Said is the same by the text of messages, for clients that drop ids: all with
	// this text in the session, oldest first.
	Said(text string) []Replaced
}

// Restorer is implemented by a dialect whose provider must have a history back as it
// wrote it. Restore rewrites a request so that the denied calls are in it again, each
// with a denial as its result (WIRE 3.7). A request that needs no change is returned as
// it is.
type Restorer interface {
	Restore(body []byte, l Ledger) []byte
}

// Rememberer is implemented by a dialect whose provider remembers calls: a request may
// hold the result of one and not the call itself.
type Rememberer interface {
	Restorer
	Remembers()
}
