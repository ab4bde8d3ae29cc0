package jsonstream

// Kind is the kind of an [Event] or of a [Value]. The zero Kind is Invalid.
type Kind uint8

// Kinds of values. Number, True, False and Null are kinds of events too.
const (
	Invalid Kind = iota
	Object
	Array
	String
	Number
	True
	False
	Null
)

// Kinds of events only.
const (
	ObjectStart Kind = iota + 8
	ObjectEnd
	ArrayStart
	ArrayEnd
	Key         // a complete key; its value follows
	StringStart // the opening quote of a string value
	StringPart  // a decoded part of it
	StringEnd   // its closing quote
	End         // the root value is complete; only white space may follow
)

var kindNames = [...]string{
	Invalid: "invalid", Object: "object", Array: "array", String: "string", Number: "number", True: "true", False: "false", Null: "null",
	ObjectStart: "object start", ObjectEnd: "object end", ArrayStart: "array start", ArrayEnd: "array end", Key: "key",
	StringStart: "string start", StringPart: "string part", StringEnd: "string end", End: "end",
}

// String returns the kind in lower case, for messages and tests.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Invalid]
}

// Event is one step of a parse. It and its Text are valid only during the call that
// delivers it.
type Event struct {
	Kind Kind
	// Text is the complete decoded key (Key), decoded string text of one or more whole code
	// points (StringPart), or the literal as it is written (Number).
	Text []byte
	// Offset is the number of argument bytes up to and including the byte that
	// made the event known (K16). A number and a literal name are known at the
	// byte that ends them: a comma, a closing bracket or white space; at the root
	// also at Close, where Offset is the length of the text (F043-04).
	Offset int64
	// Escaped is set on a StringPart that is the decoding of one escape, or of one
	// surrogate pair, that ended at Offset. Otherwise the part is verbatim: byte i of Text,
	// counted from 0, is argument byte Offset-len(Text)+i+1.
	Escaped bool
	// Encoded is set on a StringPart for an [EncodedTextHandler]: Text is not decoded, but
	// encoded as [AppendQuote] writes it between the quotes. Escaped reports then that it
	// contains an escape.
	Encoded bool
}

// Handler receives the events of a [Parser] in the order of their bytes.
type Handler interface {
	// Event processes one event. It returns stop if the text is decided: the parser then
	// ignores all following input, errors included (K7).
	Event(e *Event) (stop bool)
}

// EncodedTextHandler is a Handler that does not always need the decoded text of strings.
type EncodedTextHandler interface {
	Handler
	// WantsEncoded reports that the handler only copies the rest of the current string: its
	// parts may be Encoded.
	WantsEncoded() bool
}
