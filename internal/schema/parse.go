package schema

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/stopgate/stopgate/jsonstream"
)

// ParseError describes why a text is not a usable JSON Schema.
type ParseError struct {
	// Pointer is the location in the schema's text.
	Pointer string
	Message string
}

// Error returns pointer and message.
func (e *ParseError) Error() string {
	at := e.Pointer
	if at == "" {
		at = "the root"
	}
	return "schema: " + e.Message + " at " + at
}

// ParseJSON parses a JSON Schema: the keywords of draft 2020-12 with the older spellings that tools
// still use (definitions, boolean exclusive bounds, lists as items, nullable, dependencies). `$ref`
// applies in addition to its siblings, as since draft 2019-09. Other keywords are notes. The text
// is kept by reference. The error is a *ParseError.
func ParseJSON(text []byte) (*Schema, []Note, error) {
	root, err := jsonstream.Parse(text, jsonstream.Options{MaxBytes: maxText})
	if err != nil {
		var at *jsonstream.Error
		errors.As(err, &at)
		return nil, nil, &ParseError{Pointer: at.Pointer, Message: at.Detail + " at byte " + strconv.FormatInt(at.Offset, 10)}
	}
	p := &parser{root: root, parsed: map[int]*Node{}, found: map[string]target{}, members: map[int]map[string]jsonstream.Value{}}
	if bytes.Contains(text, []byte(`"$id"`)) {
		p.findResources(root)
	}
	node, failed := p.document()
	if failed != nil {
		return nil, nil, failed
	}
	s, failed := build(node, FromJSON)
	if failed != nil {
		return nil, nil, failed
	}
	s.text = root
	return s, p.notes, nil
}

// parser converts the values of a schema's text to nodes, each value once.
type parser struct {
	root    jsonstream.Value
	notes   []Note
	parsed  map[int]*Node     // by start of the value in the text
	found   map[string]target // references resolved
	members map[int]map[string]jsonstream.Value

	patterns  int    // bytes of all patterns
	id        string // `$id` of the root
	resources []span // values with an `$id` of their own
}

type span struct{ start, end int }

// document parses the root. Only it recovers from a failed parse.
func (p *parser) document() (node *Node, failed *ParseError) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*ParseError)
			if !ok {
				panic(r) // a bug in this package; no test reaches it
			}
			node, failed = nil, e
		}
	}()
	if id, ok := p.root.Get("$id"); ok {
		p.id = trimFragment(id.Text())
	}
	return p.node(p.root, nil), nil
}

func (p *parser) fail(at *trail, message string) {
	panic(&ParseError{Pointer: at.pointer(), Message: message})
}

// note records a keyword that is not, or not completely, understood. Above the limit the rest is
// one note.
func (p *parser) note(at *trail, keyword, message string) {
	switch {
	case len(p.notes) < maxNotes:
		p.notes = append(p.notes, Note{Pointer: at.pointer(), Keyword: keyword, Message: message})
	case len(p.notes) == maxNotes:
		p.notes = append(p.notes, Note{Keyword: keyword, Message: "there are more notes than these"})
	}
}

// node parses the schema v. A value that is reached again, also while it is being parsed, is the
// same node, which closes recursive schemas.
func (p *parser) node(v jsonstream.Value, at *trail) *Node {
	start, _ := v.Span()
	if n, ok := p.parsed[start]; ok {
		return n
	}
	if len(p.parsed) >= maxNodes {
		p.fail(at, "the schema has more than "+strconv.Itoa(maxNodes)+" parts")
	}
	n := &Node{Types: AnyType, at: at}
	p.parsed[start] = n
	switch v.Kind() {
	case jsonstream.True:
	case jsonstream.False:
		n.Types = 0
	case jsonstream.Object:
		k := keywords{parser: p, node: n, at: at, value: v}
		for key, value := range v.Members() {
			k.read(key.Text(), value)
		}
		k.finish()
	default:
		p.fail(at, "a schema is an object, true or false, not "+describe(v))
	}
	return n
}

// describe returns the type of a value for a message.
func describe(v jsonstream.Value) string {
	switch v.Kind() {
	case jsonstream.String:
		return "a string"
	case jsonstream.Number:
		return "a number"
	case jsonstream.Object:
		return "an object"
	case jsonstream.Array:
		return "an array"
	}
	return v.Kind().String()
}

// The readers of keyword values; each rejects a value of another type.

func (p *parser) text(v jsonstream.Value, at *trail) string {
	if v.Kind() != jsonstream.String {
		p.fail(at, "must be a string, not "+describe(v))
	}
	return v.Text()
}

func (p *parser) flag(v jsonstream.Value, at *trail) bool {
	if v.Kind() != jsonstream.True && v.Kind() != jsonstream.False {
		p.fail(at, "must be true or false, not "+describe(v))
	}
	return v.Kind() == jsonstream.True
}

func (p *parser) decimal(v jsonstream.Value, at *trail) *jsonstream.Decimal {
	d, ok := v.Decimal()
	if !ok {
		p.fail(at, "must be a number, not "+describe(v))
	}
	return &d
}

// count reads a non-negative integer. A larger one than any count is the largest int.
func (p *parser) count(v jsonstream.Value, at *trail) *int {
	d := p.decimal(v, at)
	if !d.IsInteger() || d.Sign() < 0 {
		p.fail(at, "must be a whole number that is not negative")
	}
	n, ok := d.Int64()
	if !ok || n > math.MaxInt {
		n = math.MaxInt
	}
	count := int(n)
	return &count
}

func (p *parser) texts(v jsonstream.Value, at *trail) []string {
	p.wantArray(v, at)
	list := make([]string, 0, v.Len())
	for e := range v.Elements() {
		list = append(list, p.text(e, at.below(strconv.Itoa(len(list)))))
	}
	return list
}

func (p *parser) nodes(v jsonstream.Value, at *trail) []*Node {
	p.wantArray(v, at)
	list := make([]*Node, 0, v.Len())
	for e := range v.Elements() {
		list = append(list, p.node(e, at.below(strconv.Itoa(len(list)))))
	}
	return list
}

func (p *parser) wantArray(v jsonstream.Value, at *trail) {
	if v.Kind() != jsonstream.Array {
		p.fail(at, "must be an array, not "+describe(v))
	}
}

func (p *parser) wantObject(v jsonstream.Value, at *trail) {
	if v.Kind() != jsonstream.Object {
		p.fail(at, "must be an object, not "+describe(v))
	}
}
