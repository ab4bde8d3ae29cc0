package occur

import (
	"bytes"

	"github.com/stopgate/stopgate/flow"
)

// The number of digits of a phone number.
const (
	fewestDigits = 7
	mostDigits   = 15
)

// phone finds the phone number that begins in a chunk, and marks its digits as used.
func (s *scanner) phone(start, end int, loose bool) {
	text := s.text
	from := start
	for from < end && classes[text[from]] != digit && text[from] != '+' && text[from] != '(' {
		from++
	}
	if from < s.busy || from < s.tried || from == end {
		return
	}
	if text[from] == '(' && (from+1 == end || classes[text[from+1]] != digit && text[from+1] != '+') {
		from++
	}
	to, digits, groups := phoneEnd(text, from)
	if digits < fewestDigits || digits > mostDigits {
		s.tried = to
		return
	}
	loose = loose || !mayPrecede(text[:from]) || !mayFollow(text[to:])
	s.atom = appendPhone(s.atom[:0], text[from:to])
	s.emit(flow.Phone, s.atom, from, to, loose)
	if s.atom[0] == '+' {
		s.emit(flow.Phone, s.atom[1:], from, to, true)
	}
	if groups > 1 && !loose {
		s.busy = max(s.busy, to)
		if n := digitsAt(text, from); n >= 9 && text[from+n] == ' ' { // perhaps two numbers
			s.emit(flow.Phone, text[from:from+n], from, from+n, false)
		}
	}
}

// inPhone are the marks in phone numbers.
var inPhone = set(" -./()")

// phoneEnd returns the end of digits with single separators between groups.
func phoneEnd(text []byte, from int) (to, digits, groups int) {
	i := from
	if i < len(text) && text[i] == '+' {
		i++
	}
	for to = i; i < len(text) && digits <= mostDigits; i++ {
		c := text[i]
		if classes[c] == digit {
			if digits++; i == from || classes[text[i-1]] != digit {
				groups++
			}
			to = i + 1
			continue
		}
		if !inPhone[c] || i > from && !pairs(text[i-1], c) {
			break
		}
	}
	if to < len(text) && text[to] == ')' && bytes.IndexByte(text[from:to], '(') >= 0 && bytes.IndexByte(text[from:to], ')') < 0 {
		to++
	}
	return to, digits, groups
}

// pairs reports whether two characters can follow each other in a phone number.
func pairs(a, b byte) bool {
	return classes[a] == digit || a == '+' || a == ' ' && b == '(' || a == ')' && b == ' '
}

func appendPhone(dst, text []byte) []byte {
	if text[0] == '+' {
		dst = append(dst, '+')
	}
	for _, c := range text {
		if classes[c] == digit {
			dst = append(dst, c)
		}
	}
	return dst
}

// plainPhone parses a value that is one phone number.
func plainPhone(value []byte) (number []byte, ok bool) {
	value = asciiDigits(value)
	value = bytes.TrimPrefix(value, []byte("tel:"))
	if len(value) == 0 || classes[value[0]] != digit && value[0] != '+' && value[0] != '(' {
		return nil, false
	}
	to, digits, _ := phoneEnd(value, 0)
	if to != len(value) || digits < fewestDigits || digits > mostDigits {
		return nil, false
	}
	return appendPhone(nil, value), true
}
