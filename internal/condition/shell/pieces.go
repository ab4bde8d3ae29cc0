package shell

import (
	"bytes"
	"unicode/utf8"
)

// cut adds the pieces of a text between everything that some shell takes for an operator, quoted or
// not, with quotes and line continuations removed. It finds more commands than there are.
func (l *Line) cut(text []byte, from parent) {
	p := pieces{text: text, line: l, from: from, first: len(l.words), at: len(l.text)}
	p.run()
}

type pieces struct {
	line   *Line
	text   []byte
	pos    int
	braces int
	from   parent
	first  int  // first word of the current piece
	at     int  // start of the current word in line.text
	home   bool // HOME is expanded before the current word
}

func (p *pieces) run() {
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		p.pos++
		switch {
		case isOperator(c):
			if c == '{' {
				p.braces++
			} else if c == '}' {
				p.braces = max(0, p.braces-1)
			}
			p.end()
		case c == ' ' || c == '\t' || c == ',' && p.braces > 0:
			p.word()
		case c == '"' || c == '\'':
		case c == '\\':
			p.escaped()
		case c == '$':
			p.dollar()
		default:
			p.add(c)
		}
	}
	p.end()
}

func (p *pieces) add(c byte) { p.line.text = append(p.line.text, c) }

// word ends the current word.
func (p *pieces) word() {
	l := p.line
	if len(l.text) > p.at || p.home {
		text := l.text[p.at:len(l.text):len(l.text)]
		l.words = append(l.words, Word{Text: text, Home: p.home, Glob: len(text) > 1 && bytes.ContainsAny(text, "*?[") || len(text) == 1 && (text[0] == '*' || text[0] == '?')})
		p.at, p.home = len(l.text), false
	}
}

// end ends the current piece.
func (p *pieces) end() {
	p.word()
	l := p.line
	if len(l.words) > p.first {
		l.add(l.words[p.first:len(l.words):len(l.words)], nil, p.from, false)
		p.first = len(l.words)
	}
}

// isOperator reports whether a byte separates commands outside of quotes, or begins something that
// is run.
func isOperator(c byte) bool {
	switch c {
	case ';', '&', '|', '\n', '\r', '(', ')', '{', '}', '`', '<', '>', '#', '!', 0:
		return true
	}
	return false
}

// escaped reads the character after a backslash.
func (p *pieces) escaped() {
	if p.pos == len(p.text) {
		return
	}
	c := p.text[p.pos]
	p.pos++
	if c != '\n' {
		p.add(c)
	}
}

// dollar reads the text after a dollar sign: a quoted text with escapes, or a variable, which may
// be empty.
func (p *pieces) dollar() {
	rest := p.text[p.pos:]
	if len(rest) > 0 && rest[0] == '\'' {
		p.pos++
		p.ansi()
		return
	}
	inner, braces := bytes.CutPrefix(rest, []byte("{"))
	n := 0
	for n < len(inner) && (IsLetter(inner[n]) || n > 0 && inner[n] >= '0' && inner[n] <= '9') {
		n++
	}
	home := string(inner[:n]) == "HOME" && len(p.line.text) == p.at
	switch {
	case home && braces:
		p.home = true
		p.pos += len("{HOME")
		if p.pos < len(p.text) && p.text[p.pos] == '}' {
			p.pos++
		} else {
			p.word() // ${HOME:?}: words may follow
		}
	case home:
		p.home = true
		p.pos += n
	case !braces:
		p.pos += n
	}
}

// ansi reads the rest of $'...'.
func (p *pieces) ansi() {
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		p.pos++
		if c == '\'' {
			return
		}
		if c != '\\' || p.pos == len(p.text) {
			p.add(c)
			continue
		}
		r, size := ansiEscape(string(p.text[p.pos:min(p.pos+maxEscape, len(p.text))]))
		p.pos += size
		p.line.text = utf8.AppendRune(p.line.text, r)
	}
}

// maxEscape is the length of the longest escape: a U and eight digits.
const maxEscape = 9

// ansiEscape decodes the escape after a backslash in $'...'.
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
	for size = 1; most > 0 && size < len(s) && size <= most; size++ {
		digit := bytes.IndexByte([]byte("0123456789abcdef"), s[size]|0x20)
		if digit < 0 || s[size] < '0' {
			break
		}
		r = r<<4 | rune(digit)
	}
	if most > 0 && size > 1 {
		return r, size
	}
	for size, r = 0, 0; size < min(3, len(s)) && '0' <= s[size] && s[size] <= '7'; size++ {
		r = r<<3 | rune(s[size]-'0')
	}
	if size > 0 {
		return r, size
	}
	return utf8.DecodeRuneInString(s)
}
