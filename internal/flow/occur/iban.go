package occur

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// The length of an IBAN.
const (
	shortestIBAN = 14
	longestIBAN  = 34
)

// iban finds the account number that a chunk is, or that begins with it.
func (s *scanner) iban(start, end int, loose bool) {
	text := s.text
	for start < end && classes[text[start]]&alnum == 0 {
		start++
	}
	if start < s.busy || !beginsIBAN(text[start:]) {
		return
	}
	loose = loose || !mayPrecede(text[:start])
	to := start
	for to < len(text) && classes[text[to]]&alnum != 0 {
		to++
	}
	if to-start >= shortestIBAN {
		s.account(start, to, loose || !mayFollow(text[to:]))
		return
	}
	if to-start != 4 {
		return
	}
	ends := groupsOfIBAN(text, start)
	if len(ends) == 0 {
		return
	}
	best := len(ends) - 1
	for i := range ends {
		if validIBAN(appendIBAN(nil, text[start:ends[i]])) {
			best = i
		}
	}
	for i, to := range ends {
		s.account(start, to, loose || i != best || !mayFollow(text[to:]))
	}
	s.busy = max(s.busy, ends[best])
}

func (s *scanner) account(from, to int, loose bool) {
	s.atom = appendIBAN(s.atom[:0], s.text[from:to])
	if n := len(s.atom); n >= shortestIBAN && n <= longestIBAN {
		s.emit(flow.IBAN, s.atom, from, to, loose)
		s.busy = max(s.busy, to)
	}
}

// groupsOfIBAN returns the ends that groups of four capital letters and digits could have as an
// IBAN; a shorter group is the last.
func groupsOfIBAN(text []byte, start int) (ends []int) {
	size := 4
	for at := start + 4; at+1 < len(text) && (text[at] == ' ' || text[at] == '-'); {
		n := 0
		for at+1+n < len(text) && classes[text[at+1+n]]&(upper|digit) != 0 {
			n++
		}
		if n == 0 || n > 4 || size+n > longestIBAN || at+1+n < len(text) && classes[text[at+1+n]]&(alnum|high) != 0 {
			break
		}
		at += 1 + n
		if size += n; size >= shortestIBAN {
			ends = append(ends, at)
		}
		if n < 4 {
			break
		}
	}
	return ends
}

func beginsIBAN(text []byte) bool {
	return len(text) >= 4 && classes[text[0]]&(lower|upper) != 0 && classes[text[1]]&(lower|upper) != 0 && classes[text[2]] == digit && classes[text[3]] == digit
}

// appendIBAN appends letters and digits in capitals.
func appendIBAN(dst, text []byte) []byte {
	for _, c := range text {
		if classes[c]&alnum == 0 {
			continue
		}
		if c = spelling.LowerASCII(c); classes[c] == lower {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// validIBAN reports whether the check digits fit.
func validIBAN(iban []byte) bool {
	sum := 0
	for i := range iban {
		c := iban[(i+4)%len(iban)]
		if classes[c] == digit {
			sum = (sum*10 + int(c-'0')) % 97
		} else {
			sum = (sum*100 + int(c-'A') + 10) % 97
		}
	}
	return sum == 1
}

// plainIBAN parses a value that is one account number.
func plainIBAN(value []byte) (iban []byte, ok bool) {
	if !beginsIBAN(value) || classes[value[len(value)-1]]&alnum == 0 {
		return nil, false
	}
	for i, c := range value {
		if classes[c]&alnum == 0 && (c != ' ' && c != '-' || classes[value[i-1]]&alnum == 0) {
			return nil, false
		}
	}
	iban = appendIBAN(nil, value)
	return iban, len(iban) >= shortestIBAN && len(iban) <= longestIBAN
}
