package jsonstream_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// lenient is a reader as some tools have it: it accepts comments, trailing commas, single quotes,
// unquoted keys, and uses the first or the last of repeated keys. It is for I8: its value of a
// canonical text must be the judged value.
type lenient struct {
	text      string
	firstWins bool
}

// readLenient reads a complete text. Numbers stay literals.
func readLenient(text string, firstWins bool) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("lenient reader: %v", r)
		}
	}()
	l := &lenient{text: text, firstWins: firstWins}
	return l.value(), nil
}

func (l *lenient) space() {
	for {
		l.text = strings.TrimLeft(l.text, " \t\r\n\ufeff")
		switch {
		case strings.HasPrefix(l.text, "//"):
			_, l.text, _ = strings.Cut(l.text, "\n")
		case strings.HasPrefix(l.text, "/*"):
			_, l.text, _ = strings.Cut(l.text, "*/")
		default:
			return
		}
	}
}

func (l *lenient) take(prefix string) bool {
	l.space()
	rest, ok := strings.CutPrefix(l.text, prefix)
	l.text = rest
	return ok
}

func (l *lenient) value() any {
	switch {
	case l.take("{"):
		m := map[string]any{}
		for !l.take("}") {
			key := l.key()
			if !l.take(":") {
				panic("no colon")
			}
			v := l.value()
			if _, there := m[key]; !there || !l.firstWins {
				m[key] = v
			}
			l.take(",")
		}
		return m
	case l.take("["):
		list := []any{}
		for !l.take("]") {
			list = append(list, l.value())
			l.take(",")
		}
		return list
	case l.text[0] == '"' || l.text[0] == '\'':
		return l.key()
	}
	switch word := l.word(); word {
	case "true", "false":
		return word == "true"
	case "null":
		return nil
	default:
		return json.Number(word)
	}
}

// key reads a string, or an unquoted word.
func (l *lenient) key() string {
	l.space()
	quote := l.text[0]
	if quote != '"' && quote != '\'' {
		return l.word()
	}
	var b strings.Builder
	l.text = l.text[1:]
	for l.text[0] != quote {
		if l.text[0] != '\\' {
			r, n := utf8.DecodeRuneInString(l.text)
			b.WriteRune(r)
			l.text = l.text[n:]
			continue
		}
		// Canonical text has only these escapes.
		var r rune
		n := 2
		switch c := l.text[1]; c {
		case 'u':
			fmt.Sscanf(l.text[2:6], "%04x", &r)
			n = 6
		default:
			r = rune(c)
			if i := strings.IndexByte("bfnrt", c); i >= 0 {
				r = rune("\b\f\n\r\t"[i])
			}
		}
		b.WriteRune(r)
		l.text = l.text[n:]
	}
	l.text = l.text[1:]
	return b.String()
}

func (l *lenient) word() string {
	n := strings.IndexAny(l.text, ",:]}[{\"' \t\r\n")
	if n < 0 {
		n = len(l.text)
	}
	if n == 0 {
		panic("no word")
	}
	word := l.text[:n]
	l.text = l.text[n:]
	return word
}
