package source

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/jsonstream"
)

// Lines of results and of arguments are kept as marks, so that a message that repeats them is told
// apart from the words of a person. A line that a person wrote first stays the person's.

// The least that a line needs to be recognised: shorter ones are repeated by accident.
const (
	minLine      = 32
	minLineWords = 6
	minMember    = 12 // of a line that is a member of an object
)

// line returns a line as it is compared: without marks of quotes, its white space collapsed.
func line(text []byte) []byte { return appendLine(make([]byte, 0, len(text)), text) }

// appendLine appends a line as it is compared.
func appendLine(dst, text []byte) []byte {
	return appendWords(dst, len(dst), bytes.TrimLeft(text, "> \t|"))
}

// appendWords appends the words of a text to those that dst has from begin on, with one space between
// them. It copies words that have one space between them at once.
func appendWords(dst []byte, begin int, text []byte) []byte {
	for i := 0; ; {
		for n := 1; i < len(text) && n > 0; i += n {
			n = spaceAt(text, i)
		}
		if i == len(text) {
			return dst
		}
		start := i
		i = wordsEnd(text, i)
		if len(dst) > begin {
			dst = append(dst, ' ')
		}
		dst = append(dst, text[start:i]...)
	}
}

// isQuoted reports whether a line begins with a mark of a quote.
func isQuoted(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' {
			return c == '>' || c == '|'
		}
	}
	return false
}

// wordsEnd returns the end of words that have one space between them, of which the first begins at i.
func wordsEnd(text []byte, i int) int {
	for ; i < len(text); i++ {
		if c := text[i]; isSpace[c] {
			if c != ' ' || i+1 == len(text) || spaceAt(text, i+1) > 0 {
				return i
			}
		} else if c >= utf8.RuneSelf && spaceAt(text, i) > 0 {
			return i
		}
	}
	return i
}

// isSpace are the bytes that are white space.
var isSpace = [256]bool{' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true}

// spaceAt returns the length of the white space character at i, 0 for another character.
func spaceAt(text []byte, i int) int {
	if c := text[i]; c < utf8.RuneSelf {
		if isSpace[c] {
			return 1
		}
		return 0
	}
	if r, size := utf8.DecodeRune(text[i:]); unicode.IsSpace(r) {
		return size
	}
	return 0
}

// recognisable reports whether a line is long enough, or so structured, that repeating it is no
// accident.
func recognisable(l []byte) bool {
	if len(l) >= minLine && bytes.Count(l, []byte(" ")) >= minLineWords-1 {
		return true
	}
	if len(l) < minMember {
		return false
	}
	for at := 0; ; at++ { // a colon after a quote
		n := bytes.IndexByte(l[at:], ':')
		if n < 0 {
			return false
		}
		if at += n; at > 0 && (l[at-1] == '"' || l[at-1] == '\'') {
			return true
		}
	}
}

// lineMarks returns the marks of the lines of a text, without those that a person wrote before.
func lineMarks(text []byte, kind byte, ix texts) (marks [][]byte) {
	for l := range bytes.Lines(text) {
		if l = line(l); recognisable(l) && !ix.Has(mark(markPersonLine, l)) {
			marks = append(marks, mark(kind, l))
		}
	}
	return marks
}

// personMarks returns the marks of the words of a person: each line, and all.
func personMarks(text []byte) (marks [][]byte) {
	marks = append(marks, mark(markPersonLine, line(text)))
	for l := range bytes.Lines(text) {
		if l = line(l); recognisable(l) {
			marks = append(marks, mark(markPersonLine, l))
		}
	}
	return marks
}

// minArgument is the shortest argument that makes an equal message one of a model.
const minArgument = 3

// argumentMark returns the mark of a whole argument or a whole message, nil if it is too short.
func argumentMark(text []byte) []byte {
	if text = line(text); len(text) >= minArgument {
		return mark(markArgument, text)
	}
	return nil
}

// withoutRepeated divides a part of a user message into runs of lines that are the person's, and
// lines that a result or an argument had before.
func withoutRepeated(text []byte, ix texts) (own, repeated [][]byte) {
	start, end := 0, 0
	flush := func(next int) {
		if end > start {
			own = append(own, text[start:end])
		}
		start, end = next, next
	}
	at := 0
	for raw := range bytes.Lines(text) {
		next := at + len(raw)
		l := line(raw)
		if recognisable(l) && (ix.Has(mark(markResultLine, l)) || ix.Has(mark(markArgumentLine, l))) {
			flush(next)
			repeated = append(repeated, raw)
		} else {
			end = next
		}
		at = next
	}
	flush(at)
	return own, repeated
}

// argumentTexts returns the texts in the arguments of a call, for the echo in its result. They are
// not known if the arguments do not parse or have too many.
func argumentTexts(args []byte) (texts [][]byte, known bool) {
	const maxTexts = 10_000
	if len(args) == 0 {
		return nil, true
	}
	root, err := jsonstream.Parse(args, options)
	if err != nil {
		return nil, false
	}
	leaves(root, func(leaf jsonstream.Value) { texts = append(texts, textOf(leaf)) })
	dataKeys(root, true, func(key []byte) { texts = append(texts, key) })
	if len(texts) > maxTexts {
		return nil, false
	}
	return texts, true
}
