package kinds_test

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/stopgate/stopgate/internal/condition"
)

// oracleHost parses a URL with Go's parser.
func oracleHost(value string) (host string, ok bool) {
	u, err := url.Parse(value)
	if err != nil || u.User != nil {
		return "", false
	}
	return strings.ToLower(u.Hostname()), true
}

// naiveString evaluates a string by the definitions, without an automaton.
func naiveString(k condition.Kind, literals []string, polarity bool, value string) bool {
	texts := []string{value}
	if polarity == restrictive {
		stripped := strings.Map(func(r rune) rune {
			switch {
			case r == 0xAD, r == 0x180E, r == 0xFEFF, 0x200B <= r && r <= 0x200F, 0x202A <= r && r <= 0x202E,
				0x2060 <= r && r <= 0x2064, 0x2066 <= r && r <= 0x2069:
				return -1
			}
			return r
		}, value)
		texts = append(texts, stripped, strings.TrimFunc(stripped, unicode.IsSpace))
	}
	for _, text := range texts {
		for _, literal := range literals {
			hit := false
			switch k {
			case condition.Const, condition.Enum:
				hit = text == literal
			case condition.Prefix:
				hit = strings.HasPrefix(text, literal)
			case condition.Suffix:
				hit = strings.HasSuffix(text, literal)
			case condition.Glob:
				hit = doublestar.MatchUnvalidated(literal, text)
			}
			if hit {
				return true
			}
		}
	}
	return false
}
