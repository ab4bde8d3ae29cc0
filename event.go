package stopgate

// EventKind is the kind of an event in a model's response.
type EventKind uint8

// The events of one response, in the order of its bytes.
const (
	CallStarted   EventKind = iota + 1 // a call and its name are known
	CallArguments                      // the next piece of its argument text
	CallEnded                          // the end of the argument text, with End
	CallRefused                        // the message breaks its protocol for this call, with Code
	TurnEnded                          // the end signal of a choice or message, with End
)

// Event is an event that a codec found in a response. Codecs emit events
// synchronously; Args is valid only until the receiver returns.
type Event struct {
	Kind EventKind
	// Call numbers the calls of one response from 0, in upstream order.
	Call int
	// Choice is the index of the choice the call belongs to, 0 where the dialect
	// has none.
	Choice int
	ID     CallID
	Tool   ToolName
	// Args is argument text after the transport's own unescaping.
	Args []byte
	End  End
	Code Code
}
