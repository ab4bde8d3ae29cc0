package jsonstream

import (
	"encoding/binary"
	"math/bits"

	"github.com/stopgate/stopgate"
)

// Parse reads a whole text into a document of its own and returns its root. The
// document refers to the text. The error is an *[Error].
func Parse(text []byte, o Options) (Value, error) {
	d := new(Document)
	if err := d.Scan(text, o); err != nil {
		return Value{}, err
	}
	return d.Root(), nil
}

// Scan reads a whole text in one pass. It accepts what a [Parser] accepts with
// the same options and returns the same *[Error] for everything else. The
// document refers to the text, which must not change while the document is used.
// A reused document allocates nothing once its buffers have grown.
func (d *Document) Scan(text []byte, o Options) error {
	d.Reset()
	o = o.effective()
	d.keys.reset(text)
	s := scan{text: text, options: o, keys: &d.keys, nodes: d.nodes, open: d.open[:0]}
	ok := s.whole()
	d.nodes, d.open = s.nodes, s.open
	if !ok {
		return explain(text, o)
	}
	d.text, d.complete = text, true
	return nil
}

// explain returns the error of a text that a scan refused. A scan only says no;
// code, offset and pointer come from the one place that knows them.
func explain(text []byte, o Options) error {
	refusal := error(&Error{Code: stopgate.CodeMalformedArguments, Offset: int64(len(text)), Detail: "the text was refused"})
	p := NewParser(nothing{}, o)
	p.Feed(text)
	if err := p.Close(); err != nil {
		refusal = err
	}
	return refusal
}

// nothing is a handler for those who only want to know the error.
type nothing struct{}

func (nothing) Event(*Event) bool { return false }

// scan is one pass over a text.
type scan struct {
	text    []byte
	options Options
	keys    *keySet
	nodes   []node
	open    []openNode
}

// openNode is an array or object that is not closed yet.
type openNode struct {
	node uint32
	// info is that of the node, with the number of members or elements so far.
	info uint32
	keys objectKeys
}

// refused stands for the position behind something that is not right.
const refused = -1

// whole reads the text and reports whether it is accepted.
func (s *scan) whole() bool {
	text := s.text
	i := skip(text, 0)
	if int64(len(text)) > s.options.MaxBytes || s.options.ObjectRoot && i < len(text) && text[i] != '{' {
		return false
	}
	for i < len(text) {
		// A value begins here.
		var end int
		var info uint32
		switch c := text[i]; {
		case c == '"':
			end, info = scanString(text, i+1)
		case c == '{' || c == '[':
			if end, info = s.enter(i); info == 0 && end != refused {
				i = end
				continue
			}
		case c == '-' || '0' <= c && c <= '9':
			end, info = s.number(i)
		default:
			end, info = scanName(text, i)
		}
		if end == refused {
			return false
		}
		s.nodes = append(s.nodes, node{start: uint32(i), end: uint32(end), next: uint32(len(s.nodes)) + 1, info: info})
		if i = s.behind(end); i == refused {
			return false
		}
		if len(s.open) == 0 {
			return i == len(text)
		}
	}
	return false
}

// behind reads what stands behind a value: the ends of containers, then a comma
// and, in an object, the next key; or the end of the text.
func (s *scan) behind(i int) int {
	text := s.text
	for len(s.open) > 0 {
		o := &s.open[len(s.open)-1]
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
				return s.key(i)
			}
			return i
		case c == '}' && object:
			s.keys.close(&o.keys)
		case c != ']' || object:
			return refused
		}
		i++
		n := &s.nodes[o.node]
		n.end, n.next, n.info = uint32(i), uint32(len(s.nodes)), o.info
		s.open = s.open[:len(s.open)-1]
	}
	return skip(text, i)
}

// enter reads an array or object up to its first value. An empty one it reads
// whole: only then info is not 0.
func (s *scan) enter(i int) (end int, info uint32) {
	if len(s.open) == s.options.MaxDepth {
		return refused, 0
	}
	kind, bracket := Array, byte(']')
	if s.text[i] == '{' {
		kind, bracket = Object, '}'
	}
	first := skip(s.text, i+1)
	if first < len(s.text) && s.text[first] == bracket {
		return first + 1, uint32(kind)
	}
	s.open = append(s.open, openNode{node: uint32(len(s.nodes)), info: uint32(kind), keys: s.keys.open()})
	s.nodes = append(s.nodes, node{start: uint32(i)})
	if kind == Object {
		return s.key(first), 0
	}
	return first, 0
}

// key reads a key, its colon and the white space behind it.
func (s *scan) key(i int) int {
	text := s.text
	o := &s.open[len(s.open)-1].keys
	if i == len(text) || text[i] != '"' || s.keys.count(o) == s.options.MaxMembers {
		return refused
	}
	end, info := scanString(text, i+1)
	if end == refused {
		return refused
	}
	key, start, inText := text[i+1:end-1], uint32(i)+1, true
	if info&infoEscaped != 0 {
		start, inText = uint32(len(s.keys.arena)), false
		s.keys.arena = appendUnescaped(s.keys.arena, key)
		key = s.keys.arena[start:]
	}
	if len(key) > s.options.MaxKey || !s.keys.add(o, key, keyRef{start: start, length: uint32(len(key)), inText: inText}) {
		return refused
	}
	s.nodes = append(s.nodes, node{start: uint32(i), end: uint32(end), next: uint32(len(s.nodes)) + 1, info: info})
	i = skip(text, end)
	if i == len(text) || text[i] != ':' {
		return refused
	}
	return skip(text, i+1)
}

// scanString reads a string from behind its opening quote to behind its closing
// one.
func scanString(text []byte, i int) (end int, info uint32) {
	info = uint32(String)
	for {
		for i+8 <= len(text) {
			m := notPlain(binary.LittleEndian.Uint64(text[i:]))
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
			break
		}
		if i < len(text) && text[i] != '"' && text[i] != '\\' {
			i += plainRun(text[i:])
		}
		switch {
		case i == len(text):
			return refused, 0
		case text[i] == '"':
			return i + 1, info
		}
		_, n := unescape(text[i:])
		if n == 0 || text[i] != '\\' {
			return refused, 0
		}
		info |= infoEscaped
		i += n
	}
}

func (s *scan) number(i int) (end int, info uint32) {
	n := startNumber(s.text[i], s.options.MaxExponent)
	used, over := n.scan(s.text[i+1:])
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
