package jsonstream

import (
	"unicode/utf8"

	"github.com/stopgate/stopgate"
)

// textState is the state of the parser in a string or key.
type textState struct {
	key   bool // a key: its text is collected after the keys of the open objects
	start uint32

	// pending is a UTF-8 sequence that a chunk boundary splits, or the decoded text of an
	// escape.
	pending   [utf8.UTFMax]byte
	have      int
	want      int
	low, high byte // limits of its next byte

	// An escape that a chunk boundary splits, or that is invalid.
	digits int    // hexadecimal digits read
	unit   uint32 // their value
	lead   uint32 // the first half of a surrogate pair, 0 if there is none
}

// startKey processes the opening quote of a key.
func (p *Parser) startKey(at int64) {
	if p.keys.count(&p.top().keys) == p.options.MaxMembers {
		p.fail(stopgate.CodeLimitExceeded, at, "an object has too many members")
		return
	}
	p.text = textState{key: true, start: uint32(len(p.keys.arena))}
	p.state = inText
}

// readText reads a string or key from chunk[i] on and returns the index where it stopped.
// It processes the valid text that is complete in the chunk. readPending processes the rest,
// split by the end of the chunk or invalid, byte by byte, and so finds the first byte that
// shows an error, however the text is split.
func (p *Parser) readText(chunk []byte, i int) int {
	copies := !p.text.key && p.encodedHandler != nil && p.encodedHandler.WantsEncoded()
	for i < len(chunk) && p.state == inText {
		n := 0
		switch c := chunk[i]; {
		case copies && p.emitEncoded(chunk[i:], p.offset+int64(i), &n):
		case c == '"':
			p.endText(p.offset + int64(i) + 1)
			return i + 1
		case c != '\\':
			if n = plainRun(chunk[i:]); n > 0 {
				p.addText(chunk[i:i+n], p.offset+int64(i+n), false)
			}
		case i+1 < len(chunk) && shortEscapes[chunk[i+1]] != 0:
			n = 2
			p.text.pending[0] = shortEscapes[chunk[i+1]]
			p.addText(p.text.pending[:1], p.offset+int64(i+n), true)
		default:
			var r rune
			if r, n = unescape(chunk[i:]); n > 0 {
				p.addRune(r, p.offset+int64(i+n))
			}
		}
		if n == 0 {
			p.startPending(chunk[i], p.offset+int64(i)+1)
			n = 1
		}
		i += n
	}
	return i
}

// emitEncoded emits the start of b for an EncodedTextHandler, as far as it has the encoding
// of AppendQuote. n is its length; at is the number of the byte before it.
func (p *Parser) emitEncoded(b []byte, at int64, n *int) bool {
	var escaped bool
	if *n, escaped = encodedRun(b); *n == 0 {
		return false
	}
	p.event.Encoded = true
	p.emit(StringPart, b[:*n], at+int64(*n), escaped)
	p.event.Encoded = false
	return true
}

// startPending processes the first byte of text that is split or invalid.
func (p *Parser) startPending(c byte, at int64) {
	switch {
	case c == '\\':
		p.state = inEscape
	case c < ' ':
		p.malformed(at, "a raw control character in a string")
	default:
		p.startSequence(c, at)
	}
}

// readPending processes one byte of an escape or a UTF-8 sequence.
func (p *Parser) readPending(c byte, at int64) {
	t := &p.text
	switch p.state {
	case inSequence:
		p.continueSequence(c, at)
	case inEscape:
		if c == 'u' {
			t.digits, t.unit, t.lead = 0, 0, 0
			p.state = inHex
		} else if r := shortEscapes[c]; r != 0 {
			p.state = inText
			p.addRune(rune(r), at)
		} else {
			p.malformed(at, "an unknown escape")
		}
	case inHex:
		p.readHex(c, at)
	case awaitLow:
		p.state = inLowEscape
		if c != '\\' {
			p.malformed(at, "half a surrogate pair")
		}
	default: // inLowEscape
		t.digits, t.unit = 0, 0
		p.state = inHex
		if c != 'u' {
			p.malformed(at, "half a surrogate pair")
		}
	}
}

// readHex processes a digit of a \u escape. Half a surrogate pair is refused at the first
// digit that shows it.
func (p *Parser) readHex(c byte, at int64) {
	t := &p.text
	digit, ok := hexDigit(c)
	if !ok {
		p.malformed(at, "an escape without four hexadecimal digits")
		return
	}
	t.unit = t.unit<<4 | digit
	t.digits++
	second := t.digits == 1 && t.unit == 0xD || t.digits >= 2 && isLow(t.unit<<(16-4*t.digits))
	switch {
	case t.lead != 0 && !second, t.lead == 0 && second && t.digits >= 2:
		p.malformed(at, "half a surrogate pair")
	case t.digits < 4:
	case t.lead != 0:
		p.state = inText
		p.addRune(joinSurrogates(t.lead, t.unit), at)
	case isHigh(t.unit):
		t.lead = t.unit
		p.state = awaitLow
	default:
		p.state = inText
		p.addRune(rune(t.unit), at)
	}
}

// startSequence processes the first byte of a UTF-8 sequence that is split or invalid.
func (p *Parser) startSequence(c byte, at int64) {
	t := &p.text
	if t.want, t.low, t.high = sequenceShape(c); t.want == 0 {
		p.malformed(at, "a string is not UTF-8")
		return
	}
	t.pending[0], t.have = c, 1
	p.state = inSequence
}

func (p *Parser) continueSequence(c byte, at int64) {
	t := &p.text
	if c < t.low || c > t.high {
		p.malformed(at, "a string is not UTF-8")
		return
	}
	t.pending[t.have] = c
	t.have++
	t.low, t.high = 0x80, 0xBF
	if t.have == t.want {
		p.state = inText
		p.addText(t.pending[:t.have], at, false)
	}
}

// addRune adds the decoding of an escape that ends at the byte number at.
func (p *Parser) addRune(r rune, at int64) {
	n := utf8.EncodeRune(p.text.pending[:], r)
	p.addText(p.text.pending[:n], at, true)
}

// addText adds whole characters, the last of which ends at the byte number at.
func (p *Parser) addText(b []byte, at int64, escaped bool) {
	if !p.text.key {
		p.emit(StringPart, b, at, escaped)
		return
	}
	length := len(p.keys.arena) - int(p.text.start)
	if left := p.options.MaxKey - length; len(b) > left {
		if !escaped {
			// The character that exceeds the limit is the one that contains b[left].
			end := left + 1
			for end < len(b) && !utf8.RuneStart(b[end]) {
				end++
			}
			at -= int64(len(b) - end)
		}
		p.fail(stopgate.CodeLimitExceeded, at, "a key is too long")
		return
	}
	p.keys.arena = append(p.keys.arena, b...)
}

// endText processes the closing quote.
func (p *Parser) endText(at int64) {
	if !p.text.key {
		p.endValue(StringEnd, nil, at)
		return
	}
	p.state = awaitColon
	key := keyRef{start: p.text.start, length: uint32(len(p.keys.arena)) - p.text.start}
	if !p.keys.add(&p.top().keys, p.keys.bytes(&key), key) {
		p.keys.list = append(p.keys.list, key) // for the pointer of the error
		if !p.options.RepeatedKeys {
			p.fail(stopgate.CodeDuplicateKey, at, "a key is there twice")
			return
		}
	}
	p.emit(Key, p.keys.bytes(&key), at, false)
}
