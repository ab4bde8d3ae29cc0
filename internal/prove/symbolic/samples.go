package symbolic

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/analysis"
)

// samples lists some strings that satisfy a condition.
func (k *Condition) samples() []string {
	var samples []string
	for _, lit := range k.Spec.Values[:min(len(k.Spec.Values), 8)] {
		texts := guessesFor(&k.Spec, lit.Text)
		if k.IsCommand() {
			texts = slices.Concat(texts, k.redirected(texts))
		}
		for _, text := range texts {
			if k.holds(analysis.Value{Kind: analysis.Text, Text: text}) {
				samples = append(samples, text)
			}
		}
	}
	return samples
}

// redirected lists commands with redirections of which another condition of the rule
// judges the target, or that only a suspicious condition looks at.
func (k *Condition) redirected(commands []string) []string {
	var list []string
	for _, other := range k.Rule.Conditions {
		operator := " < "
		switch {
		case other.Arg.String() != k.Arg.String():
			continue
		case other.Spec.Kind == condition.Writes:
			operator = " > "
		case other.Spec.Kind != condition.Reads:
			continue
		}
		for _, path := range guesses(condition.Glob, other.Spec.Values[0].Text) {
			for _, command := range commands {
				list = append(list, command+operator+path)
			}
		}
	}
	if !k.Rule.Mode.Permissive() {
		for _, command := range commands {
			list = append(list, command+" > q7")
		}
	}
	return list
}

// follows writes commands that follow a usage: with none of its options.
func follows(usage string) []string {
	var words []string
	depth := 0
	for _, word := range strings.Fields(usage) {
		opens := strings.HasPrefix(word, "[") && !strings.HasPrefix(word, "[!")
		depth += strings.Count(word, "[") - strings.Count(word, "]")
		if !opens && depth == 0 && !strings.HasSuffix(word, "]") {
			words = append(words, word)
		}
	}
	write := func(several string) string {
		var out []string
		for _, word := range words {
			switch word {
			case "**":
				word = several
			case "<command>":
				word = "true"
			case "<script>":
				word = "p"
			case "<local>":
				word = "http://localhost:8080/"
			case "<system>":
				word = "/"
			default:
				word = strings.NewReplacer("*", "x", "?", "x").Replace(syntax.Alternatives(word)[0])
			}
			if word != "" {
				out = append(out, word)
			}
		}
		return strings.Join(out, " ")
	}
	return slices.Compact([]string{write(""), write("x"), write("q7/w9")})
}

// guessesFor lists texts that may satisfy a condition with this literal: those of its definition,
// if it has any.
func guessesFor(s *condition.Spec, text string) []string {
	if samples := s.Row().Samples; samples != nil {
		return samples(text)
	}
	return guesses(s.Kind, text)
}

// guesses lists texts that may satisfy a condition of a kind that this package knows.
func guesses(kind condition.Kind, text string) []string {
	switch kind {
	case condition.Const, condition.Enum:
		return []string{text}
	case condition.Prefix:
		text = strings.TrimRight(text, "/")
		return []string{text, text + "x", text + "/x", text + "/q7/w9.z", text + " x"}
	case condition.Suffix:
		return []string{text, "q7" + text, "q7/w9" + text}
	case condition.Usage:
		return follows(text)
	case condition.Reads, condition.Writes:
		var list []string
		for _, path := range guesses(condition.Glob, text) {
			list = append(list, "cat "+path, "tee "+path, "x > "+path, "x < "+path)
		}
		return list
	case condition.Glob, condition.Outside: // paths inside, of which the other values leave some out
		var list []string
		for _, glob := range syntax.Alternatives(unexcepted(text))[:1] {
			for _, filler := range []string{"x", "q7w9"} {
				sample := strings.NewReplacer("**", filler, "*", filler, "?", "x").Replace(glob)
				list = append(list, sample, strings.NewReplacer("**/", "", "*", filler, "?", "x").Replace(glob))
			}
		}
		return list
	case condition.Pattern:
		var list []string
		for _, part := range strings.Split(text, "|") {
			list = append(list, strings.Map(func(r rune) rune {
				if strings.ContainsRune("^$()?:*+", r) {
					return -1
				}
				return r
			}, part))
		}
		return list[:min(len(list), 8)]
	case condition.MaxLength:
		if n, err := strconv.Atoi(text); err == nil && n <= 4096 {
			return []string{strings.Repeat("q", n), strings.Repeat("7", n)}
		}
	}
	return nil
}

// unexcepted writes a glob with wildcards in place of its exceptions: "*.pem" for
// "!(ca|cert).pem".
func unexcepted(glob string) string {
	for {
		before, rest, ok := strings.Cut(glob, "!(")
		if !ok {
			return glob
		}
		_, after, _ := strings.Cut(rest, ")")
		glob = before + "*" + after
	}
}
