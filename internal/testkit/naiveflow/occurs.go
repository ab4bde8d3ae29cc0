package naiveflow

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/flow"
)

// Answer is whether a text plainly has a value.
type Answer int

// The answers.
const (
	No Answer = iota
	Either
	Yes
)

// Occurs returns whether a text plainly has a value.
func Occurs(kind flow.Kind, value, text string) Answer {
	value = strings.TrimSpace(value)
	if value == "" || !drawn(value) {
		return No
	}
	text = norm.NFKC.String(text)
	if kind == flow.Text {
		return sequence(value, text)
	}
	best := No
	for _, want := range spellings(kind, value) {
		if want.kind == flow.ID && strings.ContainsFunc(want.text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"`()[]{}<>,;|", r) }) {
			best = max(best, apart(want.text, text))
			continue
		}
		for i := range text {
			if unicode.IsSpace(after(text, i)) {
				continue
			}
			for j := i + 1; j <= len(text); j++ {
				if j < len(text) && !utf8.RuneStart(text[j]) {
					continue
				}
				if !bounded(kind, text, i, j) {
					continue
				}
				if want.kind == flow.ID && j-i != len(want.text) || (want.kind == flow.Host || want.kind == flow.URL) && !strings.Contains(text[i:j], ".") {
					continue
				}
				if got, ok := canonical(want.kind, text[i:j]); ok && got == want.text {
					best = max(best, around(want.kind, text, i, j))
				}
			}
		}
	}
	if kind == flow.Path && (value[0] == '@' || strings.HasSuffix(value, ":")) {
		return min(best, Either) // a file that is mentioned, or a name with that character
	}
	if kind == flow.Phone && strings.HasSuffix(value, ")") {
		return min(best, Either) // the parenthesis of the sentence
	}
	if kind == flow.URL && strings.ContainsAny(value[len(value)-1:], ".,;:!?'") {
		return min(best, Either) // the end of a sentence, or of the URL
	}
	return best
}

// apart searches an id of several words: it is a line, or in quotes.
func apart(id, text string) Answer {
	if len(id) > 48 || len(strings.Fields(id)) > 4 {
		return No
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == id {
			return Yes
		}
		for _, m := range compiled("[\"`]([^\"`]*)[\"`]").FindAllStringSubmatch(line, -1) {
			if strings.TrimSpace(m[1]) == id {
				return Yes
			}
		}
	}
	if strings.Contains(text, id) && strings.ContainsAny(text, "\"`") {
		return Either
	}
	return No
}

// drawn reports whether all characters of a value are their own compatibility form, and visible.
func drawn(value string) bool {
	return norm.NFKC.String(value) == value && !strings.ContainsFunc(value, func(r rune) bool {
		return r == utf8.RuneError || !unicode.IsSpace(r) && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point))
	})
}

// sequence compares words and punctuation.
func sequence(value, text string) Answer {
	want, row := words(value), words(text)
	for i := 0; i+len(want) <= len(row) && len(want) > 0; i++ {
		if strings.Join(row[i:i+len(want)], "\n") == strings.Join(want, "\n") {
			return Yes
		}
	}
	return No
}

// words splits a text at white space and around punctuation, of which equal characters are one word.
func words(text string) (out []string) {
	fold := func(s string) string { return norm.NFKC.String(cases.Fold().String(s)) }
	last := "" // the kind of the last character
	for _, r := range text {
		c := string(r)
		class := "word"
		switch {
		case unicode.IsSpace(r):
			last = ""
			continue
		case unicode.In(r, unspaced...) && unicode.IsLetter(r):
			out = append(out, c)
			last = ""
			continue
		case isMark(r):
			class = c
			switch r {
			case '‘', '’':
				c = "'"
			case '“', '”':
				c = `"`
			case '–', '—', '−':
				c = "-"
			}
		}
		if class == last {
			out[len(out)-1] += c
		} else {
			out = append(out, c)
		}
		last = class
	}
	for i, w := range out {
		if r, _ := utf8.DecodeRuneInString(w); isMark(r) {
			out[i] = string([]rune(w)[:min(8, utf8.RuneCountInString(w))])
			continue
		}
		out[i] = fold(w)
	}
	return out
}

// isMark reports whether a character is neither a part of a word nor invisible.
func isMark(r rune) bool {
	if r < ' ' || r == 0x7F {
		return true
	}
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r) && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) && r != utf8.RuneError
}

// before and after return the characters around a part of a text, a space at its ends.
func before(text string, i int) rune {
	if i == 0 {
		return ' '
	}
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return r
}

func after(text string, j int) rune {
	if j == len(text) {
		return ' '
	}
	r, _ := utf8.DecodeRuneInString(text[j:])
	return r
}

func wordly(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !unicode.In(r, unspaced...)
}

var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai}

// bounded reports whether a part of a text begins and ends where a token of the kind can.
func bounded(kind flow.Kind, text string, i, j int) bool {
	b, a := before(text, i), after(text, j)
	if unicode.IsSpace(before(text, j)) {
		return false
	}
	switch kind {
	case flow.Number, flow.Money:
		before := !wordly(b) || strings.HasSuffix(text[:i], "EUR") || strings.HasSuffix(text[:i], "USD") || strings.HasSuffix(text[:i], "CHF")
		after := !wordly(a) || strings.HasPrefix(text[j:], "EUR") || strings.HasPrefix(text[j:], "USD") || strings.HasPrefix(text[j:], "CHF") || strings.HasPrefix(text[j:], "euros")
		return before && after
	case flow.Date, flow.Phone, flow.IBAN:
		return !wordly(b) && (!wordly(a) || kind == flow.Date && a == 'T')
	}
	if kind == flow.Path && strings.ContainsFunc(text[i:j], unicode.IsSpace) {
		return false
	}
	return (!wordly(b) || strings.HasPrefix(text[i:], "*")) && (!wordly(a) || kind == flow.Path)
}

// around returns how sure it is that a token ends where a part of a text ends.
func around(kind flow.Kind, text string, i, j int) Answer {
	b, a := before(text, i), after(text, j)
	quiet := unicode.IsSpace(b) && (unicode.IsSpace(a) || (a == '!' || a == '?') && unicode.IsSpace(after(text, j+1)))
	switch kind {
	case flow.Number, flow.Money, flow.Date, flow.Phone, flow.IBAN:
		switch {
		case strings.ContainsRune("-/+_\\@#&.", b), strings.ContainsRune("-/+_\\@#&", a), strings.ContainsRune(".,:'", a) && unicode.IsDigit(after(text, j+1)):
			return No
		case quiet && alone(text, i, j) && !match(cents, text[i:j]):
			return Yes
		}
		return Either
	}
	switch part := text[i:j]; {
	case kind == flow.ID && (part[0] == '*' || strings.ContainsAny(part[len(part)-1:], ".:!?*")):
		return Either
	case (kind == flow.Host || kind == flow.URL) && !strings.Contains(part, "://") && match(`\.(md|b)\b`, part):
		return Either
	case kind == flow.Path && strings.ContainsAny(part, "\"`()[]{}<>,;|"):
		return Either
	case quiet:
		return Yes
	}
	if forbidden(kind, b, a, text, j) {
		return No
	}
	return Either
}

// alone reports whether the words around a part of a text have no digits and are no currency.
func alone(text string, i, j int) bool {
	plain := func(s string) bool {
		return s == "" || s == "pay" || s == "see" || s == "the" || s == "order"
	}
	l, r := strings.Fields(text[:i]), strings.Fields(strings.TrimLeft(text[j:], "!?"))
	return (len(l) == 0 || plain(l[len(l)-1])) && (len(r) == 0 || plain(r[0]))
}

// forbidden reports whether the characters around a part of a text make it a part of another token.
func forbidden(kind flow.Kind, b, a rune, text string, j int) bool {
	inner := func(r rune) bool { return wordly(r) || strings.ContainsRune("_-/\\@%+#", r) }
	switch kind {
	case flow.Email:
		return strings.ContainsRune("./\\@%+-_&#", b) || strings.ContainsRune("/\\@%_=&#+$", a) || strings.ContainsRune(".-:", a) && wordly(after(text, j+1))
	case flow.Host, flow.URL:
		return strings.ContainsRune(".\\@%_&?", b) || strings.ContainsRune("@%_", a) || strings.ContainsRune(".-", a) && wordly(after(text, j+1))
	case flow.ID:
		return inner(b) || b == '.' || inner(a) || strings.ContainsRune(".:", a) && wordly(after(text, j+1))
	}
	return false
}
