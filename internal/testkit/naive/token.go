package naive

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

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
		written := r.pos
		if f := digits(); f != nil {
			return f
		}
		if f := r.exponent(written); f != nil {
			return f
		}
	}
	n.Kind, n.Text = Number, r.text[start:r.pos]
	return r.ended(n, start+1)
}

// exponent blames the digit that makes an exponent too large (A20).
func (r *reader) exponent(from int) *Fault {
	value := 0
	for i, c := range []byte(r.text[from:r.pos]) {
		if value = 10*value + int(c-'0'); value > maxExponent {
			return &Fault{Code: "limit_exceeded", At: from + i + 1}
		}
	}
	return nil
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
