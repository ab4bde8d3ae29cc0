package shell

import (
	"unicode"
	"unicode/utf8"
)

// word reads one word. Its text is part of the line unless quotes are removed.
func (r *strictReader) word() (w Word, ok bool) {
	start := r.pos
	for r.pos < len(r.text) && PlainBytes[r.text[r.pos]] {
		r.pos++
	}
	if r.pos == len(r.text) || ends(r.text[r.pos]) {
		return Word{Text: r.text[start:r.pos], Literal: true}, r.pos > start && r.text[start] != '='
	}
	first := r.text[start]
	if first == '=' {
		return w, false
	}
	l := r.line
	at := len(l.text)
	l.text = append(l.text, r.text[start:r.pos]...)
	w.Literal = true
	for r.pos < len(r.text) && !ends(r.text[r.pos]) {
		c := r.text[r.pos]
		switch {
		case PlainBytes[c]:
			l.text = append(l.text, c)
			r.pos++
		case c == '\'':
			w.Quoted = true
			ok = r.single()
		case c == '"':
			w.Quoted = true
			ok = r.double()
		case c == '\\':
			w.Quoted = true
			ok = r.escaped()
		case c == '*' || c == '?' || c == '~' && r.pos == start:
			w.Literal, w.Glob, ok = false, w.Glob || c != '~', true
			if c == '~' && r.pos+1 < len(r.text) && r.text[r.pos+1] != '/' && !ends(r.text[r.pos+1]) {
				return w, false
			}
			l.text = append(l.text, c)
			r.pos++
		case c == '$':
			var next int
			if next, ok = r.parameter(r.pos, false); ok {
				r.pos = next
			}
		default:
			ok = r.odd(start)
		}
		if !PlainBytes[c] && !ok {
			return w, false
		}
	}
	w.Text = l.text[at:len(l.text):len(l.text)]
	w.Tilde = first == '~' && !w.Glob && !r.computed
	if r.computed {
		w.Literal, w.Quoted = false, true
	}
	return w, true
}

// single reads '...'. Some shells read a backslash at its end as an escape.
func (r *strictReader) single() bool {
	for i := r.pos + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '\'':
			if r.text[i-1] == '\\' {
				return false
			}
			r.line.text = append(r.line.text, r.text[r.pos+1:i]...)
			r.pos = i + 1
			return true
		case c < ' ' && c != '\n' || c == 0x7f:
			return false
		case c >= utf8.RuneSelf:
			size := visible(r.text[i:])
			if size == 0 {
				return false
			}
			i += size - 1
		}
	}
	return false
}

// double reads "..." without expansions, except a text that cat prints.
func (r *strictReader) double() bool {
	l := r.line
	for i := r.pos + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.pos = i + 1
			return true
		case c == '$':
			next, ok := r.printed(i)
			if !ok {
				next, ok = r.parameter(i, true)
			}
			if !ok {
				return false
			}
			i = next - 1
		case c == '`' || c == '!' || c < ' ' && c != '\n' || c == 0x7f:
			return false
		case c == '\\':
			if i++; i == len(r.text) {
				return false
			}
			switch e := r.text[i]; {
			case e == '"' || e == '\\' || e == '$' || e == '`':
				l.text = append(l.text, e)
			case e < ' ' || e >= 0x7f || e == '!':
				return false
			default:
				l.text = append(l.text, '\\', e)
			}
		case c >= utf8.RuneSelf:
			size := visible(r.text[i:])
			if size == 0 {
				return false
			}
			l.text = append(l.text, r.text[i:i+size]...)
			i += size - 1
		default:
			l.text = append(l.text, c)
		}
	}
	return false
}

// escaped reads a backslash and the quoted character.
func (r *strictReader) escaped() bool {
	if r.pos+1 == len(r.text) {
		return false
	}
	c := r.text[r.pos+1]
	if c <= ' ' && c != ' ' || c >= 0x7f {
		return false
	}
	r.line.text = append(r.line.text, c)
	r.pos += 2
	return true
}

// odd reads a character that is literal only in some positions: ~ and ^ in a word, ! and {} as a
// word, @{...} as git writes it, letters beyond ASCII.
func (r *strictReader) odd(start int) bool {
	l, c := r.line, r.text[r.pos]
	size := 1
	switch {
	case c == '~' || c == '^':
		if r.pos == start || r.text[r.pos-1] == '=' || r.text[r.pos-1] == ':' {
			return false
		}
	case c == '#':
		if r.pos == start {
			return false
		}
	case c == '!':
		if r.pos != start || r.pos+1 < len(r.text) && !ends(r.text[r.pos+1]) {
			return false
		}
	case c == '[' || c == ']': // the program, and the end of its words
		if r.pos != start || r.pos+1 < len(r.text) && !ends(r.text[r.pos+1]) || c == '[' && len(l.words) > r.words || c == ']' && len(l.words) == r.words {
			return false
		}
	case c == '{':
		rest := r.text[r.pos+1:]
		n := 0
		for r.pos > start && r.text[r.pos-1] == '@' && n < len(rest) && (IsLetter(rest[n]) || rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		if n == len(rest) || rest[n] != '}' || n == 0 && r.pos != start {
			return false
		}
		if size = n + 2; n == 0 && r.pos+size < len(r.text) && !ends(r.text[r.pos+size]) {
			return false
		}
	case c >= utf8.RuneSelf:
		if size = visible(r.text[r.pos:]); size == 0 {
			return false
		}
	default:
		return false
	}
	l.text = append(l.text, r.text[r.pos:r.pos+size]...)
	r.pos += size
	return true
}

// visible returns the length of a character beyond ASCII that is printed as itself, 0 for any
// other.
func visible(text []byte) int {
	c, size := utf8.DecodeRune(text)
	if size > 1 && unicode.In(c, unicode.L, unicode.N, unicode.P, unicode.S) {
		return size
	}
	return 0
}

// PlainBytes are literal in every position, except = at the start of a word.
var PlainBytes = func() (t [256]bool) {
	for _, b := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%") {
		t[b] = true
	}
	return t
}()
