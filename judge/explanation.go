package judge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of an explanation.
const (
	maxExplanation = 200 // characters
	maxRead        = 4000
	// minQuote is the length in characters from which text that also occurs in the arguments counts
	// as a quotation.
	minQuote = 12
)

// describe returns an explanation for audit rows and people: one short line, without quotations
// from the arguments, which may be secret (H17, F19).
func describe(explanation, args string) string {
	if len(explanation) > maxRead {
		explanation = explanation[:maxRead]
	}
	explanation = strings.Join(strings.FieldsFunc(explanation, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == utf8.RuneError
	}), " ")
	explanation = withoutQuotes(explanation, args)
	if utf8.RuneCountInString(explanation) > maxExplanation {
		explanation = string([]rune(explanation)[:maxExplanation-1]) + "…"
	}
	return explanation
}

// withoutQuotes replaces every passage that also occurs in the arguments, in their raw or decoded
// form.
func withoutQuotes(text, args string) string {
	if len(text) < minQuote {
		return text
	}
	parts := map[string]bool{}
	for i := 0; i+minQuote <= len(text); i++ {
		parts[text[i:i+minQuote]] = false
	}
	for _, spelling := range []string{args, strings.Join(strings.Fields(unescape(args)), " ")} {
		for i := 0; i+minQuote <= len(spelling); i++ {
			if _, ok := parts[spelling[i:i+minQuote]]; ok {
				parts[spelling[i:i+minQuote]] = true
			}
		}
	}
	var out strings.Builder
	end := 0 // end of the quotation that is being skipped
	for i, r := range text {
		if i+minQuote <= len(text) && parts[text[i:i+minQuote]] {
			if i >= end {
				out.WriteString(" […] ")
			}
			end = i + minQuote
		}
		if i >= end {
			out.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// unescape decodes the strings in JSON text, approximately but well enough to find quotations.
func unescape(args string) string {
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\/`, "/").Replace(args)
}
