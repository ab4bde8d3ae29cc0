package occur

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/flow"
)

// longestNumber is the length of a number with its separators.
const longestNumber = 64

// numbers finds the numbers and amounts of a chunk.
func (s *scanner) numbers(start, end int) {
	for i := start; i < end; {
		if classes[s.text[i]] != digit {
			i++
			continue
		}
		to := numeralEnd(s.text[:end], i)
		s.number(i, to, s.inURL(i))
		i = to
	}
}

// numeralEnd returns the end of digits with separators between them.
func numeralEnd(text []byte, i int) int {
	for i < len(text) {
		c := text[i]
		if classes[c] != digit && (!separates(c) || i+1 == len(text) || classes[text[i+1]] != digit) {
			break
		}
		i++
	}
	return i
}

func separates(c byte) bool { return c == '.' || c == ',' || c == '\'' || c == '_' }

// number finds the number of a numeral, and the amount of money that it is with its currency.
func (s *scanner) number(from, to int, loose bool) {
	text := s.text
	if to-from > longestNumber {
		return
	}
	minus := signBefore(text, from)
	code, before := currencyBefore(text, from-minus)
	after, size := currencyAfter(text, to)
	if code == "" {
		code = after
	} else if after != "" && after != code {
		loose = true
	}
	n := parseNumeral(s.numeral[:0], text[from:to], code != "")
	switch {
	case from < s.busy || !before && !mayPrecede(text[:from-minus]):
		loose = true
	case size == 0 && !mayFollow(text[to:]):
		loose = true
	case code == "" && s.spaced(from, to):
		loose = true
	}
	s.value(n.plain, code, minus > 0, from, to, loose)
	for _, v := range n.loose {
		s.value(v, code, minus > 0, from, to, true)
	}
	if loose && minus > 0 { // perhaps a dash
		s.value(n.plain, code, false, from, to, true)
	}
}

func (s *scanner) value(decimal []byte, code string, negative bool, from, to int, loose bool) {
	if decimal == nil {
		return
	}
	s.atom = s.atom[:0]
	if code != "" {
		s.atom = append(append(s.atom, code...), ' ')
	}
	at := len(s.atom)
	if negative && string(decimal) != "0" {
		s.atom = append(s.atom, '-')
	}
	s.atom = append(s.atom, decimal...)
	s.emit(flow.Number, s.atom[at:], from, to, loose)
	if code != "" {
		s.emit(flow.Money, s.atom, from, to, loose)
	}
}

// signBefore returns the length of a minus before a number.
func signBefore(text []byte, from int) int {
	if from > 0 && text[from-1] == '-' && mayPrecede(text[:from-1]) {
		return 1
	}
	return 0
}

// opens are the marks after which a number can begin.
var opens = set("([{<>\"'`=:~|,;*")

func set(marks string) (t [128]bool) {
	for _, c := range []byte(marks) {
		t[c] = true
	}
	return t
}

// mayPrecede reports whether a number can begin after a text.
func mayPrecede(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	switch c := text[len(text)-1]; {
	case classes[c] == white:
		return true
	case classes[c]&alnum != 0:
		return false
	case c >= utf8.RuneSelf:
		r, _ := utf8.DecodeLastRune(text)
		class := classOf(r)
		return class == blank || class == delimiter || class == single
	default:
		return opens[c] && (len(text) == 1 || c != ':' && c != ',' && c != '\'' || classes[text[len(text)-2]] != digit)
	}
}

// mayFollow reports whether a number can end before a text.
func mayFollow(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	c := text[0]
	if classes[c] == white {
		return true
	}
	if c >= utf8.RuneSelf {
		r, _ := utf8.DecodeRune(text)
		class := classOf(r)
		return class == blank || class == delimiter || class == single
	}
	switch c {
	case ')', ']', '}', '>', '"', '`', ';', '|', '*', '<':
		return true
	case '.', ',', ':', '!', '?', '\'':
		return len(text) == 1 || classes[text[1]]&alnum == 0 && text[1] < utf8.RuneSelf && text[1] != '-'
	}
	return false
}

// spaced reports whether a numeral could be a group of a number with spaces, such as "1 200", and
// finds that number at its first group.
func (s *scanner) spaced(from, to int) bool {
	text := s.text
	if from >= 2 && text[from-1] == ' ' && classes[text[from-2]] == digit && digitsAt(text, from) == 3 {
		return true
	}
	if !groupAt(text, to) || digitsAt(text, from) != to-from || to-from > 3 {
		return false
	}
	digits := append(s.joined[:0], text[from:to]...)
	for groupAt(text, to) && len(digits) < longestNumber {
		digits = append(digits, text[to+1:to+4]...)
		to += 4
	}
	end := to
	if to+1 < len(text) && (text[to] == ',' || text[to] == '.') && classes[text[to+1]] == digit {
		end = to + 1 + digitsAt(text, to+1)
		s.value(appendDecimal(s.word[:0], digits, text[to+1:end]), "", false, from, end, true)
	}
	s.value(appendDecimal(s.word[:0], digits, nil), "", false, from, end, true)
	s.joined = digits
	return true
}

// groupAt reports whether a space and exactly three digits follow.
func groupAt(text []byte, at int) bool {
	return at+3 < len(text) && text[at] == ' ' && digitsAt(text, at+1) == 3
}

func digitsAt(text []byte, at int) (n int) {
	for at+n < len(text) && classes[text[at+n]] == digit {
		n++
	}
	return n
}

// numeral is the values of digits with separators: the one that is meant, and others that could be.
type numeral struct {
	plain []byte
	loose [2][]byte
}

// parseNumeral parses digits with separators between them. "1,200.50" and "1.200,50" have one
// value, "1,200" the one of English; "1.200" and "1,5" could be two. Next to a currency two digits
// after a comma are cents. The result is in buf.
func parseNumeral(buf, text []byte, money bool) (n numeral) {
	last := bytes.LastIndexAny(text, ".,'_")
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
	part = bytes.TrimRight(part, "0")
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

// foreignNumbers finds the numbers in digits of other scripts.
func (s *scanner) foreignNumbers(start, end int) {
	text := asciiDigits(s.text[start:end])
	inner := scanner{text: text, loose: s.loose}
	inner.each = func(t Token) {
		t.Start, t.End = start, end
		s.each(t)
	}
	inner.numbers(0, len(text))
}
