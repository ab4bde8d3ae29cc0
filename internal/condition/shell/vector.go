package shell

import (
	"unicode/utf8"
)

// ReadWords parses an argument vector: the words of one command, which no shell reads, so without
// operators and expansions. Commands that it runs are unwrapped as in a line, so that the
// text after sh -c is a command line. complete is false for a value that only resembles a vector:
// then other words may follow, and the line is not plain.
func (l *Line) ReadWords(words [][]byte, complete bool) {
	l.Commands, l.words, l.redirects, l.text = l.Commands[:0], l.words[:0], l.redirects[:0], l.text[:0]
	l.Plain, l.Complete, l.Excess, l.nested, l.unrolled = true, complete, false, 0, 0
	plain := complete && len(words) > 0 && len(words[0]) > 0
	for i, text := range words {
		plain = plain && shown(text)
		l.words = append(l.words, Word{Text: text, Literal: true, Quoted: quoted(text, i == 0)})
	}
	if len(words) > 0 {
		l.add(l.words[:len(words):len(words)], nil, parent{index: -1}, plain)
	}
	l.unwrapAll(0, 0)
	l.finish()
}

// shown reports whether a text has no invisible characters, except those that separate lines and
// columns.
func shown(text []byte) bool {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\n' || c == '\t' || c >= ' ' && c < 0x7f:
			i++
		case c < utf8.RuneSelf:
			return false
		default:
			size := visible(text[i:])
			if size == 0 {
				return false
			}
			i += size
		}
	}
	return true
}

// quoted reports whether a word has to be quoted in a command line.
func quoted(text []byte, program bool) bool {
	for _, c := range text {
		if !PlainBytes[c] {
			return true
		}
	}
	return len(text) == 0 || text[0] == '=' || program && !commandWord(Word{Text: text})
}

// AppendWords appends a command line that a shell reads as these words.
func AppendWords(dst []byte, words [][]byte) []byte {
	for i, text := range words {
		if i > 0 {
			dst = append(dst, ' ')
		}
		if !quoted(text, i == 0) {
			dst = append(dst, text...)
			continue
		}
		dst = append(dst, '\'')
		for _, c := range text {
			if c == '\'' {
				dst = append(dst, `'\'`...)
			}
			dst = append(dst, c)
		}
		dst = append(dst, '\'')
	}
	return dst
}
