package tomltree

import "github.com/stopgate/stopgate/internal/lang/diag"

// Kind is the type of a value.
type Kind uint8

// The kinds of TOML values.
const (
	Table Kind = iota + 1
	Array
	String
	Integer
	Float
	Bool
	Date // date, time, or both
)

var kindNames = [...]string{
	Table: "a table", Array: "an array", String: "a string",
	Integer: "an integer", Float: "a number", Bool: "true or false", Date: "a date or time",
}

// String returns the kind with its article, for messages.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "nothing"
	}
	return kindNames[k]
}

// Value is a value of a document with its position.
type Value struct {
	Kind     Kind
	Text     string     // String: its text; number, date: as written; Bool: true or false
	Entries  []*Entry   // Table: its members, in file order
	Elements []*Value   // Array
	Range    diag.Range // as written; of a table with a header, the header
	// Inline tables are written in braces; an array of tables has headers in [[ ]].
	Inline, Headers bool
	// Comments of an element of an array or inline table: Comments precede the value, where "" is a
	// blank line; Trailing follows it on its line; Inner follow its last element. Other comments
	// are statements.
	Comments []string
	Trailing string
	Inner    []string
	// Pairs are the members of an inline table as written.
	Pairs []*Statement
	// OwnLines makes Format write one element per line, even if the array fits on one.
	OwnLines bool

	made  origin
	index map[string]*Entry // Table with more than few entries
	doc   *Document
}

// origin is how a table was created, which decides how it may be extended.
type origin uint8

const (
	byValue  origin = iota // a value: closed
	byPath                 // part of the path of a longer header
	byHeader               // has its own header
	byDots                 // part of the path of a dotted key
)

// Entry is one member of a table.
type Entry struct {
	Key      string
	KeyRange diag.Range
	Value    *Value
}

// Document is a parsed file.
type Document struct {
	File  string
	Text  []byte
	Lines *diag.Lines
	Root  *Value // a table
	// Statements are the lines of the file in order.
	Statements []*Statement
}

// Forget frees the tree. Values that were taken from it keep their ranges.
func (d *Document) Forget() {
	if d != nil {
		d.Root, d.Statements = nil, nil
	}
}

// Get returns the member of a table with this key, nil if there is none.
func (v *Value) Get(key string) *Entry {
	if v == nil {
		return nil
	}
	if v.index != nil {
		return v.index[key]
	}
	for _, e := range v.Entries {
		if e.Key == key {
			return e
		}
	}
	return nil
}

// File returns the name of the value's file.
func (v *Value) File() string { return v.doc.File }

// few is the number of entries up to which a table is searched without an index; most rules and
// parameters are smaller.
const few = 8

// add appends a member; the key must be new.
func (v *Value) add(e *Entry) {
	v.Entries = append(v.Entries, e)
	switch {
	case v.index != nil:
		v.index[e.Key] = e
	case len(v.Entries) > few:
		v.index = make(map[string]*Entry, 2*few)
		for _, e := range v.Entries {
			v.index[e.Key] = e
		}
	}
}

// OffsetRange returns the range of the code point at a byte offset of a string's text, escapes
// taken into account.
func (v *Value) OffsetRange(offset int) diag.Range {
	if v.Kind != String {
		return v.Range
	}
	start, end := v.Range.Start.Offset, v.Range.End.Offset
	from, to := locate(v.doc.Text[start:end], offset)
	return v.doc.Lines.Range(start+from, start+to)
}
