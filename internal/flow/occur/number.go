package occur

import (
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
	if code == "" && !negative {
		s.emit(flow.Number, decimal, from, to, loose)
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

func set(marks string) (t [256]bool) {
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
