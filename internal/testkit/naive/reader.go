package naive

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Never is the offset of something that did not happen.
const Never = int(^uint(0) >> 2)

// The kinds of a [Node].
const (
	Object = "object"
	Array  = "array"
	String = "string"
	Number = "number"
	Bool   = "boolean"
	Null   = "null"
)

// Node is one JSON value with the offsets at which it became known. An offset is
// a count of bytes: n means "with the nth byte".
type Node struct {
	Kind    string
	Text    string // String: decoded; Number: the literal; Bool: "true" or "false"
	Start   int    // the first byte
	End     int    // the byte that completes it; for numbers and names the byte behind it
	Ends    []int  // String: the offset of the last byte of every code point
	Members []Member
	Elems   []*Node
}

// Member is one key of an object and its value; Value is nil if the text ends or
// breaks before it begins.
type Member struct {
	Key   string
	At    int // closing quote of the key
	Value *Node
}

// Get returns the value of a key, nil if the object has none.
func (n *Node) Get(key string) *Node {
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// JSON writes a value as text.
func (n *Node) JSON() string {
	var b strings.Builder
	switch n.Kind {
	case String:
		b.WriteByte('"')
		for _, c := range n.Text {
			if c < 0x20 || c == '"' || c == '\\' {
				fmt.Fprintf(&b, `\u%04x`, c)
			} else {
				b.WriteRune(c)
			}
		}
		b.WriteByte('"')
	case Array:
		for i, e := range n.Elems {
			b.WriteString(separator("[", i) + e.JSON())
		}
		b.WriteString(strings.Repeat("[", 1-min(1, len(n.Elems))) + "]")
	case Object:
		for i, m := range n.Members {
			key := Node{Kind: String, Text: m.Key}
			b.WriteString(separator("{", i) + key.JSON() + ":" + m.Value.JSON())
		}
		b.WriteString(strings.Repeat("{", 1-min(1, len(n.Members))) + "}")
	default:
		b.WriteString(n.Text)
	}
	return b.String()
}

func separator(open string, i int) string {
	if i == 0 {
		return open
	}
	return ","
}

// Fault is what is wrong with a text.
type Fault struct {
	Code  string
	At    int
	Ended bool // the text ends too early, which no byte of it shows
}

// Limits of the text (THREATS 2.2).
const (
	maxDepth   = 128
	maxMembers = 10_000
	maxKey     = 1 << 10
)

type reader struct {
	text  string
	pos   int
	depth int
}

// Read parses one strict JSON text. On a fault the tree holds what was known
// before it, with Never as the end of everything that is not complete.
func Read(text string) (*Node, *Fault) {
	r := &reader{text: text}
	root, fault := r.document()
	if fault != nil && fault.At > len(text) {
		fault.At = len(text)
	}
	return root, fault
}

func (r *reader) document() (*Node, *Fault) {
	r.space()
	if r.pos == len(r.text) {
		return nil, r.fault("malformed_arguments")
	}
	if c := r.text[r.pos]; c != '{' {
		if strings.IndexByte(`["-0123456789tfn`, c) < 0 {
			return nil, r.fault("malformed_arguments")
		}
		return nil, r.fault("non_object_root")
	}
	root := &Node{}
	if f := r.value(root); f != nil {
		return root, f
	}
	r.space()
	if r.pos < len(r.text) {
		return root, r.fault("trailing_data")
	}
	return root, nil
}

// fault blames the byte at the current position.
func (r *reader) fault(code string) *Fault {
	if r.pos >= len(r.text) && code == "malformed_arguments" && strings.TrimSpace(r.text) != "" {
		code = "truncated_arguments"
	}
	return &Fault{Code: code, At: r.pos + 1, Ended: r.pos >= len(r.text)}
}

func (r *reader) space() {
	for r.pos < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.pos]) >= 0 {
		r.pos++
	}
}

func (r *reader) byte() byte {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

func (r *reader) take(c byte) *Fault {
	if r.pos >= len(r.text) || r.text[r.pos] != c {
		return r.fault("malformed_arguments")
	}
	r.pos++
	return nil
}

func (r *reader) value(n *Node) *Fault {
	n.Start, n.End = r.pos+1, Never
	switch c := r.byte(); {
	case c == '{':
		return r.object(n)
	case c == '[':
		return r.array(n)
	case c == '"':
		n.Kind = String
		return r.str(&n.Text, &n.Ends, &n.End)
	case c == '-' || '0' <= c && c <= '9':
		n.Start = Never // not known to be a value before its end
		return r.number(n)
	}
	start := n.Start
	n.Start = Never
	for word, kind := range map[string]string{"true": Bool, "false": Bool, "null": Null} {
		if r.byte() != word[0] {
			continue
		}
		for i := range len(word) {
			if f := r.take(word[i]); f != nil {
				return f
			}
		}
		n.Kind, n.Text = kind, word
		return r.ended(n, start)
	}
	return r.fault("malformed_arguments")
}

func (r *reader) enter() *Fault {
	if r.depth++; r.depth > maxDepth {
		return r.fault("limit_exceeded")
	}
	r.pos++
	r.space()
	return nil
}

func (r *reader) object(n *Node) *Fault {
	n.Kind = Object
	if f := r.enter(); f != nil {
		return f
	}
	seen := map[string]bool{}
	for first := true; r.byte() != '}' || !first; first = false {
		if !first {
			if r.byte() == '}' {
				break
			}
			if f := r.take(','); f != nil {
				return f
			}
			r.space()
		}
		if r.byte() != '"' || r.pos >= len(r.text) {
			return r.fault("malformed_arguments")
		}
		if len(n.Members) == maxMembers {
			return r.fault("limit_exceeded")
		}
		m := Member{Value: &Node{Start: Never, End: Never}}
		var ends []int
		if f := r.str(&m.Key, &ends, &m.At); f != nil {
			return f
		}
		if seen[m.Key] {
			return &Fault{Code: "duplicate_key", At: m.At}
		}
		seen[m.Key] = true
		n.Members = append(n.Members, m)
		r.space()
		if f := r.take(':'); f != nil {
			return f
		}
		r.space()
		if f := r.value(m.Value); f != nil {
			return f
		}
		r.space()
	}
	r.pos++
	r.depth--
	n.End = r.pos
	return nil
}

func (r *reader) array(n *Node) *Fault {
	n.Kind = Array
	if f := r.enter(); f != nil {
		return f
	}
	for first := true; r.byte() != ']'; first = false {
		if !first {
			if f := r.take(','); f != nil {
				return f
			}
			r.space()
		}
		e := &Node{Start: Never, End: Never}
		n.Elems = append(n.Elems, e)
		if f := r.value(e); f != nil {
			return f
		}
		r.space()
	}
	r.pos++
	r.depth--
	n.End = r.pos
	return nil
}

// number reads a number.
func (r *reader) number(n *Node) *Fault {
	start := r.pos
	digits := func() *Fault {
		if c := r.byte(); c < '0' || c > '9' {
			return r.fault("malformed_arguments")
		}
		for c := r.byte(); '0' <= c && c <= '9'; c = r.byte() {
			r.pos++
		}
		return nil
	}
	if r.byte() == '-' {
		r.pos++
	}
	if r.byte() == '0' {
		r.pos++
	} else if f := digits(); f != nil {
		return f
	}
	if r.byte() == '.' {
		r.pos++
		if f := digits(); f != nil {
			return f
		}
	}
	if c := r.byte(); c == 'e' || c == 'E' {
		r.pos++
		if c := r.byte(); c == '+' || c == '-' {
			r.pos++
		}
		if f := digits(); f != nil {
			return f
		}
	}
	n.Kind, n.Text = Number, r.text[start:r.pos]
	return r.ended(n, start+1)
}

// ended checks that a number or a literal name is followed by a byte that may
// follow a value: it is known only with that byte (F043-04).
func (r *reader) ended(n *Node, start int) *Fault {
	if r.pos >= len(r.text) || strings.IndexByte(" \t\r\n,]}", r.text[r.pos]) < 0 {
		return r.fault("malformed_arguments")
	}
	n.Start, n.End = start, r.pos+1
	return nil
}

func (r *reader) str(text *string, ends *[]int, end *int) *Fault {
	r.pos++
	var b strings.Builder
	defer func() { *text = b.String() }()
	put := func(c rune) {
		b.WriteRune(c)
		*ends = append(*ends, r.pos)
	}
	*end = Never
	for {
		c := r.byte()
		switch {
		case r.pos >= len(r.text) || c < 0x20:
			return r.fault("malformed_arguments")
		case c == '"':
			r.pos++
			*end = r.pos
			return nil
		case c == '\\':
			x, f := r.escape()
			if f != nil {
				return f
			}
			put(x)
		default:
			start := r.pos
			x, size := utf8.DecodeRuneInString(r.text[r.pos:])
			if x == utf8.RuneError && size < 2 {
				for !utf8.FullRuneInString(r.text[start:min(r.pos+1, len(r.text))]) && r.pos < len(r.text) {
					r.pos++
				}
				return r.fault("malformed_arguments")
			}
			r.pos += size
			put(x)
		}
	}
}

func (r *reader) escape() (rune, *Fault) {
	r.pos++
	if i := strings.IndexByte(`"\/bfnrt`, r.byte()); i >= 0 && r.pos < len(r.text) {
		r.pos++
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	high, f := r.unit()
	if f != nil || !utf16.IsSurrogate(high) {
		return high, f
	}
	if high >= 0xdc00 {
		r.pos--
		return 0, r.fault("malformed_arguments")
	}
	if f := r.take('\\'); f != nil {
		return 0, f
	}
	low, f := r.unit()
	if f != nil {
		return 0, f
	}
	if low < 0xdc00 || low > 0xdfff {
		r.pos--
		return 0, r.fault("malformed_arguments")
	}
	return utf16.DecodeRune(high, low), nil
}

// unit reads u and four hexadecimal digits.
func (r *reader) unit() (rune, *Fault) {
	if f := r.take('u'); f != nil {
		return 0, f
	}
	var u rune
	for range 4 {
		d := strings.IndexByte("0123456789abcdef", r.byte()|0x20)
		if d < 0 || r.pos >= len(r.text) || r.byte() < '0' {
			return 0, r.fault("malformed_arguments")
		}
		u = u<<4 + rune(d)
		r.pos++
	}
	return u, nil
}
