package naiveflow

import (
	"slices"
	"strings"
	"unicode"
)

// Secrets are the secrets of the tests.
var Secrets = []string{"sk_live_9aB3xY7qLm2Zt5Wv8Kp1", "ghp_4fT9kQ2mX7vB1nZ8cL5wR3yH6jD0"}

// secret returns whether a word looks like a secret: those of the tests do, and other long words with
// digits or capital letters may.
func secret(word string) Answer {
	switch {
	case slices.ContainsFunc(Secrets, func(s string) bool { return strings.Contains(word, s) }):
		return Yes
	case strings.ContainsFunc(word, func(r rune) bool { return unicode.IsDigit(r) || unicode.IsUpper(r) }):
		return Either
	}
	return No
}

// Carries returns whether a value has so many words of a text in a row, or a part of a secret.
func Carries(value, text string, tokens int) Answer {
	return remembered(asked{value: value, text: text, tokens: tokens}, func() Answer { return carries(value, text, tokens) })
}

func carries(value, text string, tokens int) Answer {
	values, texts := readings(value, 3), readings(text, 3)
	first := len(readings(value, 1))
	best := No
	for i, v := range values {
		for j, t := range texts {
			a := common(v, t, tokens)
			if j > 0 || i >= first {
				a = min(a, Either)
			}
			if best = max(best, a); best == Yes {
				return Yes
			}
		}
	}
	return best
}

func common(value, text string, tokens int) Answer {
	words, row := runs(value), runs(text)
	for i := 0; i+tokens <= len(words); i++ {
		if inRow(words[i:i+tokens], row) {
			return Yes
		}
	}
	best := No
	v := squeezed(value)
	for _, word := range compiled(`[A-Za-z0-9_+/=.-]{16,}`).FindAllString(text, -1) {
		s := squeezed(word)
		for i := 0; i+16 <= len(s); i++ {
			if strings.Contains(v, s[i:i+16]) {
				best = max(best, secret(word))
			}
		}
	}
	return best
}
