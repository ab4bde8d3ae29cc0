package jsonstream

import (
	"encoding/binary"
	"math/bits"

	"github.com/stopgate/stopgate"
)

// Parse parses a complete text into a new document and returns its root. The document
// refers to the text. The error is an *[Error].
func Parse(text []byte, o Options) (Value, error) {
	d := new(Document)
	if err := d.Scan(text, o); err != nil {
		return Value{}, err
	}
	return d.Root(), nil
}

// Scan parses a complete text in one pass. It accepts the texts that a [Parser] with the same
// options accepts, and returns the same *[Error] for all others. The document refers to the
// text, which must not change while the document is used. A reused document does not
// allocate once its buffers have grown.
func (d *Document) Scan(text []byte, o Options) error { return d.ScanWithKnown(text, o, nil) }

// ScanWithKnown is like Scan for a text that contains long strings that were scanned
// before. It calls known for each string value, with the text after its opening quote.
// known returns the length of the inside of an accepted string at the start of that text,
// or 0 if it knows none. Scan does not check such a string again.
func (d *Document) ScanWithKnown(text []byte, o Options, known func(rest []byte) int) error {
	d.Reset()
	d.known = known
	defer func() { d.known = nil }()
	d.text, d.options = text, o
	d.options.fill()
	d.keys.reset(text)
	if !d.scanAll() {
		err := explain(text, o)
		d.Reset()
		return err
	}
	d.complete = true
	return nil
}

// explain returns the error of a text that a scan refused. A scan only fails; the parser
// finds code, offset and pointer.
func explain(text []byte, o Options) error {
	refusal := error(&Error{Code: stopgate.CodeMalformedArguments, Offset: int64(len(text)), Detail: "the text was refused"})
	p := NewParser(discard{}, o)
	p.Feed(text)
	if err := p.Close(); err != nil {
		refusal = err
	}
	return refusal
}

// discard is a handler that ignores all events.
type discard struct{}

func (discard) Event(*Event) bool { return false }

// The methods below make one pass over d.text. They start at a position in it and return
// the position after the text that they read, or refused.

// openNode is an array or object that is not closed yet.
type openNode struct {
	node uint32
	// info is that of the node, with the number of members or elements so far.
	info uint32
	keys objectKeys
}

// refused is returned instead of a position for invalid text.
const refused = -1

// scanAll scans the text and reports whether it is accepted.
func (d *Document) scanAll() bool {
	text := d.text
	i := skip(text, 0)
	if int64(len(text)) > d.options.MaxBytes || d.options.ObjectRoot && i < len(text) && text[i] != '{' {
		return false
	}
	for values := 0; i < len(text) && values < d.options.MaxValues; values++ {
		// A value starts here.
		var end int
		var info uint32
		switch c := text[i]; {
		case c == '"':
			if end, info = d.scanKnown(i + 1); end == refused {
				end, info = scanString(text, i+1)
			}
		case c == '{' || c == '[':
			if end, info = d.scanEnter(i); info == 0 && end != refused {
				i = end
				continue
			}
		case c == '-' || '0' <= c && c <= '9':
			end, info = d.scanNumber(i)
		default:
			end, info = scanName(text, i)
		}
		if end == refused {
			return false
		}
		d.push(node{start: uint32(i), end: uint32(end), next: uint32(len(d.nodes)) + 1, info: info})
		if i = d.scanAfter(end); i == refused {
			return false
		}
		if len(d.open) == 0 {
			return i == len(text)
		}
	}
	return false
}

// scanAfter reads the text after a value: the ends of containers, then a comma and, in an
// object, the next key; or the end of the text.
func (d *Document) scanAfter(i int) int {
	text := d.text
	for len(d.open) > 0 {
		o := &d.open[len(d.open)-1]
		o.info += infoOne
		object := o.info&infoKind == uint32(Object)
		i = skip(text, i)
		if i == len(text) {
			return refused
		}
		switch c := text[i]; {
		case c == ',':
			i = skip(text, i+1)
			if object {
				return d.scanKey(i)
			}
			return i
		case c == '}' && object:
			d.keys.close(&o.keys)
		case c != ']' || object:
			return refused
		}
		i++
		n := &d.nodes[o.node]
		n.end, n.next, n.info = uint32(i), uint32(len(d.nodes)), o.info
		d.open = d.open[:len(d.open)-1]
	}
	return skip(text, i)
}

// scanEnter reads an array or object up to its first value. It reads an empty one
// completely: only then info is not 0.
func (d *Document) scanEnter(i int) (end int, info uint32) {
	if len(d.open) == d.options.MaxDepth {
		return refused, 0
	}
	kind, bracket := Array, byte(']')
	if d.text[i] == '{' {
		kind, bracket = Object, '}'
	}
	first := skip(d.text, i+1)
	if first < len(d.text) && d.text[first] == bracket {
		return first + 1, uint32(kind)
	}
	d.open = append(d.open, openNode{node: uint32(len(d.nodes)), info: uint32(kind), keys: d.keys.open()})
	d.push(node{start: uint32(i)})
	if kind == Object {
		return d.scanKey(first), 0
	}
	return first, 0
}

// scanKey reads a key, its colon and the white space after it.
func (d *Document) scanKey(i int) int {
	text := d.text
	o := &d.open[len(d.open)-1].keys
	if i == len(text) || text[i] != '"' || d.keys.count(o) == d.options.MaxMembers {
		return refused
	}
	end, info := scanString(text, i+1)
	if end == refused {
		return refused
	}
	key, start, inText := text[i+1:end-1], uint32(i)+1, true
	if info&infoEscaped != 0 {
		start, inText = uint32(len(d.keys.arena)), false
		d.keys.arena = appendUnescaped(d.keys.arena, key)
		key = d.keys.arena[start:]
	}
	ref := keyRef{start: start, length: uint32(len(key)), inText: inText}
	if len(key) > d.options.MaxKey {
		return refused
	}
	if !d.keys.add(o, key, ref) {
		if !d.options.RepeatedKeys {
			return refused
		}
		d.keys.list = append(d.keys.list, ref)
	}
	d.push(node{start: uint32(i), end: uint32(end), next: uint32(len(d.nodes)) + 1, info: info})
	i = skip(text, end)
	if i == len(text) || text[i] != ':' {
		return refused
	}
	return skip(text, i+1)
}

// scanKnown is scanString for a string that was scanned before. Whether it has an escape is
// unknown; a decoder only loses time by searching for one.
func (d *Document) scanKnown(i int) (end int, info uint32) {
	if d.known == nil {
		return refused, 0
	}
	n := d.known(d.text[i:])
	if end = i + n; n == 0 || end >= len(d.text) || d.text[end] != '"' {
		return refused, 0
	}
	return end + 1, uint32(String) | infoEscaped
}

// scanString reads a string from the byte after its opening quote to the byte after its
// closing quote.
func scanString(text []byte, i int) (end int, info uint32) {
	info = uint32(String)
	for i+8 <= len(text) {
		m := notPlain(binary.LittleEndian.Uint64(text[i:]))
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		c := text[i]
		if c == '"' {
			return i + 1, info
		}
		n := 0
		switch {
		case c != '\\':
			n = sequences(text[i:])
		case i+1 < len(text) && shortEscapes[text[i+1]] != 0:
			n, info = 2, info|infoEscaped
		default:
			_, n = unescape(text[i:])
			info |= infoEscaped
		}
		if n == 0 {
			break
		}
		i += n
	}
	return scanSlow(text, i, info)
}

// scanSlow is scanString for an invalid string, or one close to the end of the text.
func scanSlow(text []byte, i int, info uint32) (end int, all uint32) {
	for i < len(text) {
		n := 0
		switch c := text[i]; {
		case c == '"':
			return i + 1, info
		case c != '\\':
			n = plainRun(text[i:])
		case i+1 < len(text) && shortEscapes[text[i+1]] != 0:
			n, info = 2, info|infoEscaped
		default:
			_, n = unescape(text[i:])
			info |= infoEscaped
		}
		if n == 0 {
			return refused, 0
		}
		i += n
	}
	return refused, 0
}

func (d *Document) scanNumber(i int) (end int, info uint32) {
	n := startNumber(d.text[i], d.options.MaxExponent)
	used, over := n.scan(d.text[i+1:])
	if over || !n.complete() {
		return refused, 0
	}
	return i + 1 + used, uint32(Number)
}

func scanName(text []byte, i int) (end int, info uint32) {
	switch text = text[i:]; {
	case len(text) >= 4 && string(text[:4]) == "true":
		return i + 4, uint32(True)
	case len(text) >= 4 && string(text[:4]) == "null":
		return i + 4, uint32(Null)
	case len(text) >= 5 && string(text[:5]) == "false":
		return i + 5, uint32(False)
	}
	return refused, 0
}

// skip returns the position of the first byte from i on that is not white space.
func skip(text []byte, i int) int {
	for i < len(text) && text[i] <= ' ' && isSpace(text[i]) {
		i++
	}
	return i
}
