package occur

import (
	"bytes"
	"unicode/utf8"

	"github.com/stopgate/stopgate/flow"
)

// The bounds of readings.
const (
	maxDepth    = 3  // of encodings inside of encodings
	maxLooks    = 2  // of encodings whose text is read as it looks
	maxReadings = 32 // of one value
)

// inner scans a reading of a part of the text.
func (s *scanner) inner(text []byte) {
	if s.depth == maxDepth || s.words {
		return
	}
	if s.nested == nil {
		s.nested = &scanner{loose: true, depth: s.depth + 1}
	}
	s.nested.each = s.each
	s.nested.scan(normalised(text))
	s.each(Token{Kind: flow.Text, Loose: true}) // readings are apart
}

// looks scans a text as it looks, if that is another one.
func (s *scanner) looks(start, end int) {
	if s.depth == maxLooks {
		return
	}
	text := s.text[start:end]
	if look := skeleton(text); !bytes.Equal(look, text) {
		s.inner(look)
	}
	if turned := turned(text); turned != nil {
		s.inner(skeleton(turned))
	}
}

// encoded scans what a chunk could encode.
func (s *scanner) encoded(start, end int, f features) {
	if s.depth == maxDepth {
		return
	}
	decodings(s.text[start:end], f, s.inner)
}

// spelled finds a word that is spelled out: "e.v.i.l", "ev-il".
func (s *scanner) spelled(start, end, words, letters int) {
	if words < 2 || letters > 4*words || letters < 3 || letters > longestSpelled {
		return
	}
	s.joined = s.joined[:0]
	for i := start; i < end; {
		c := s.text[i]
		if c < utf8.RuneSelf {
			if classes[c]&alnum != 0 {
				s.joined = append(s.joined, c)
			}
			i++
			continue
		}
		r, size := decode(s.text[i:])
		if class := classOf(r); partOfWord(class) || class == single {
			s.joined = append(s.joined, s.text[i:i+size]...)
		}
		i += size
	}
	s.word = appendFolded(s.word[:0], s.joined)
	s.each(Token{Kind: flow.Text, Loose: true, Value: s.word, Start: start, End: end})
	s.each(Token{Kind: flow.Text, Loose: true})
}

// longestSpelled is the length of a word that is spelled out.
const longestSpelled = 64

// Readings calls each for a value, and for everything that it could encode, until each returns
// false. It reports whether there may be more.
func Readings(value []byte, each func(text []byte) bool) (open bool) {
	type reading struct {
		text  []byte
		depth int
	}
	list := []reading{{value, 0}}
	size := 0
	for i := 0; i < len(list); i++ {
		r := list[i]
		if !each(r.text) {
			return false
		}
		add := func(text []byte) {
			for _, other := range list {
				if bytes.Equal(other.text, text) {
					return
				}
			}
			size += len(text)
			if r.depth == maxDepth || len(list) == maxReadings || size > 4*len(value)+4096 {
				open = true
				return
			}
			list = append(list, reading{bytes.Clone(text), r.depth + 1})
		}
		if !isPlain(r.text) {
			add(skeleton(normalised(r.text)))
			if t := turned(r.text); t != nil {
				add(skeleton(t))
			}
		}
		decodings(r.text, hasPercent|hasAmpersand|hasBackslash|hasLong, add)
	}
	return open
}

// Segments returns the segments of a value like "owner/name", nil if it has one.
func Segments(value []byte) [][]byte {
	parts := bytes.Split(bytes.TrimSpace(value), []byte("/"))
	if len(parts) < 2 {
		return nil
	}
	return parts
}
