package symbolic

import (
	"regexp"
	"sync"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// excepted is the part of a glob that leaves names out; alone it is all of a name.
var (
	excepted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`!\([^()]*\)`) })
	alone    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|/)!\([^()]*\)`) })
)

// Guesses lists texts that may satisfy a condition with a literal, from at most most ways of
// writing it. They are candidates for an evaluator, not proofs.
func Guesses(s *condition.Spec, text string, most int) (list []string) {
	kind := s.Kind
	if kind == condition.Glob || kind == condition.Outside {
		text = excepted().ReplaceAllString(alone().ReplaceAllString(text, "${1}q7w9"), "")
	}
	written := []string{text}
	if kind == condition.Glob || kind == condition.Outside || kind == condition.Usage {
		written = syntax.Alternatives(text)
	}
	for _, one := range written[:min(most, len(written))] {
		list = append(list, guessesFor(s, one)...)
	}
	return list
}
