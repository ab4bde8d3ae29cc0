package wire

// Replaced is a call that was denied in a response of a dialect whose provider
// remembers responses: the provider knows the call, the client a message in its
// place.
type Replaced struct {
	Message string // id of the message
	Call    string // id of the call
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

// Ledger finds what was replaced: in a response, and by the id of a message.
type Ledger interface {
	Response(id string) []Replaced
	Message(id string) (Replaced, bool)
}

// Restorer is implemented by such a dialect. Restore rewrites a request that
// continues a response so that its history is the one that the provider produced,
// with a denial as the result of every denied call (WIRE 3.7). A request that
// needs no change is returned as it is.
type Restorer interface {
	Restore(body []byte, l Ledger) []byte
}
