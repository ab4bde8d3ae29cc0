package occur

import (
	"unicode"

	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// The classes of bytes.
const (
	lower = 1 << iota // a to z
	upper
	digit
	white
	mark
	high  // a part of a character outside ASCII
	alnum = lower | upper | digit
)

var classes = func() (t [256]uint8) {
	for b := range t {
		switch {
		case 'a' <= b && b <= 'z':
			t[b] = lower
		case 'A' <= b && b <= 'Z':
			t[b] = upper
		case '0' <= b && b <= '9':
			t[b] = digit
		case b == ' ' || '\t' <= b && b <= '\r':
			t[b] = white
		case b >= 0x80:
			t[b] = high
		default:
			t[b] = mark
		}
	}
	return t
}()

// features are the characters of a chunk between white space that atoms can have.
type features uint16

const (
	hasAt features = 1 << iota
	hasDot
	hasSlash
	hasBackslash
	hasColon
	hasDelimiter
	hasDigit
	hasTilde
	hasForeignDigit // a digit outside ASCII
	hasInvisible
	hasHigh
	hasPercent
	hasAmpersand
	hasLong // a word that could be encoded
	hasOdd  // a word that looks like another one
	hasQuote
)

// quotes are the marks between which ids can have spaces.
const quotes = "\"`"

// encoded are the features of a chunk that could encode a text.
const encoded = hasPercent | hasAmpersand | hasBackslash | hasLong

var featureOf = func() (t [128]features) {
	for b, f := range map[byte]features{'@': hasAt, '.': hasDot, '/': hasSlash, '\\': hasBackslash, ':': hasColon, '~': hasTilde,
		'%': hasPercent, '&': hasAmpersand} {
		t[b] = f
	}
	for _, b := range []byte("\"'`()[]{}<>,;|") {
		t[b] = hasDelimiter
	}
	for _, b := range []byte(quotes) {
		t[b] |= hasQuote
	}
	for b := range t {
		switch {
		case classes[b] == digit:
			t[b] = hasDigit
		case b < ' ' || b == 0x7F:
			t[b] = hasInvisible
		}
	}
	return t
}()

// runeClass is the class of a character outside ASCII.
type runeClass uint8

const (
	letter runeClass = iota // a part of a word
	single                  // a word of its own, in a script without spaces
	number                  // a decimal digit
	blank
	unseen // is not drawn, or changes how others are drawn
	delimiter
	symbol
)

// classOf returns the class of a character outside ASCII.
func classOf(r rune) runeClass {
	switch {
	case r < 0x600:
		return tables().class[r]
	case 0x4E00 <= r && r <= 0x9FFF, 0x3041 <= r && r <= 0x30FF && r != '・':
		return single
	case 0xAC00 <= r && r <= 0xD7A3:
		return letter
	case 0x3001 <= r && r <= 0x3002, 0x3008 <= r && r <= 0x3011, 0x2018 <= r && r <= 0x201F:
		return delimiter
	}
	return slowClass(r)
}

// unspaced are the scripts that put no space between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

func slowClass(r rune) runeClass {
	switch {
	case spelling.IsWhite(r):
		return blank
	case spelling.Invisible(r) || r == unicode.ReplacementChar:
		return unseen
	case unicode.Is(unicode.Nd, r):
		return number
	case unicode.IsLetter(r) && unicode.In(r, unspaced...):
		return single
	case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsNumber(r):
		return letter
	case unicode.In(r, unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf, unicode.Po):
		return delimiter
	}
	return symbol
}

// plainMark maps typographic quotes and dashes to those of ASCII.
func plainMark(r rune) rune {
	switch r {
	case '‘', '’', '‚', '‛', '′':
		return '\''
	case '“', '”', '„', '‟', '″':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return '-'
	}
	return r
}
