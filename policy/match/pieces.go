package match

import "unicode/utf8"

// shellPieces cuts a command line where any shell might: at operators, quoted or
// not, with quotes and line continuations removed. It is for suspicion only: it
// finds more commands than there are.
type shellPieces struct {
	line   []byte
	pos    int
	braces int
	text   []byte // the piece: words with blanks between them
}

// next reads the next piece that has words.
func (p *shellPieces) next() bool {
	p.text = p.text[:0]
	for p.pos < len(p.line) {
		c := p.line[p.pos]
		p.pos++
		switch {
		case isOperator(c):
			if c == '{' {
				p.braces++
			} else if c == '}' {
				p.braces = max(0, p.braces-1)
			}
			if len(p.text) > 0 {
				return true
			}
		case c == ',' && p.braces > 0:
			p.add(' ')
		case c == '"' || c == '\'':
		case c == '\\':
			p.escaped()
		case c == '$':
			p.dollar()
		default:
			p.add(c)
		}
	}
	return len(p.text) > 0
}

// isOperator reports a byte that separates commands outside quotes, or begins
// something that is run.
func isOperator(c byte) bool {
	switch c {
	case ';', '&', '|', '\n', '\r', '(', ')', '{', '}', '`', '<', '>', '#', 0:
		return true
	}
	return false
}

func (p *shellPieces) add(c byte) { p.text = append(p.text, c) }

// escaped reads what follows a backslash.
func (p *shellPieces) escaped() {
	if p.pos == len(p.line) {
		return
	}
	c := p.line[p.pos]
	p.pos++
	if c != '\n' {
		p.add(c)
	}
}

// dollar reads what follows a dollar sign: a quoted text with escapes, or a
// variable, which may be empty.
func (p *shellPieces) dollar() {
	rest := p.line[p.pos:]
	if len(rest) > 0 && rest[0] == '\'' {
		p.pos++
		p.ansi()
		return
	}
	p.pos += nameEnd(rest, 0)
}

// ansi reads the rest of $'...'.
func (p *shellPieces) ansi() {
	for p.pos < len(p.line) {
		c := p.line[p.pos]
		p.pos++
		if c == '\'' {
			return
		}
		if c != '\\' || p.pos == len(p.line) {
			p.add(c)
			continue
		}
		r, size := ansiEscape(string(p.line[p.pos:min(p.pos+maxEscape, len(p.line))]))
		p.pos += size
		p.text = utf8.AppendRune(p.text, r)
	}
}

// maxEscape is the length of the longest escape: a U and eight digits.
const maxEscape = 9

// ansiEscape decodes what follows a backslash inside $'...'.
func ansiEscape(s string) (r rune, size int) {
	most := 0
	switch s[0] {
	case 'x':
		most = 2
	case 'u':
		most = 4
	case 'U':
		most = 8
	}
	if most > 0 {
		for n := min(most, len(s)-1); n > 0; n-- {
			if v, ok := hexValue(s[1:], n); ok {
				return v, 1 + n
			}
		}
	}
	for size < min(3, len(s)) && '0' <= s[size] && s[size] <= '7' {
		r = r<<3 | rune(s[size]-'0')
		size++
	}
	if size > 0 {
		return r, size
	}
	return utf8.DecodeRuneInString(s)
}
