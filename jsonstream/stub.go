package jsonstream

type scanner struct{}

// Scan reads a whole text in one pass.
func (d *Document) Scan(text []byte, o Options) error {
	d.Reset()
	return &Error{Code: "malformed_arguments", Detail: "not built"}
}

// Parse reads a whole text into a document of its own and returns its root.
// The text is kept by reference.
func Parse(text []byte, o Options) (Value, error) {
	d := new(Document)
	if err := d.Scan(text, o); err != nil {
		return Value{}, err
	}
	return d.Root(), nil
}

// Parser reads JSON text that arrives in chunks.
type Parser struct{}

// NewParser returns a parser that reports to h.
func NewParser(h Handler, o Options) *Parser { return &Parser{} }

// Reset starts a new text.
func (p *Parser) Reset(h Handler, o Options) {}

// Feed takes the next bytes of the text. The error is an *Error and final.
func (p *Parser) Feed(chunk []byte) error {
	return &Error{Code: "malformed_arguments", Detail: "not built"}
}

// Close ends the text.
func (p *Parser) Close() error { return &Error{Code: "malformed_arguments", Detail: "not built"} }

// Offset returns how many bytes were consumed.
func (p *Parser) Offset() int64 { return 0 }

// Stopped reports whether the handler stopped the parser.
func (p *Parser) Stopped() bool { return false }

// Aggregator writes the value again in our own spelling while its events arrive.
type Aggregator struct{ doc Document }

// Reset empties the aggregator for the next text.
func (a *Aggregator) Reset() {}

// Event takes one event of a parser. It never stops the parser.
func (a *Aggregator) Event(e *Event) (stop bool) { return false }

// Document returns the value; its root is invalid until the End event.
func (a *Aggregator) Document() *Document { return &a.doc }

// Bytes returns the whole text in our spelling, nil until the End event.
func (a *Aggregator) Bytes() []byte { return nil }

// Last returns the value that the latest event completed, the zero Value if it completed none.
func (a *Aggregator) Last() Value { return Value{} }

// Decimal is an exact decimal number of any size, never expanded. It is a value without references to the
// text it came from; == is mathematical equality. The zero Decimal is 0.
type Decimal struct {
	n uint8
}

// ParseDecimal reads a JSON number.
func ParseDecimal(lit []byte) (Decimal, error) {
	return Decimal{}, &Error{Code: "malformed_arguments", Detail: "not built"}
}

// Cmp returns -1, 0 or +1 as d is less than, equal to or greater than e.
func (d Decimal) Cmp(e Decimal) int { return 0 }

// Equal reports mathematical equality.
func (d Decimal) Equal(e Decimal) bool { return d == e }

// Sign returns -1, 0 or +1.
func (d Decimal) Sign() int { return 0 }

// IsInteger reports whether d has no fractional part.
func (d Decimal) IsInteger() bool { return false }

// Int64 returns d as an int64 if it is an integer in its range.
func (d Decimal) Int64() (int64, bool) { return 0, false }

// IsMultipleOf reports whether d is an integer multiple of m.
func (d Decimal) IsMultipleOf(m Decimal) bool { return false }

// AppendCanonical appends the canonical text of d.
func (d Decimal) AppendCanonical(dst []byte) []byte { return dst }

// String returns the canonical text of d.
func (d Decimal) String() string { return string(d.AppendCanonical(nil)) }

// AppendCanonical appends the canonical text of v: members sorted by key, numbers normalised, no white space.
func AppendCanonical(dst []byte, v Value) []byte { return dst }

// HashCanonical returns the SHA-256 of the canonical text of v.
func HashCanonical(v Value) [32]byte { return [32]byte{} }

// Edit replaces the bytes Start to End of a text by Text.
type Edit struct {
	Start, End int
	Text       []byte
}

// Splice appends text to dst with the edits applied. They must be ordered, inside text and not overlap.
func Splice(dst, text []byte, edits []Edit) ([]byte, error) {
	return nil, &Error{Code: "malformed_arguments", Detail: "not built"}
}

// AppendRemovals appends the edits that remove members of an object, or elements of an array, with their commas. key is the zero Value for an element.
func (v Value) AppendRemovals(dst []Edit, remove func(key, value Value) bool) []Edit { return dst }

// FragmentWriter is a handler that renders the fragments of F043 as text, one in a line.
type FragmentWriter struct{}

// Event takes one event of a parser.
func (w *FragmentWriter) Event(e *Event) (stop bool) { return false }

// Flush ends the piece of string text that is being collected; call it after each Feed.
func (w *FragmentWriter) Flush() {}

// String returns the fragments so far.
func (w *FragmentWriter) String() string { return "" }

func appendUnescaped(dst, inside []byte) []byte   { return dst }
func equalUnescaped(inside []byte, s string) bool { return false }
