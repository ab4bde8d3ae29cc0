package policy

import (
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/policy/analysis"
	"github.com/stopgate/stopgate/policy/match"
)

// samples lists some strings that satisfy a condition.
func (k *checkedCondition) samples() []string {
	var samples []string
	for _, lit := range k.Spec.Values[:min(len(k.Spec.Values), 8)] {
		for _, text := range guesses(k.Spec.Kind, lit.Text) {
			if k.holds(analysis.Value{Kind: analysis.Text, Text: text}) {
				samples = append(samples, text)
			}
		}
	}
	return samples
}

// guesses lists texts that may satisfy a matcher with this literal.
func guesses(kind match.Kind, text string) []string {
	switch kind {
	case match.Const, match.Enum:
		return []string{text}
	case match.Prefix:
		text = strings.TrimRight(text, "/")
		return []string{text, text + "x", text + "/x", text + "/q7/w9.z", text + " x"}
	case match.Suffix:
		return []string{text, "q7" + text, "q7/w9" + text}
	case match.Host:
		host := strings.TrimSuffix(strings.Replace(text, "*.", "x.", 1), ":*")
		return []string{"https://" + host, "http://" + host + "/x"}
	case match.Scheme:
		return []string{text + "://example.com/", text + ":x"}
	case match.Glob:
		var list []string
		for _, glob := range alternatives(text)[:1] {
			for _, filler := range []string{"x", "q7w9"} {
				sample := strings.NewReplacer("**", filler, "*", filler, "?", "x").Replace(glob)
				list = append(list, sample, strings.NewReplacer("**/", "", "*", filler, "?", "x").Replace(glob))
			}
		}
		return list
	case match.Pattern:
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
	case match.MaxLength:
		if n, err := strconv.Atoi(text); err == nil && n <= 4096 {
			return []string{strings.Repeat("q", n), strings.Repeat("7", n)}
		}
	}
	return nil
}
