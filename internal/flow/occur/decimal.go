package occur

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// numeral is the values of digits with separators: the one that is meant, and others that could be.
type numeral struct {
	plain []byte
	loose [2][]byte
}

// parseNumeral parses digits with separators between them. "1,200.50" and "1.200,50" have one
// value, "1,200" the one of English; "1.200" and "1,5" could be two. Next to a currency two digits
// after a comma are cents. The result is in buf or in text.
func parseNumeral(buf, text []byte, money bool) (n numeral) {
	last := len(text) - 1
	for last >= 0 && !separates(text[last]) {
		last--
	}
	if last < 0 && text[0] != '0' {
		return numeral{plain: text}
	}
	if last < 0 {
		return numeral{plain: appendDecimal(buf[:0], text, nil)}
	}
	dots, commas, others := 0, 0, 0
	for _, c := range text {
		switch c {
		case '.':
			dots++
		case ',':
			commas++
		case '\'', '_':
			others++
		}
	}
	whole, part := text[:last], text[last+1:]
	buf = appendDecimal(buf[:0], whole, part)
	point := buf
	buf = appendDecimal(buf, text, nil)
	joined := buf[len(point):]
	switch {
	case others > 0:
	case dots == 1 && commas == 0: // 1.5, 1.200
		if len(part) == 3 && grouped(text, '.') {
			break
		}
		return numeral{plain: point, loose: [2][]byte{joined}}
	case dots == 0 && commas > 0 && grouped(text, ','): // 1,200
		return numeral{plain: joined, loose: [2][]byte{point}}
	case dots == 0 && commas == 1 && money && len(part) == 2: // 12,50 EUR
		return numeral{plain: point, loose: [2][]byte{joined}}
	case dots == 1 && text[last] == '.' && grouped(whole, ','), // 1,200.50
		commas == 1 && text[last] == ',' && grouped(whole, '.'): // 1.200,50
		return numeral{plain: point, loose: [2][]byte{joined}}
	}
	return numeral{loose: [2][]byte{point, joined}}
}

// grouped reports whether a text is one to three digits and groups of three.
func grouped(text []byte, separator byte) bool {
	first := digitsAt(text, 0)
	if first == 0 || first > 3 || text[0] == '0' || first == len(text) {
		return false
	}
	for text = text[first:]; len(text) > 0; text = text[4:] {
		if text[0] != separator || digitsAt(text, 1) != 3 {
			return false
		}
	}
	return true
}

// appendDecimal appends the shortest spelling of a number: the digits of its whole part, in which
// separators are left out, and of its fraction.
func appendDecimal(dst, whole, part []byte) []byte {
	for len(part) > 0 && part[len(part)-1] == '0' {
		part = part[:len(part)-1]
	}
	start := len(dst)
	for _, c := range whole {
		if classes[c] == digit && (c != '0' || len(dst) > start) {
			dst = append(dst, c)
		}
	}
	if len(dst) == start {
		dst = append(dst, '0')
	}
	if len(part) > 0 {
		dst = append(append(dst, '.'), part...)
	}
	return dst
}

// longestExponent is the number of zeros that an exponent may add.
const longestExponent = 64

// plainNumber parses a value that is one number, as people or JSON write it.
func plainNumber(value []byte) (number []byte, ok bool) {
	value, negative := bytes.CutPrefix(asciiDigits(value), []byte("-"))
	if len(value) == 0 || len(value) > longestNumber {
		return nil, false
	}
	if at := bytes.IndexAny(value, "eE"); at > 0 {
		number, ok = scientific(value[:at], value[at+1:])
	} else if classes[value[0]] == digit && numeralEnd(value, 0) == len(value) {
		number = parseNumeral(nil, value, false).plain
		ok = number != nil
	}
	if ok && negative && string(number) != "0" {
		number = append([]byte("-"), number...)
	}
	return number, ok
}

// scientific moves the point of a number by an exponent.
func scientific(mantissa, exponent []byte) (number []byte, ok bool) {
	whole, part, _ := bytes.Cut(mantissa, []byte("."))
	exponent, negative := bytes.CutPrefix(exponent, []byte("-"))
	exponent = bytes.TrimPrefix(exponent, []byte("+"))
	if digitsAt(whole, 0) != len(whole) || digitsAt(part, 0) != len(part) || len(exponent) == 0 || len(exponent) > 3 || digitsAt(exponent, 0) != len(exponent) {
		return nil, false
	}
	n := 0
	for _, c := range exponent {
		n = 10*n + int(c-'0')
	}
	if n > longestExponent {
		return nil, false
	}
	zeros := bytes.Repeat([]byte("0"), n)
	if negative {
		all := append(zeros, whole...)
		return appendDecimal(nil, all[:len(all)-n], append(bytes.Clone(all[len(all)-n:]), part...)), true
	}
	all := append(bytes.Clone(part), zeros...)
	return appendDecimal(nil, append(bytes.Clone(whole), all[:n]...), all[n:]), true
}

// asciiDigits converts the decimal digits of all scripts to those of ASCII.
func asciiDigits(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && unicode.Is(unicode.Nd, r) }) {
		return text
	}
	return bytes.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r) {
			switch r {
			case '٫':
				return '.'
			case '٬':
				return ','
			}
			return r
		}
		return digitOf(r)
	}, text)
}

// digitOf returns the digit of ASCII: the digits of a script are ten characters in a row.
func digitOf(r rune) rune {
	n := rune(0)
	for n < 9 && unicode.Is(unicode.Nd, r-n-1) {
		n++
	}
	if n == 9 && unicode.Is(unicode.Nd, r-10) { // scripts in a row: mathematical digits
		n = (r - 0x1D7CE) % 10
	}
	return '0' + n
}
