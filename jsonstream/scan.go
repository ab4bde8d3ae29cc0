package jsonstream

import "github.com/stopgate/stopgate"

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
	s := scan{text: text, options: &o, keys: &d.keys, nodes: d.nodes, open: d.open[:0]}
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

// scan is one pass over a text. Its methods take the position in the text and
// return the one behind what they read, or refused.
type scan struct {
	text    []byte
	options *Options
	keys    *keySet
	nodes   []node
	open    []openNode
}

// openNode is an array or object that is not closed yet.
type openNode struct {
	node  uint32
	first uint32 // of the object's keys in the key set
	kind  Kind
}

// refused is the position of a text that was refused.
const refused = -1

// whole reads the text and reports whether it is accepted.
func (s *scan) whole() bool {
	if int64(len(s.text)) > s.options.MaxBytes {
		return false
	}
	i := s.skip(0)
	if s.options.ObjectRoot && i < len(s.text) && s.text[i] != '{' {
		return false
	}
	for i < len(s.text) {
		before := len(s.open)
		if i = s.value(i); i == refused {
			return false
		}
		if len(s.open) > before {
			continue // inside a container, before its first value
		}
		if i = s.rest(i); i == refused {
			return false
		}
		if len(s.open) == 0 {
			return i == len(s.text)
		}
	}
	return false
}

// value reads a scalar, an empty container, or a container up to its first
// value.
func (s *scan) value(i int) int {
	c := s.text[i]
	n := node{start: uint32(i), next: uint32(len(s.nodes)) + 1}
	switch c {
	case '"':
		end, escaped := scanString(s.text, i+1)
		n.info = uint32(String) | escaped
		i = end
	case '{', '[':
		return s.container(i, n)
	case 't':
		n.info = uint32(True)
		i = s.name(i, "true")
	case 'f':
		n.info = uint32(False)
		i = s.name(i, "false")
	case 'n':
		n.info = uint32(Null)
		i = s.name(i, "null")
	default:
		n.info = uint32(Number)
		i = s.number(i)
	}
	if i == refused {
		return refused
	}
	n.end = uint32(i)
	s.nodes = append(s.nodes, n)
	return i
}

// rest reads what stands behind a value: the ends of containers, then a comma
// and, in an object, the next key; or the end of the text.
func (s *scan) rest(i int) int {
	for len(s.open) > 0 {
		o := &s.open[len(s.open)-1]
		s.nodes[o.node].info += infoOne
		i = s.skip(i)
		if i == len(s.text) {
			return refused
		}
		c := s.text[i]
		i++
		if c == ',' {
			i = s.skip(i)
			if o.kind == Object {
				return s.key(i)
			}
			return i
		}
		if o.kind == Object {
			if c != '}' {
				return refused
			}
			s.keys.close(int(o.first))
		} else if c != ']' {
			return refused
		}
		n := &s.nodes[o.node]
		n.end, n.next = uint32(i), uint32(len(s.nodes))
		s.open = s.open[:len(s.open)-1]
	}
	return s.skip(i)
}

// container enters an array or object.
func (s *scan) container(i int, n node) int {
	if len(s.open) == s.options.MaxDepth {
		return refused
	}
	kind, end := Array, byte(']')
	if s.text[i] == '{' {
		kind, end = Object, '}'
	}
	n.info = uint32(kind)
	i = s.skip(i + 1)
	if i < len(s.text) && s.text[i] == end {
		i++
		n.end = uint32(i)
		s.nodes = append(s.nodes, n)
		return i
	}
	s.open = append(s.open, openNode{node: uint32(len(s.nodes)), first: uint32(len(s.keys.list)), kind: kind})
	s.nodes = append(s.nodes, n)
	if kind == Object {
		return s.key(i)
	}
	return i
}

// key reads a key, its colon and the white space behind it.
func (s *scan) key(i int) int {
	first := int(s.open[len(s.open)-1].first)
	if i == len(s.text) || s.text[i] != '"' || len(s.keys.list)-first == s.options.MaxMembers {
		return refused
	}
	end, escaped := scanString(s.text, i+1)
	if end == refused {
		return refused
	}
	r := keyRef{start: uint32(i) + 1, length: uint32(end-i) - 2, inText: true}
	if escaped != 0 {
		start := len(s.keys.arena)
		s.keys.arena = appendUnescaped(s.keys.arena, s.text[i+1:end-1])
		r = keyRef{start: uint32(start), length: uint32(len(s.keys.arena) - start)}
	}
	if int(r.length) > s.options.MaxKey || !s.keys.add(first, r) {
		return refused
	}
	s.nodes = append(s.nodes, node{start: uint32(i), end: uint32(end), next: uint32(len(s.nodes)) + 1, info: uint32(String) | escaped})
	i = s.skip(end)
	if i == len(s.text) || s.text[i] != ':' {
		return refused
	}
	return s.skip(i + 1)
}

// scanString reads a string from behind its opening quote to behind its closing
// one. escaped is infoEscaped if it contains an escape.
func scanString(text []byte, i int) (end int, escaped uint32) {
	for {
		i += plainRun(text[i:])
		switch {
		case i == len(text):
			return refused, 0
		case text[i] == '"':
			return i + 1, escaped
		}
		_, n := unescape(text[i:])
		if text[i] != '\\' || n == 0 {
			return refused, 0
		}
		escaped = infoEscaped
		i += n
	}
}

func (s *scan) number(i int) int {
	if c := s.text[i]; c != '-' && (c < '0' || c > '9') {
		return refused
	}
	n := startNumber(s.text[i], s.options.MaxExponent)
	used, over := n.scan(s.text[i+1:])
	if over || !n.complete() {
		return refused
	}
	return i + 1 + used
}

func (s *scan) name(i int, name string) int {
	if len(s.text)-i < len(name) || string(s.text[i:i+len(name)]) != name {
		return refused
	}
	return i + len(name)
}

func (s *scan) skip(i int) int {
	for i < len(s.text) && isSpace(s.text[i]) {
		i++
	}
	return i
}
