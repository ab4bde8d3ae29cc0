package occur

import (
	"bytes"
	"unicode/utf8"

	"github.com/stopgate/stopgate/flow"
)

// The bounds of ids with spaces.
const (
	longestID = 48
	mostWords = 4
)

// atoms finds the atoms of a chunk between white space.
func (s *scanner) atoms(start, end int, f features) {
	if s.spans = s.spans[:0]; f == 0 && s.count < 2 {
		s.piece(start, end, f)
		return
	}
	if f&(hasSlash|hasDigit) == 0 {
		s.spelled(start, end, s.count, s.letters)
	}
	if f&encoded != 0 {
		s.encoded(start, end, f)
	}
	if f&(hasInvisible|hasOdd) == 0 && f&hasHigh != 0 && f&(hasAt|hasDot|hasSlash|hasColon) != 0 {
		s.looks(start, end)
	}
	if f&(hasColon|hasSlash) == hasColon|hasSlash {
		s.urls(start, end)
	}
	if f&hasAt != 0 {
		s.emails(start, end)
	}
	if f&(hasDigit|hasForeignDigit) != 0 {
		s.digits(start, end, f)
	}
	if f&hasDelimiter == 0 {
		s.piece(start, end, f)
		return
	}
	for i := start; i < end; {
		if c := s.text[i]; c < utf8.RuneSelf && featureOf[c]&hasDelimiter == 0 {
			i++
			continue
		}
		size, stop := s.delimiterAt(i)
		if stop {
			s.piece(start, i, f)
			start = i + size
		}
		i += size
	}
	s.piece(start, end, f)
}

// digits finds the atoms that have digits. Those of one are no number.
func (s *scanner) digits(start, end int, f features) {
	if f&hasForeignDigit != 0 {
		s.foreignNumbers(start, end)
	}
	if f&hasDigit == 0 {
		return
	}
	s.dates(start, end, len(s.spans) > 0)
	s.iban(start, end, len(s.spans) > 0)
	s.phone(start, end, len(s.spans) > 0)
	s.numbers(start, end)
}

// span is a range of bytes.
type span struct{ start, end int }

// delimiterAt reports whether the character at i separates ids: quotes, brackets, commas.
func (s *scanner) delimiterAt(i int) (size int, is bool) {
	c := s.text[i]
	if c == '\'' { // not an apostrophe
		return 1, i == 0 || i+1 == len(s.text) || classes[s.text[i-1]]&alnum == 0 || classes[s.text[i+1]]&alnum == 0
	}
	if c < utf8.RuneSelf {
		return 1, featureOf[c]&hasDelimiter != 0
	}
	r, size := decode(s.text[i:])
	return size, classOf(r) == delimiter
}

// piece finds the atoms that a part of a chunk between delimiters is as a whole: an id, a host with
// or without a path, a path.
func (s *scanner) piece(start, end int, f features) {
	start, end = s.trim(start, end)
	if start == end || s.alone {
		return
	}
	piece := s.text[start:end]
	s.emit(flow.ID, piece, start, end, false)
	if f == 0 || s.inURL(start) {
		return
	}
	if f&hasDot != 0 {
		s.bare(start, end, f)
	}
	if f&(hasSlash|hasBackslash|hasTilde) != 0 || f&(hasColon|hasDigit) == hasColon|hasDigit {
		s.path(start, end)
	}
}

// trim removes emphasis, and the marks at the end of a sentence.
func (s *scanner) trim(start, end int) (int, int) {
	for start < end && s.text[start] == '*' {
		start++
	}
	for start < end && endsSentence(s.text[end-1]) {
		end--
	}
	return start, end
}

func endsSentence(c byte) bool { return c == '.' || c == ':' || c == '!' || c == '?' || c == '*' }

// line finds the ids with spaces: a short line as a whole, and what is between quotes in it.
func (s *scanner) line(start, end, chunks int, f features) {
	if s.words || chunks == 0 {
		return
	}
	if f&(hasInvisible|hasOdd) != 0 {
		s.looks(start, end)
	}
	line := bytes.TrimSpace(s.text[start:end])
	if len(line) <= longestID && chunks <= mostWords && (chunks > 1 || f&hasDelimiter != 0) {
		s.emit(flow.ID, line, start, end, false)
	}
	if f&hasQuote == 0 || chunks == 1 {
		return
	}
	for i := range len(quotes) {
		s.quoted(start, end, quotes[i])
	}
}

func (s *scanner) quoted(start, end int, quote byte) {
	for start < end {
		open := bytes.IndexByte(s.text[start:end], quote)
		if open < 0 {
			return
		}
		start += open + 1
		size := bytes.IndexByte(s.text[start:end], quote)
		if size < 0 {
			return
		}
		if text := s.text[start : start+size]; size <= longestID && bytes.IndexByte(text, ' ') >= 0 && bytes.Count(text, []byte(" ")) < mostWords {
			s.emit(flow.ID, bytes.TrimSpace(text), start, start+size, false)
		}
		start += size + 1
	}
}
