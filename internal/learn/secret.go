package learn

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/jsonstream"
)

// secretWords are words of the names of parameters whose values are secrets, keys those of which a key is one.
var (
	secretWords = strings.Fields("authorization cookie credential credentials otp pass passphrase passwd password passwords pin pwd secret secrets token tokens")
	keys        = strings.Fields("access api auth encryption private secret session signing")
)

func secretName(name string) bool {
	words := wordsOf(name)
	for i, word := range words {
		if slices.Contains(secretWords, word) || word == "apikey" || word == "key" && i > 0 && slices.Contains(keys, words[i-1]) {
			return true
		}
	}
	return false
}

// secretText is a text with the value of a secret: an option or a variable for one, a user with a password in
// a URL, a header, or a long word of mixed letters and digits.
var secretText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(--?[a-z-]*(pass(word|wd|phrase)?|secret|token|api-?key|credential)s?([ =]|$))|([A-Z_]*(PASSWORD|SECRET|TOKEN|API_?KEY)=)|(://[^/@ ]+@)|\b(authorization|bearer|x-api-key)\b`)
})

// randomWord are words that may be keys: long, and with digits between letters.
var randomWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9+=_-]{28,}`) })

// secret reports whether arguments may hold a secret.
func secret(args []byte) bool {
	root, err := jsonstream.Parse(args, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	return err != nil || holdsSecret("", root)
}

func holdsSecret(name string, v jsonstream.Value) bool {
	switch v.Kind() {
	case jsonstream.Object:
		for key, member := range v.Members() {
			if holdsSecret(key.Text(), member) {
				return true
			}
		}
	case jsonstream.Array:
		for element := range v.Elements() {
			if holdsSecret(name, element) {
				return true
			}
		}
	case jsonstream.String:
		text := v.Text()
		if len(text) > maxValue || strings.Contains(text, "\n") {
			return false // content, which no rule spells out
		}
		return secretName(name) || secretText().MatchString(text) || random(text)
	}
	return false
}

// random reports whether a text has a word like a key: digits change with letters four times.
func random(text string) bool {
	for _, word := range randomWord().FindAllString(text, -1) {
		changes := 0
		for i := 1; i < len(word); i++ {
			if digit(word[i]) != digit(word[i-1]) {
				changes++
			}
		}
		if changes >= 4 {
			return true
		}
	}
	return false
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
