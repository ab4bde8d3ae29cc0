package stopgate

// EventKind says what a wire codec saw in a model's response.
type EventKind uint8

// The events of one response, in the order of its bytes.
const (
	CallStarted   EventKind = iota + 1 // a call and its name are known
	CallArguments                      // the next piece of its argument text
	CallEnded                          // the argument text is over; End says how
	CallRefused                        // the message breaks its protocol for this call; Code says how
	TurnEnded                          // the end signal of a choice or message; End says how
)

// Event is one thing a codec saw. A codec emits events synchronously; Args is
// valid only during the call that delivers it.
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
