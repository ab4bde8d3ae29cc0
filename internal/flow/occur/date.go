package occur

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// months are the first letters of the months' names.
var months = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

func monthOf(word []byte) int {
	if len(word) < 3 || len(word) > len("september") {
		return 0
	}
	var buf [9]byte
	name := lowered(buf[:0], word)
	for i, m := range months {
		if name[0] == m[0] && (string(name) == m || string(name) == m[:3] || string(name) == "sept" && i == 8) {
			return i + 1
		}
	}
	return 0
}

// date is a day, and a time of it as a text.
type date struct {
	year, month, day int
	time             string
}

func (d date) valid() bool {
	return d.year >= 1000 && d.month >= 1 && d.month <= 12 && d.day >= 1 && d.day <= monthDays(d.year, d.month)
}

func monthDays(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

func (d date) append(dst []byte) []byte {
	return append(dst, byte('0'+d.year/1000), byte('0'+d.year/100%10), byte('0'+d.year/10%10), byte('0'+d.year%10), '-',
		byte('0'+d.month/10), byte('0'+d.month%10), '-', byte('0'+d.day/10), byte('0'+d.day%10))
}

// dateAt parses a date that begins with digits. ambiguous is set where day and month could be
// exchanged.
func dateAt(text []byte) (d date, size int, ambiguous bool) {
	a, n := shortNumber(text)
	if n == 0 || n == len(text) {
		return d, 0, false
	}
	sep := text[n]
	if n == 4 && (sep == '-' || sep == '/' || sep == '.') {
		month, m := shortNumber(text[n+1:])
		at := n + 1 + m
		if m == 0 || m > 2 || at >= len(text) || text[at] != sep {
			return d, 0, false
		}
		day, k := shortNumber(text[at+1:])
		d = date{year: a, month: month, day: day}
		if k == 0 || k > 2 || !d.valid() {
			return d, 0, false
		}
		size = at + 1 + k
		var clock int
		d.time, clock = timeAt(text[size:])
		return d, size + clock, false
	}
	if n > 2 {
		return d, 0, false
	}
	if sep == '.' || sep == '/' || sep == '-' {
		b, m := shortNumber(text[n+1:])
		at := n + 1 + m
		if m > 0 && m <= 2 && at < len(text) && text[at] == sep {
			year, k := shortNumber(text[at+1:])
			if k != 4 {
				return d, 0, false
			}
			return dayMonth(a, b, year, sep), at + 1 + k, sep != '.' && a <= 12 && b <= 12 && a != b
		}
	}
	return namedDate(text, a, n)
}

func dayMonth(a, b, year int, sep byte) date {
	if sep != '.' && b > 12 {
		a, b = b, a
	}
	return date{year: year, month: b, day: a}
}

// namedDate parses "3 May 2025" and "3rd of May, 2025" after the day.
func namedDate(text []byte, day, n int) (d date, size int, ambiguous bool) {
	at := n + ordinal(text[n:])
	at += spaceAt(text[at:])
	if bytes.HasPrefix(text[at:], []byte("of ")) {
		at += 3
	}
	month, m := wordAt(text[at:])
	if month == 0 {
		return d, 0, false
	}
	at += m
	year, k := yearAt(text[at:])
	return date{year: year, month: month, day: day}, at + k, false
}

// monthDate parses "May 3, 2025".
func monthDate(text []byte) (d date, size int) {
	month, at := wordAt(text)
	if month == 0 {
		return d, 0
	}
	gap := spaceAt(text[at:])
	day, n := shortNumber(text[at+gap:])
	if gap == 0 || n == 0 || n > 2 {
		return d, 0
	}
	at += gap + n
	at += ordinal(text[at:])
	year, k := yearAt(text[at:])
	return date{year: year, month: month, day: day}, at + k
}

// yearAt parses a comma or a dot, a space, and a year.
func yearAt(text []byte) (year, size int) {
	at := 0
	if at < len(text) && (text[at] == ',' || text[at] == '.') {
		at++
	}
	gap := spaceAt(text[at:])
	year, n := shortNumber(text[at+gap:])
	if gap == 0 || n != 4 {
		return 0, 0
	}
	return year, at + gap + n
}

// beginsMonth are the first letters of months.
var beginsMonth = set("jfmasondJFMASOND")

func wordAt(text []byte) (month, size int) {
	if len(text) == 0 || !beginsMonth[text[0]] {
		return 0, 0
	}
	for size < len(text) && size <= len("september") && classes[text[size]]&(lower|upper) != 0 {
		size++
	}
	if month = monthOf(text[:size]); month == 0 {
		return 0, 0
	}
	if size == 3 && size < len(text) && text[size] == '.' {
		size++
	}
	return month, size
}

func ordinal(text []byte) int {
	if len(text) >= 2 {
		switch string([]byte{spelling.LowerASCII(text[0]), spelling.LowerASCII(text[1])}) {
		case "st", "nd", "rd", "th":
			return 2
		}
	}
	if len(text) > 0 && text[0] == '.' {
		return 1
	}
	return 0
}

func spaceAt(text []byte) int {
	if len(text) > 0 && text[0] == ' ' {
		return 1
	}
	return 0
}

// shortNumber parses at most four digits.
func shortNumber(text []byte) (v, n int) {
	for n < len(text) && classes[text[n]] == digit {
		if n == 4 {
			return 0, 0
		}
		v = 10*v + int(text[n]-'0')
		n++
	}
	return v, n
}

// timeAt parses the time after a date: the hour, the minute, and everything to the end of its zone.
func timeAt(text []byte) (clock string, size int) {
	if len(text) < len("T00:00") || text[0] != 'T' && text[0] != 't' && text[0] != ' ' || digitsAt(text, 1) != 2 || text[3] != ':' || digitsAt(text, 4) != 2 {
		return "", 0
	}
	size = len("T00:00")
	for size < len(text) && size < 40 && (classes[text[size]] == digit || bytes.IndexByte([]byte(":.+-Zz"), text[size]) >= 0) {
		size++
	}
	for size > 6 && (text[size-1] == '.' || text[size-1] == ':' || text[size-1] == '-') {
		size--
	}
	return "t" + strings.ToLower(string(text[1:size])), size
}

// dates finds the dates that begin in a chunk, or whose day does.
func (s *scanner) dates(start, end int, loose bool) {
	text := s.text
	for i := start; i < end; i++ {
		if classes[text[i]] != digit {
			continue
		}
		if n := digitsAt(text, i); n > 2 && (n != 4 || i+n == len(text) || text[i+n] < '-' || text[i+n] > '/') {
			i += n
			continue
		}
		from := i
		d, size, ambiguous := dateAt(text[i:min(len(text), i+64)])
		if size == 0 {
			from = monthBefore(text, i)
			d, size = monthDate(text[from:min(len(text), i+64)])
		}
		if size == 0 || !d.valid() {
			i += digitsAt(text, i)
			continue
		}
		to := from + size
		own := loose || ambiguous || !mayPrecede(text[:from]) || !mayFollow(text[to:])
		s.day(d, from, to, own)
		if ambiguous {
			s.day(date{year: d.year, month: d.day, day: d.month}, from, to, true)
		}
		if !own || ambiguous {
			s.busy = max(s.busy, to)
		}
		i = max(i, to-1)
	}
}

func (s *scanner) day(d date, from, to int, loose bool) {
	if !d.valid() {
		return
	}
	s.atom = d.append(s.atom[:0])
	s.emit(flow.Date, s.atom, from, to, loose)
	if d.time != "" {
		s.atom = append(s.atom, d.time...)
		s.emit(flow.Date, s.atom, from, to, loose)
	}
}

// monthBefore returns the start of the word before a day.
func monthBefore(text []byte, i int) int {
	if i == 0 || text[i-1] != ' ' {
		return i
	}
	from := i - 1
	if from > 0 && text[from-1] == '.' {
		from--
	}
	for from > 0 && i-from < 12 && classes[text[from-1]]&(lower|upper) != 0 {
		from--
	}
	return from
}

// plainDate parses a value that is one date.
func plainDate(value []byte) (day []byte, ok bool) {
	value = asciiDigits(value)
	d, size, ambiguous := dateAt(value)
	if size == 0 {
		d, size = monthDate(value)
	}
	if size != len(value) || ambiguous || !d.valid() {
		return nil, false
	}
	return append(d.append(nil), d.time...), true
}
