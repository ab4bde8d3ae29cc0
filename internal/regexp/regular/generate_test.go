package regular_test

import (
	"strings"

	"pgregory.net/rapid"
)

// patterns generates patterns: mostly valid ones of the subset that is run, some
// with a part that is invalid, or valid and not run.
func patterns() *rapid.Generator[string] {
	atoms := rapid.SampledFrom([]string{
		"a", "b", "ab", "é", "\U0001F600", "-", " ", ".", `\d`, `\D`, `\w`, `\W`, `\s`, `\S`, `\n`, `\x41`, `\u0062`, `\u{1F600}`,
		`\ud83d\ude00`, `\ud83d`, `\.`, `\/`, `\cJ`, `\0`, `\p{L}`, `\P{Lu}`, `\p{Script=Latin}`, "[ab]", "[^a]", "[]", "[^]", `[\d-]`,
		`[^\w\n]`, `[a-c\u{1F600}]`, `[\b\-]`, `[\P{L}_]`,
	})
	odd := rapid.SampledFrom([]string{
		`\1`, `\k<n>`, "(?i:a)", "*", "{", "]", ")", "(", "[b-a]", `\a`, `\01`, `[\w-a]`, "(?<n>a)(?<n>b)",
		`\u{110000}`, "(?", `\p{Foo}`, "a{2,1}", "a**",
	})
	assertion := rapid.SampledFrom([]string{"^", "$", `\b`, `\B`})
	quantifier := rapid.SampledFrom([]string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,}", "{0,2}", "{1,3}?"})
	var disjunction func(t *rapid.T, depth int) string
	disjunction = func(t *rapid.T, depth int) string {
		var b strings.Builder
		for i := range rapid.IntRange(1, 3).Draw(t, "alternatives") {
			if i > 0 {
				b.WriteByte('|')
			}
			for range rapid.IntRange(0, 4).Draw(t, "terms") {
				what := rapid.IntRange(0, 19).Draw(t, "term")
				switch {
				case what < 3:
					b.WriteString(assertion.Draw(t, "assertion"))
					continue
				case what == 3 && rapid.IntRange(0, 5).Draw(t, "odd") == 0:
					b.WriteString(odd.Draw(t, "odd part"))
					continue
				case what < 8 && depth < 3:
					open := rapid.SampledFrom([]string{"(?:", "(", "(?:", "(?=", "(?!", "(?<=", "(?<!"}).Draw(t, "group")
					b.WriteString(open)
					b.WriteString(disjunction(t, depth+1))
					b.WriteByte(')')
					if strings.ContainsAny(open, "=!") {
						continue
					}
				default:
					b.WriteString(atoms.Draw(t, "atom"))
				}
				if rapid.IntRange(0, 2).Draw(t, "quantified") == 0 {
					b.WriteString(quantifier.Draw(t, "quantifier"))
				}
			}
		}
		return b.String()
	}
	return rapid.Custom(func(t *rapid.T) string { return disjunction(t, 0) })
}

// texts generates short texts over the characters that the patterns speak of.
func texts() *rapid.Generator[string] {
	char := rapid.SampledFrom([]string{
		"a", "b", "c", "A", "é", "ÿ", "\U0001F600", "\U0001F601", "-", "_", " ", "\n", "\r", "\u2028", "\u00a0", "\ufeff", "\u0085", "0", "7",
		"\u0660", ".", "/", "\x00", "\b", "\u017f", "Ω", "\u0301",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(char, 0, 6).Draw(t, "characters"), "")
	})
}
