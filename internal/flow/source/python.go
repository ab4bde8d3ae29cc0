package source

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/stopgate/stopgate/jsonstream"
)

// pythonToJSON converts a Python literal, as repr prints dictionaries, lists, tuples, strings,
// numbers and names, to JSON text token by token. The parser of JSON checks the structure. Refused
// are sets, calls, comments, prefixes of strings, adjacent strings and triple quotes.
func pythonToJSON(data []byte) (text []byte, ok bool) {
	if len(data) > maxPython {
		return nil, false
	}
	p := pythonReader{in: data, out: make([]byte, 0, len(data)+len(data)/8)}
	for len(p.in) > 0 {
		if !p.token() {
			return nil, false
		}
	}
	return p.out, len(p.open) == 0
}

type pythonReader struct {
	in, out []byte
	open    []bracket
	after   bool // the token before ended a value: only an operator may follow
}

// bracket is an open bracket.
type bracket struct {
	end   byte // its closing bracket
	comma bool // a comma was read in it
	key   bool // the next value is a key of a dictionary
}

// token converts the token at the start of the input.
func (p *pythonReader) token() bool {
	var in *bracket
	if n := len(p.open); n > 0 {
		in = &p.open[n-1]
	}
	switch c := p.in[0]; c {
	case ' ', '\t', '\n', '\r':
		p.in = p.in[1:]
		return true
	case '{', '[', '(':
		return p.begin(c, in)
	case '}', ']', ')':
		return in != nil && p.end(c, in)
	case ':', ',':
		if !p.after || in == nil || in.end == '}' && in.key != (c == ':') || in.end != '}' && c == ':' {
			return false
		}
		in.key, in.comma = in.end == '}' && c == ',', in.comma || c == ','
		p.in, p.out, p.after = p.in[1:], append(p.out, c), false
		return true
	case '\'', '"':
		if p.after {
			return false
		}
		p.after = true
		return p.text(c)
	}
	if p.after {
		return false
	}
	p.after = true
	return p.name(in != nil && in.key)
}

func (p *pythonReader) begin(c byte, in *bracket) bool {
	if p.after || in != nil && in.key || len(p.open) == maxDepth {
		return false
	}
	b := bracket{end: map[byte]byte{'[': ']', '(': ')', '{': '}'}[c], key: c == '{'}
	if c == '(' {
		c = '['
	}
	p.in, p.open, p.out = p.in[1:], append(p.open, b), append(p.out, c)
	return true
}

// end closes a bracket. A comma before it, as in a tuple of one, is dropped; parentheses around a
// value without a comma are no tuple.
func (p *pythonReader) end(c byte, in *bracket) bool {
	last := p.out[len(p.out)-1]
	if in.end != c || c == ')' && !in.comma && last != '[' {
		return false
	}
	if !p.after && last == ',' {
		p.out = p.out[:len(p.out)-1]
	}
	if c == ')' {
		c = ']'
	}
	p.in, p.open, p.out, p.after = p.in[1:], p.open[:len(p.open)-1], append(p.out, c), true
	return true
}

// name converts True, False, None or a number. A number that is a key becomes a string.
func (p *pythonReader) name(key bool) bool {
	n := bytes.IndexAny(p.in, " \t\n\r{}[]():,'\"")
	if n < 0 {
		n = len(p.in)
	}
	word := p.in[:n]
	p.in = p.in[n:]
	switch string(word) {
	case "True":
		word = []byte("true")
	case "False":
		word = []byte("false")
	case "None":
		word = []byte("null")
	default:
		if _, err := jsonstream.ParseDecimal(word); err != nil {
			return false
		}
	}
	if key {
		p.out = jsonstream.AppendQuote(p.out, word)
		return true
	}
	p.out = append(p.out, word...)
	return true
}

// text converts a string in one kind of quotes.
func (p *pythonReader) text(quote byte) bool {
	var text []byte
	in := p.in[1:]
	for {
		n := bytes.IndexAny(in, "\\\n\r"+string(rune(quote)))
		if n < 0 {
			return false
		}
		text = append(text, in[:n]...)
		c := in[n]
		in = in[n+1:]
		switch c {
		case quote:
			if !utf8.Valid(text) {
				return false
			}
			p.in, p.out = in, jsonstream.AppendQuote(p.out, text)
			return true
		case '\\':
			var ok bool
			if text, in, ok = pythonEscape(text, in); !ok {
				return false
			}
		default:
			return false // a line ends in it
		}
	}
}

// pythonEscape appends the character of the escape at the start of in, which repr may have written.
func pythonEscape(dst, in []byte) (text, rest []byte, ok bool) {
	if len(in) == 0 {
		return nil, nil, false
	}
	digits := 0
	switch c := in[0]; c {
	case '\\', '\'', '"':
		return append(dst, c), in[1:], true
	case 'n':
		return append(dst, '\n'), in[1:], true
	case 'r':
		return append(dst, '\r'), in[1:], true
	case 't':
		return append(dst, '\t'), in[1:], true
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return nil, nil, false
	}
	if len(in) < 1+digits {
		return nil, nil, false
	}
	r, err := strconv.ParseUint(string(in[1:1+digits]), 16, 32)
	if err != nil || r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
		return nil, nil, false
	}
	return utf8.AppendRune(dst, rune(r)), in[1+digits:], true
}
