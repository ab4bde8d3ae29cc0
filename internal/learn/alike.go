package learn

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// wordLike are letters, digits and "_", with single separators inside.
var wordLike = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_]+(?:[-./:+][A-Za-z0-9_]+)*$`) })

// maxWord is the longest word that a generalised rule permits, in characters.
const maxWord = 64

// alike returns the condition that a value is one like these: a word with the separators that the approved
// ones have, or a number from 0. A word never begins with a dash, a slash or a dot, and has no two
// separators in a row, so that no option, no absolute path and no ".." is one.
func alike(arg string, values []value) (term, bool) {
	if !slices.ContainsFunc(values, func(v value) bool { return v.is != jsonstream.Number || strings.HasPrefix(v.json, "-") }) {
		return term{arg: arg, condition: "minimum = 0", sentence: "any number in " + arg}, true
	}
	found, ok := separators(values)
	if !ok {
		return term{}, false
	}
	return term{arg: arg, condition: "pattern = " + tomltree.Quote("^"+wordPattern(found)+"$"), sentence: fmt.Sprintf("any word%s in %s", with(found), arg)}, true
}

// separators returns the separators of words, false if one of the values is none.
func separators(values []value) (found string, ok bool) {
	for _, v := range values {
		if v.is != jsonstream.String || !wordLike().MatchString(v.text) || len(v.text) > maxWord || address(v.text) {
			return "", false
		}
		for _, c := range v.text {
			if strings.ContainsRune("-./:+", c) && !strings.ContainsRune(found, c) {
				found += string(c)
			}
		}
	}
	return found, true
}

// wordPattern is the pattern of words with separators.
func wordPattern(separators string) string {
	class := ""
	for _, c := range "./:+-" { // the dash comes last
		if strings.ContainsRune(separators, c) {
			class += regexp.QuoteMeta(string(c))
		}
	}
	if class == "" {
		return fmt.Sprintf("[A-Za-z0-9_]{1,%d}", maxWord)
	}
	return fmt.Sprintf("[A-Za-z0-9_]{1,%d}(?:[%s][A-Za-z0-9_]{1,%d}){0,8}", maxWord, class, maxWord)
}

func with(separators string) string {
	if separators == "" {
		return ""
	}
	return " with " + strings.Join(strings.Split(separators, ""), " ")
}
