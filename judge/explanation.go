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
	// quoted is the length from which on text that also stands in the arguments is
	// taken for a quotation of them.
	quoted = 12
)

// describe makes an explanation fit for rows and people: one line, short, and without
// what it quotes of the arguments, which may be a secret (THREATS H17, F19).
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

// withoutQuotes replaces every stretch that also stands in the arguments, as they are
// written or as they read.
func withoutQuotes(text, args string) string {
	if len(text) < quoted {
		return text
	}
	parts := map[string]bool{}
	for i := 0; i+quoted <= len(text); i++ {
		parts[text[i:i+quoted]] = false
	}
	for _, spelling := range []string{args, strings.Join(strings.Fields(unescape(args)), " ")} {
		for i := 0; i+quoted <= len(spelling); i++ {
			if _, ok := parts[spelling[i:i+quoted]]; ok {
				parts[spelling[i:i+quoted]] = true
			}
		}
	}
	var out strings.Builder
	end := 0 // of the quotation that is being skipped
	for i, r := range text {
		if i+quoted <= len(text) && parts[text[i:i+quoted]] {
			if i >= end {
				out.WriteString(" […] ")
			}
			end = i + quoted
		}
		if i >= end {
			out.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// unescape reads a JSON text as its strings read, near enough to find quotations.
func unescape(args string) string {
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\/`, "/").Replace(args)
}
