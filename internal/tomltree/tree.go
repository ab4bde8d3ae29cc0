// Package tomltree reads TOML into a tree that knows where everything stands.
package tomltree

import "github.com/stopgate/stopgate/internal/diag"

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
	Date
)

// Value is a value of a document with its place.
type Value struct {
	Kind     Kind
	Text     string     // String: its text; a number or date: as it is written; Bool: true or false
	Entries  []*Entry   // Table: its members, in file order
	Elements []*Value   // Array
	Range    diag.Range // as it is written; of a table with a header, the header
}

// Entry is one member of a table.
type Entry struct {
	Key      string
	KeyRange diag.Range
	Value    *Value
}

// Document is a whole file.
type Document struct {
	File string
	Text []byte
	Root *Value
}

// Parse reads a file. The document is nil if the list holds an error.
func Parse(file string, text []byte) (*Document, diag.List) { return nil, nil }

// Decode fills the struct that into points to from a table, by the tags
// `toml:"key"`; unknown keys and wrong types are errors with their places.
func Decode(file string, table *Value, into any) diag.List { return nil }
