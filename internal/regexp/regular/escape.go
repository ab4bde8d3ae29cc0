package regular

import (
	"strings"
	"unicode"
)

// syntaxCharacters may be escaped as themselves (SyntaxCharacter, and
// "/" by IdentityEscape).
const syntaxCharacters = `^$\.*+?()[]{}|/`

// atomEscape parses "\" outside of a class.
func (p *parser) atomEscape() (n *node, names map[string]bool, quantifiable bool) {
	at := p.pos
	p.pos++
	c := p.peek()
	switch {
	case c == 'b':
		p.pos++
		return &node{op: opBoundary, at: at, set: p.wordSet()}, nil, false
	case c == 'B':
		p.pos++
		return &node{op: opNotBoundary, at: at, set: p.wordSet()}, nil, false
	case c == 'k':
		p.pos++
		if !p.accept("<") {
			p.fail(at, `"\k" needs a group name`, "")
		}
		p.named = append(p.named, reference{at: at, name: p.groupName()})
		return &node{op: opBackreference, at: at}, nil, true
	case '1' <= c && c <= '9':
		number, _ := p.decimal()
		p.numbered = append(p.numbered, reference{at: at, number: number})
		return &node{op: opBackreference, at: at}, nil, true
	}
	if s, ok := p.classEscape(at); ok {
		return &node{op: opClass, at: at, set: p.read(s)}, nil, true
	}
	return &node{op: opClass, at: at, set: p.read(single(p.characterEscape(at, syntaxCharacters)))}, nil, true
}

// classEscape parses \d \D \s \S \w \W \p{} \P{} after the backslash.
func (p *parser) classEscape(at int) (set, bool) {
	var s set
	c := p.peek()
	switch c {
	case 'd', 'D':
		s = digits()
	case 's', 'S':
		s = spaces()
	case 'w', 'W':
		s = p.wordSet()
	case 'p', 'P':
		p.pos++
		s = p.property(at)
		p.pos--
	default:
		return nil, false
	}
	p.pos++
	if 'A' <= c && c <= 'Z' {
		s = s.Complement()
	}
	return s, true
}

// characterEscape parses an escape for one code point after the backslash.
// identity are the characters that may be escaped as themselves.
func (p *parser) characterEscape(at int, identity string) rune {
	if p.pos == len(p.text) {
		p.fail(at, `"\" at the end of the pattern`, `write "\\" for the character`)
	}
	r := p.next()
	switch r {
	case 't':
		return '\t'
	case 'n':
		return '\n'
	case 'v':
		return '\v'
	case 'f':
		return '\f'
	case 'r':
		return '\r'
	case 'c':
		c := p.peek()
		if c|0x20 < 'a' || c|0x20 > 'z' {
			p.fail(at, `"\c" needs an ASCII letter`, "")
		}
		p.pos++
		return rune(c & 0x1F)
	case '0':
		if c := p.peek(); '0' <= c && c <= '9' {
			p.fail(at, "octal escapes do not exist", `write "\x" and two hexadecimal digits`)
		}
		return 0
	case 'x':
		value, ok := p.hex(2)
		if !ok {
			p.fail(at, `"\x" needs two hexadecimal digits`, "")
		}
		return value
	case 'u':
		return p.unicodeEscape(at)
	}
	if !strings.ContainsRune(identity, r) {
		hint := ""
		if r > unicode.MaxASCII || !words().Contains(r) {
			hint = "write the character without the backslash"
		}
		p.fail(at, "this escape does not exist", hint)
	}
	return r
}

// hex parses exactly n hexadecimal digits.
func (p *parser) hex(n int) (value rune, ok bool) {
	if p.pos+n > len(p.text) {
		return 0, false
	}
	for _, c := range []byte(p.text[p.pos : p.pos+n]) {
		digit, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		value = value<<4 | digit
	}
	p.pos += n
	return value, true
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0'), true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10, true
	}
	return 0, false
}

// unicodeEscape parses XXXX or {X...} after "\u". Two escapes of a surrogate
// pair are one code point; a lone surrogate is a code point that no text has.
func (p *parser) unicodeEscape(at int) rune {
	if p.accept("{") {
		var value rune
		digits := 0
		for {
			digit, ok := hexDigit(p.peek())
			if !ok {
				break
			}
			p.pos++
			digits++
			if value = value<<4 | digit; value > unicode.MaxRune {
				p.fail(at, "there is no such code point", "")
			}
		}
		if digits == 0 || !p.accept("}") {
			p.fail(at, `"\u{" needs hexadecimal digits and "}"`, "")
		}
		return value
	}
	lead, ok := p.hex(4)
	if !ok {
		p.fail(at, `"\u" needs four hexadecimal digits, or some in braces`, "")
	}
	if lead&^0x3FF != 0xD800 {
		return lead
	}
	back := p.pos
	if p.accept(`\u`) {
		if trail, ok := p.hex(4); ok && trail&^0x3FF == 0xDC00 {
			return 0x10000 + (lead&0x3FF)<<10 + trail&0x3FF
		}
	}
	p.pos = back
	return lead
}
