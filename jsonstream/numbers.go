package jsonstream

import (
	"math"

	"github.com/stopgate/stopgate"
)

// numberState is the position in the grammar of a number.
type numberState uint8

const (
	afterMinus numberState = iota
	afterZero
	inInteger
	afterPoint
	inFraction
	afterE
	afterSign
	inExponent
)

// number follows the grammar of a JSON number (RFC 8259 section 6).
type number struct {
	state    numberState
	exponent int64 // absolute, as read so far
	limit    int64 // of exponent; below 0: none
}

// startNumber starts a number with its first byte.
func startNumber(c byte, limit int64) number {
	n := number{limit: limit, state: inInteger}
	switch c {
	case '-':
		n.state = afterMinus
	case '0':
		n.state = afterZero
	}
	return n
}

// scan processes the bytes of b that continue the number and returns their number. over
// reports that the last of them makes the exponent exceed its limit.
func (n *number) scan(b []byte) (used int, over bool) {
	for i, c := range b {
		digit := '0' <= c && c <= '9'
		switch n.state {
		case inInteger, inFraction:
			if digit {
				continue
			}
		case afterE, afterSign, inExponent:
			switch {
			case digit:
				n.state = inExponent
				if n.addExponent(int64(c - '0')) {
					return i + 1, true
				}
				continue
			case n.state == afterE && (c == '+' || c == '-'):
				n.state = afterSign
				continue
			}
			return i, false
		case afterMinus:
			switch {
			case c == '0':
				n.state = afterZero
				continue
			case digit:
				n.state = inInteger
				continue
			}
			return i, false
		case afterPoint:
			if digit {
				n.state = inFraction
				continue
			}
			return i, false
		}
		switch {
		case c == 'e' || c == 'E':
			n.state = afterE
		case c == '.' && n.state != inFraction:
			n.state = afterPoint
		default:
			return i, false
		}
	}
	return len(b), false
}

// addExponent appends a digit to the exponent and reports whether it exceeds the
// limit. Without a limit the value stops growing before it overflows.
func (n *number) addExponent(digit int64) (over bool) {
	if n.exponent < math.MaxInt64/16 {
		n.exponent = n.exponent*10 + digit
	}
	return n.limit >= 0 && n.exponent > n.limit
}

// complete reports whether the number can end here.
func (n *number) complete() bool {
	switch n.state {
	case afterZero, inInteger, inFraction, inExponent:
		return true
	}
	return false
}

// readNumber reads a number from chunk[i] on, up to the byte that ends it.
func (p *Parser) readNumber(chunk []byte, i int) int {
	used, over := p.number.scan(chunk[i:])
	end := i + used
	at := p.offset + int64(end)
	if over {
		p.fail(stopgate.CodeLimitExceeded, at, "an exponent is too large")
		return end
	}
	p.token = append(p.token, chunk[i:end]...)
	if end == len(chunk) {
		return end
	}
	if !p.number.complete() {
		p.malformed(at+1, "a number is not complete")
		return end
	}
	p.endScalarBefore(chunk[end], at+1)
	return end
}

// startName starts true, false or null with its first letter.
func (p *Parser) startName(name string) {
	p.name, p.seen, p.state = name, 1, inLiteral
}

// readName reads true, false or null from chunk[i] on, up to the byte that ends
// it.
func (p *Parser) readName(chunk []byte, i int) int {
	for ; i < len(chunk) && p.seen < len(p.name); i++ {
		if chunk[i] != p.name[p.seen] {
			p.malformed(p.offset+int64(i)+1, "an unknown literal name")
			return i
		}
		p.seen++
	}
	if i < len(chunk) {
		p.endScalarBefore(chunk[i], p.offset+int64(i)+1)
	}
	return i
}

// endScalarBefore ends a complete number or literal name if c, the byte number at, is valid
// after it. Otherwise the text is invalid, and no event is emitted.
func (p *Parser) endScalarBefore(c byte, at int64) {
	switch {
	case isSpace(c):
	case len(p.frames) == 0:
		if continuesToken(c) {
			p.malformed(at, "a number or literal name goes on")
		} else {
			p.fail(stopgate.CodeTrailingData, at, "data behind the value")
		}
		return
	case c == ',', c == '}' && p.top().object, c == ']' && !p.top().object:
	default:
		p.malformed(at, "a comma or the end of the container is missing")
		return
	}
	p.endScalar(at)
}

// endScalar emits the event of the current number or literal name.
func (p *Parser) endScalar(at int64) {
	if p.state == inNumber {
		p.endValue(Number, p.token, at)
		return
	}
	kind := Null
	switch p.name {
	case "true":
		kind = True
	case "false":
		kind = False
	}
	p.endValue(kind, nil, at)
}

// continuesToken reports whether c makes the text before it one invalid token (012, 1.5.2,
// 0x1, nullx) instead of being data after a valid one.
func continuesToken(c byte) bool {
	switch {
	case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return true
	}
	return c == '.' || c == '+' || c == '-' || c == '_'
}
