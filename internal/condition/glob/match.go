package glob

import "unicode/utf8"

// MatchAny reports whether one of several alternatives without exceptions matches the complete
// text.
func MatchAny(lists [][]Token, text []byte) bool {
	for _, tokens := range lists {
		if Match(tokens, text) {
			return true
		}
	}
	return false
}

// Match reports whether one alternative without exceptions matches the complete text, in time
// proportional to the product of their lengths.
func Match(tokens []Token, text []byte) bool { return match(tokens, text, false) }

// match is Match; separated leaves "/" and [Root] to literals. It has to return to the last star
// only: an earlier one that takes more gives the rest less, and as many separators.
func match(tokens []Token, text []byte, separated bool) bool {
	t, i, star, mark := 0, 0, -1, 0
	for i < len(text) {
		if t < len(tokens) && tokens[t].Kind == Star {
			star, mark = t, i
			t++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if t < len(tokens) && tokens[t].takes(r) && (tokens[t].Kind == Literal || !separated || !separates(r)) {
			t, i = t+1, i+size
			continue
		}
		if star < 0 {
			return false
		}
		r, size = utf8.DecodeRune(text[mark:])
		if separated && separates(r) {
			return false
		}
		mark += size
		t, i = star+1, mark
	}
	for t < len(tokens) && tokens[t].Kind == Star {
		t++
	}
	return t == len(tokens)
}

func separates(r rune) bool { return r == '/' || r == Root }

func (t *Token) takes(r rune) bool {
	switch t.Kind {
	case Literal:
		return t.Rune == r
	case Class:
		return t.set.Contains(r)
	}
	return t.Kind == Any
}
