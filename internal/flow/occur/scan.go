package occur

import (
	"bytes"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/flow"
)

// Token is a word, a mark or an atom of a text.
type Token struct {
	// Kind is Text for words and marks, which come in the order of the text, and the kind of an
	// atom.
	Kind flow.Kind
	// Mark is set for a run of one punctuation character.
	Mark bool
	// Loose is set for a token of a reading of the text that it does not plainly have.
	Loose bool
	// Alone is set for a word of the text that is an id, too: one that stands alone between white
	// space, verbatim. Other ids are tokens of their own.
	Alone bool
	// Value is the normalised token. It is valid until the function that received it returns.
	Value []byte
	// Start and End are its bytes in the compatibility form of the text, or of its reading.
	Start, End int
}

// Scan calls each for every token of a text.
func Scan(text []byte, each func(Token)) {
	s := scanners.Get().(*scanner)
	s.each = each
	s.scan(normalised(text))
	s.each = nil
	scanners.Put(s)
}

// scanners are those of texts that were scanned, for their buffers.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

// scanner finds the tokens of one text.
type scanner struct {
	each func(Token)
	text []byte
	// loose is set while a reading of the text is scanned.
	loose bool
	// words is set to find words and marks only.
	words bool
	depth int // of readings inside of readings
	// busy is the end of the last atom that spans several chunks.
	busy           int
	tried          int                       // the end of the last digits that are no phone number
	word           []byte                    // scratch buffer of words
	numeral        [2*longestNumber + 4]byte // scratch buffer of numbers
	prefixed       []byte                    // scratch buffer of URLs without a scheme
	spans          []span                    // the URLs of the chunk
	atom           []byte                    // scratch buffer of atoms
	joined         []byte                    // scratch buffer of words that are spelled out
	nested         *scanner                  // of readings
	count, letters int                       // the words of the chunk, and their length
	alone          bool                      // the chunk is one word, whose token says so
}

func (s *scanner) emit(k flow.Kind, value []byte, start, end int, loose bool) {
	if len(value) > 0 {
		s.each(Token{Kind: k, Value: value, Start: start, End: end, Loose: loose || s.loose})
	}
}

func (s *scanner) scan(text []byte) {
	s.text, s.busy, s.tried = text, 0, 0
	line, chunks := 0, 0 // start of the line, and the number of its chunks
	var has features     // of the line
	for i := 0; i < len(text); {
		if c := text[i]; classes[c] == white {
			i++
			if c == '\n' {
				s.line(line, i-1, chunks, has)
				line, chunks, has = i, 0, 0
			}
			continue
		}
		start := i
		var f features
		if i, f = s.chunk(i); i > start {
			chunks++
			has |= f
			if !s.words && (f != 0 || !s.alone) {
				s.atoms(start, i, f)
			}
			continue
		}
		_, size := decode(text[i:]) // white space outside ASCII
		i += size
	}
	s.line(line, len(text), chunks, has)
	s.text = nil
}

// chunk finds the words and marks from start to the next white space.
func (s *scanner) chunk(start int) (end int, f features) {
	text := s.text
	s.count, s.letters, s.alone = 0, 0, false
	i := start
	for i < len(text) {
		switch c := text[i]; classes[c] {
		case white:
			return i, f
		case mark:
			at := i
			for i++; i < len(text) && text[i] == c; i++ {
			}
			f |= featureOf[c]
			s.mark(text[at:i], at, i)
		case high:
			r, size := decode(text[i:])
			switch class := classOf(r); class {
			case blank:
				return i, f
			case delimiter, symbol:
				if f |= hasHigh; class == delimiter {
					f |= hasDelimiter
				}
				at := i
				for i += size; bytes.HasPrefix(text[i:], text[at:at+size]); i += size {
				}
				s.highMark(r, (i-at)/size, at, i)
			default:
				var more features
				i, more = s.highWord(i, i)
				f |= more
			}
		default:
			at := i
			var m, next uint8 // the classes of the word, and of the byte after it
			for ; i < len(text); i++ {
				if next = classes[text[i]]; next&alnum == 0 {
					break
				}
				m |= next
			}
			if m&digit != 0 {
				f |= hasDigit
			}
			if i-at >= shortestBase64 && m&(upper|digit) != 0 {
				f |= hasLong
			}
			s.count++
			s.letters += i - at
			if i < len(text) && next == high {
				if r, _ := decode(text[i:]); partOfWord(classOf(r)) {
					var more features
					i, more = s.highWord(at, i)
					f |= more
					continue
				}
			}
			value := text[at:i]
			if m&upper != 0 {
				value = s.lowered(value)
			} else if at == start && (next == white || i == len(text)) {
				s.alone = !s.loose
			}
			s.each(Token{Kind: flow.Text, Value: value, Start: at, End: i, Loose: s.loose, Alone: s.alone})
		}
	}
	return i, f
}

func partOfWord(c runeClass) bool { return c == letter || c == number || c == unseen }

// highWord finds the rest of a word with characters outside ASCII, from i on.
func (s *scanner) highWord(start, i int) (end int, f features) {
	text := s.text
	f = hasHigh
	ascii, odd, other := i > start, false, false
	for i < len(text) {
		c := classes[text[i]]
		if c&alnum != 0 {
			if c == digit {
				f |= hasDigit
			}
			ascii = ascii || c != digit
			i++
			continue
		}
		if c != high {
			break
		}
		r, size := decode(text[i:])
		class := classOf(r)
		if class == letter {
			if confusable(r) != 0 {
				odd, other = true, other || !alike(unicode.ToLower(r))
			} else {
				other = true
			}
		}
		if class == single && i == start {
			i += size
			break
		}
		if !partOfWord(class) {
			break
		}
		switch class {
		case number:
			f |= hasForeignDigit
		case unseen:
			f |= hasInvisible
		}
		i += size
	}
	if odd && (ascii || !other && i-start > 4) {
		f |= hasOdd
	}
	s.count++
	s.letters += i - start
	s.word = appendFolded(s.word[:0], text[start:i])
	s.each(Token{Kind: flow.Text, Value: s.word, Start: start, End: i, Loose: s.loose})
	return i, f
}

func (s *scanner) lowered(word []byte) []byte {
	s.word = append(s.word[:0], word...)
	for i, c := range s.word {
		if 'A' <= c && c <= 'Z' {
			s.word[i] = c + 'a' - 'A'
		}
	}
	return s.word
}

// longestMark is the length of a mark in its token: longer runs are equal.
const longestMark = 8

func (s *scanner) mark(run []byte, start, end int) {
	if !s.loose {
		s.each(Token{Kind: flow.Text, Mark: true, Value: run[:min(len(run), longestMark)], Start: start, End: end})
	}
}

func (s *scanner) highMark(r rune, n, start, end int) {
	if s.loose {
		return
	}
	s.word = s.word[:0]
	for range min(n, longestMark) {
		s.word = utf8.AppendRune(s.word, plainMark(r))
	}
	s.each(Token{Kind: flow.Text, Mark: true, Value: s.word, Start: start, End: end})
}
