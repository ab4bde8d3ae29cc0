package regular_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// matching lists patterns with texts they match and texts they do not. The
// answers are those of ECMA-262 section 22.2 with the flag u, worked out by hand.
var matching = []struct {
	name, pattern string
	yes, no       []string
}{
	{"empty pattern", "", []string{"", "a"}, nil},
	{"search is not anchored", "b", []string{"b", "abc"}, []string{"", "ac"}},
	{"alternatives", "^(?:ab|c|)$", []string{"ab", "c", ""}, []string{"a", "abc"}},
	{"start and end are those of the text", "^a$", []string{"a"}, []string{"a\n", "\na", "a\nb", "b\na"}},
	{"assertions in the middle", "a^b|c$d", nil, []string{"ab", "a\nb", "cd", "c\nd"}},
	{"dot is anything but a line end", "^.$", []string{"a", "\t", "é", "\U0001F600", "\u0085", "\v", "\x00"},
		[]string{"\n", "\r", "\u2028", "\u2029", "", "ab"}},
	{"a character is a code point", "^.{2}$", []string{"\U0001F600\U0001F600", "ab"}, []string{"\U0001F600", "e\u0301e"}},
	{"a combining character is one of its own", "^..$", []string{"e\u0301"}, []string{"\u00e9"}},
	{"digits are ASCII", `^\d$`, []string{"0", "9"}, []string{"\u0660", "\uff11", "a", ""}},
	{"no digit", `^\D$`, []string{"a", "\u0660", "\n"}, []string{"0", "9"}},
	{"words are ASCII", `^\w$`, []string{"a", "Z", "0", "_"}, []string{"é", "-", "\u017f", "\u212a"}},
	{"no word", `^\W$`, []string{"é", "-", "\u017f", "\n"}, []string{"a", "_", "5"}},
	{"D4: white space is ECMAScript's", `^\s$`,
		[]string{" ", "\t", "\n", "\v", "\f", "\r", "\u00a0", "\ufeff", "\u1680", "\u2003", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"},
		[]string{"\u0085", "\u200b", "\u180e", "a", ""}},
	{"no white space", `^\S$`, []string{"\u0085", "\u200b", "a"}, []string{"\u00a0", "\ufeff", "\v"}},
	{"boundaries are those of ASCII words", `\bé`, []string{"aé"}, []string{"é", " é"}},
	{"boundary", `\bfoo\b`, []string{"foo", "a foo.", "éfoo"}, []string{"foobar", "afoo"}},
	{"no boundary", `\Boo\B`, []string{"foot"}, []string{"foo", "oot"}},
	{"control escapes", `^\t\n\v\f\r\0$`, []string{"\t\n\v\f\r\x00"}, []string{"tnvfr0"}},
	{"control letters", `^\cA\cz$`, []string{"\x01\x1a"}, []string{"\x1a\x01", "cAcz"}},
	{"hexadecimal", `^\x41\u0042\u{43}\u{1F600}\u{000044}$`, []string{"ABC\U0001F600D"}, []string{"ABCD"}},
	{"a surrogate pair is one code point", `^\ud83d\ude00$`, []string{"\U0001F600"}, []string{"\ufffd\ufffd", ""}},
	{"a lone surrogate is in no text", `\ud83d|\udE00|\u{D800}|\ud83d\u0041`, nil, []string{"\U0001F600", "\ufffd", "A"}},
	{"a class can hold a lone surrogate", `^[\ud800a]$`, []string{"a"}, []string{"\ufffd"}},
	{"what is not a surrogate", `^[^\ud800-\udfff]$`, []string{"a", "\U0001F600", "\n"}, []string{""}},
	{"a range across the surrogates", `^[\ud7ff-\ue000]$`, []string{"\ud7ff", "\ue000"}, []string{"\ufffd"}},
	{"identity escapes", `^\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/$`, []string{`^$\.*+?()[]{}|/`}, []string{""}},
	{"characters that need no escape", `^-/,:=!<>#~&@%"' $`, []string{`-/,:=!<>#~&@%"' `}, nil},
	{"class", "^[a-cx]$", []string{"a", "b", "c", "x"}, []string{"d", "-", "", "A"}},
	{"negated class matches a line end", "^[^a]$", []string{"b", "\n", "\u2028", "\U0001F600"}, []string{"a", "", "bb"}},
	{"hyphens at the ends", "^[-a]$|^[b-]$|^[-]$", []string{"-", "a", "b"}, []string{"c"}},
	{"escaped hyphen", `^[a\-c]$`, []string{"a", "-", "c"}, []string{"b"}},
	{"brackets in a class", `^[\]\[^.$*(|]$`, []string{"]", "[", "^", ".", "$", "*", "(", "|"}, []string{"a", "\\"}},
	{"backspace in a class", `^[\b]$`, []string{"\b"}, []string{"b", ""}},
	{"classes in a class", `^[\d\s_-]$`, []string{"5", "\u00a0", "_", "-"}, []string{"a"}},
	{"negated classes in a class", `^[\D5]$`, []string{"a", "5"}, []string{"6"}},
	{"negated set of negated class", `^[^\D]$`, []string{"6"}, []string{"a"}},
	{"code points in a range", `^[\u{1F600}-\u{1F602}]$`, []string{"\U0001F601"}, []string{"\U0001F603"}},
	{"range of escapes", `^[\x41-\u0043\0-\cC]$`, []string{"B", "\x00", "\x02"}, []string{"D", "\x04"}},
	{"the empty class", "[]", nil, []string{"", "a", "]"}},
	{"anything", "^[^]$", []string{"a", "\n", "\U0001F600"}, []string{"", "ab"}},
	{"the empty class in a repetition", "^[]*a$", []string{"a"}, []string{""}},
	{"star, plus, option", "^a*b+c?$", []string{"b", "aabbc", "abc"}, []string{"a", "ac", "bcc"}},
	{"lazy repetitions match the same", "^a*?b+?c??d{2,3}?$", []string{"bdd", "aabbcddd"}, []string{"bd", "bdddd"}},
	{"counts", "^a{2}b{2,}c{1,3}d{0}$", []string{"aabbc", "aabbbbccc"}, []string{"abbc", "aabc", "aabbcccc", "aabbcd"}},
	{"leading zeros in counts", "^a{002,0003}$", []string{"aa", "aaa"}, []string{"a", "aaaa"}},
	{"repeated group", "^(?:ab){2}$", []string{"abab"}, []string{"ab", "ababab"}},
	{"repeated class", "^[ab]{2}$", []string{"ab", "ba"}, []string{"a"}},
	{"repeated empty group", "^(?:){3}a(){0,2}$", []string{"a"}, []string{""}},
	{"nested stars", "^(?:a*)*b$", []string{"b", "aab"}, []string{"a"}},
	{"a group of an assertion can be repeated", "^(?:\\b)*a(?:^)?$", []string{"a"}, []string{"aa"}},
	{"named group", `^(?<year>\d{4})-(?<größe$_1>x)$`, []string{"2026-x"}, []string{"26-x"}},
	{"escaped group name", `^(?<\u0061\u{62}>x)$`, []string{"x"}, nil},
	{"one name in two alternatives", "^(?:(?<n>a)|(?<n>b))$", []string{"a", "b"}, []string{"ab"}},
	{"one name in alternatives of groups", "^((?<n>a)|((?<n>b)|(?<n>c)))$", []string{"a", "b", "c"}, []string{""}},
	{"what only folding of Unicode 15.1 and 16 makes equal", "^(?i:\u0390\u03b0\ufb05\u0264)$", []string{"\u0390\u03b0\ufb05\u0264", "\u1fd3\u1fe3\ufb06\ua7cb"}, []string{"\u0390\u03b0\ufb05k"}},
	{"a class that folds to what is not in it", `^(?i:[\u1fd3\u1fe3\ufb06]+[^k])$`, []string{"\u0390\u03b0\ufb05a"}, []string{"\u0390\u03b0\ufb05\u212a"}},
	{"properties of Unicode 16", `^\p{Script=Garay}\p{Emoji}\p{Emoji_Presentation}\p{ExtPict}\P{EComp}\p{XID_Start}\p{CWU}\p{Bidi_M}\p{CI}\p{DI}$`, []string{"\U00010d50\u2764\U0001f600\u2764xxx(\u00ad\u00ad"}, []string{"\U00010d50a\U0001f600\u2764xxx(\u00ad\u00ad"}},
	{"the scripts that use a character", `^\p{Script_Extensions=Greek}\p{scx=Deva}\p{scx=Beng}\p{scx=Latn}\P{sc=Grek}$`, []string{"\u0342\u0964\u0964a\u0342"}, []string{"\u0342\u0964\u0964\u0964\u0342"}},
	{"category", `^\p{Letter}\p{L}\p{gc=Lu}\p{General_Category=Lowercase_Letter}$`, []string{"éxÀß"}, []string{"éxàß", "1xÀß"}},
	{"category aliases", `^\p{digit}\p{punct}\p{cntrl}\p{Combining_Mark}$`, []string{"\u0663!\x01\u0301"}, []string{"a!\x01\u0301"}},
	{"no category", `^\P{L}$`, []string{"1", "\n"}, []string{"a"}},
	{"script", `^\p{Script=Greek}\p{sc=Grek}\p{sc=Qaai}$`, []string{"λΩ\u0301"}, []string{"lΩ\u0301"}},
	{"no script known", `^\p{sc=Zzzz}\p{Script=Unknown}$`, []string{"\U000E0080\uE000"}, []string{"aa"}},
	{"binary properties", `^\p{Alphabetic}\p{Lower}\p{Uppercase}\p{White_Space}\p{Any}\p{ASCII}$`, []string{"\u2160ªⅠ\u0085\U0001F600z"}, []string{"1ªⅠ\u0085\U0001F600z"}},
	{"derived properties", `^\p{ID_Start}\p{ID_Continue}\p{Math}\p{Cased}\p{Assigned}\p{Gr_Base}\p{Gr_Ext}$`, []string{"aé+ǅx,\u0301"}, []string{"1é+ǅx,\u0301"}},
	{"unassigned", `^\p{Cn}\P{Assigned}\p{C}$`, []string{"\U000E0080\U000E0080\U000E0080"}, []string{"aaa"}},
	{"properties in a class", `^[\p{Lu}\P{L}]$`, []string{"A", "1"}, []string{"a"}},
	{"surrogates are a category", `\p{Cs}|\p{Surrogate}`, nil, []string{"\ufffd", "\U0001F600"}},
	{"D8: negative lookahead", "^(?!rm)", []string{"", "r", "ls rm"}, []string{"rm", "rmdir"}},
	{"D8: negative lookahead before anything", "^(?!rm).*$", []string{"", "r", "ls rm"}, []string{"rm", "rmdir", "a\n"}},
	{"lookaheads are conditions on one text", `^(?=.*\d)(?=.*[a-z])(?!.* ).{4,6}$`, []string{"abc1", "1bcde6"}, []string{"abcd", "1234", "a1", "ab 1", "abcdef1"}},
	{"lookahead in a repetition", `^(?:(?=[ab])\w(?!b))+$`, []string{"a", "ba"}, []string{"ab", "c", "bac", ""}},
	{"lookahead on the end", "a(?=b|$)", []string{"a", "ab", "xa"}, []string{"ac", "b"}},
	{"lookahead in lookahead", `^(?=a(?!b(?=c))).*$`, []string{"a", "ab", "abd"}, []string{"abc", "b"}},
	{"lookbehind", "(?<=a)b", []string{"ab", "bab"}, []string{"b", "bb", "ba"}},
	{"negative lookbehind", `(?<!a)b`, []string{"b", "cb"}, []string{"ab", "a"}},
	{"long lookbehind", `(?<=^a.*)b$`, []string{"ab", "axxb"}, []string{"b", "bab"}},
	{"lookbehind in lookbehind", `(?<=(?<!x)a)b`, []string{"ab", "yab"}, []string{"xab", "b"}},
	{"lookahead in lookbehind", `(?<=a(?=bc))b`, []string{"abc"}, []string{"abd", "ab"}},
	{"negative lookbehind around a lookahead", `(?<!a(?=bc))b`, []string{"b", "abd", "bc"}, []string{"abc"}},
	{"lookbehind in lookahead", `^(?=.*(?<=a)b)[^]*$`, []string{"ab", "xab\n"}, []string{"ba", "\nab"}},
	{"repeated group of a lookaround", `^(?:(?=a)){3}(?:(?!b)){0,}a$`, []string{"a"}, []string{"b", ""}},
	{"modifier i", `^(?i:aé[k-s]\u{130})$`, []string{"aék\u0130", "AÉ\u212a\u0130", "Aé\u017f\u0130"}, []string{"aéki", "aej\u0130"}},
	{"modifier i on words", `^(?i:\w[^\W]\W)$`, []string{"\u017f\u212aé"}, []string{"aa\u017f"}},
	{"modifier i on negated classes", `^(?i:[^a]\P{Lu})$`, []string{"bA", "ba"}, []string{"Aa"}},
	{"modifier i on boundaries", `(?i:\b)\u017f`, []string{"\u017f", " \u017f"}, []string{"a\u017f"}},
	{"modifier i ends with its group", `^(?i:a(?-i:b)c)d$`, []string{"abcd", "AbCd"}, []string{"aBcd", "abcD"}},
	{"D3: modifier m", `(?m:^git status$)`, []string{"git status", "git status\nrm", "rm\u2028git status"}, []string{"git status;", "a git status"}},
	{"modifier s", `^(?s:.)(?s-im:.).$`, []string{"\n\nb"}, []string{"aa\n"}},
	{"large counts", "^a{1001}$|^b{1500,}$|^(?:cd{30}){40,60}$", []string{strings.Repeat("a", 1001), strings.Repeat("b", 1501), strings.Repeat("c"+strings.Repeat("d", 30), 41)}, []string{strings.Repeat("a", 1002), "b"}},
	{"counts that no text has", `^(?:a{0,99999999999}|b{9007199254740991}|(?:c|d+){9007199254740991,}|e{2,9007199254740991})$`, []string{"", "aaa", "ee", "eee"}, []string{"b", "bb", "cd", "e"}},
	{"byte order mark is not skipped", "^a$", nil, []string{"\ufeffa"}},
}

// Proves D25-22, D4, Q9.
func TestMatch(t *testing.T) {
	for _, test := range matching {
		t.Run(test.name, func(t *testing.T) {
			p, err := regular.Compile(test.pattern)
			if err != nil {
				t.Fatalf("Compile(%q): %v", test.pattern, err)
			}
			if p.String() != test.pattern {
				t.Errorf("String() = %q, want %q", p.String(), test.pattern)
			}
			for _, text := range test.yes {
				if !p.Match([]byte(text)) {
					t.Errorf("%q does not match %q", test.pattern, text)
				}
			}
			for _, text := range test.no {
				if p.Match([]byte(text)) {
					t.Errorf("%q matches %q", test.pattern, text)
				}
			}
		})
	}
}

// refused lists patterns that are not compiled: where, why, and whether
// ECMAScript has them.
var refused = []struct {
	name, pattern string
	offset        int
	message       string // part of it
	unsupported   bool
}{
	// Early errors of ECMA-262.
	{"unclosed group", "a(b", 1, `"(" is not closed`, false},
	{"unmatched parenthesis", "ab)", 2, `")" without "("`, false},
	{"unclosed class", "a[b", 1, `"[" is not closed`, false},
	{"class closed by an escape", `[a\]`, 0, `"[" is not closed`, false},
	{"lone bracket", "a]", 1, `"]" stands alone`, false},
	{"lone brace", "a}", 1, `"}" stands alone`, false},
	{"nothing to repeat", "a|*", 2, "nothing to repeat", false},
	{"nothing to repeat at the start", "+a", 0, "nothing to repeat", false},
	{"brace without an atom", "{1}", 0, "without anything to repeat", false},
	{"two quantifiers", "a**", 2, "nothing to repeat", false},
	{"two counts", "a{1}{2}", 4, "without anything to repeat", false},
	{"possessive quantifier", "a++", 2, "nothing to repeat", false},
	{"braces that are no count", "a{,3}", 1, "does not begin a count", false},
	{"braces around a word", "a{b}", 1, "does not begin a count", false},
	{"unclosed count", "a{1,2", 1, "does not begin a count", false},
	{"counts out of order", "a{3,2}", 1, "out of order", false},
	{"huge counts out of order", "a{99999999999999999999,1}", 1, "out of order", false},
	{"repeated start", "^*", 1, "assertion cannot be repeated", false},
	{"repeated end", "a$*", 2, "assertion cannot be repeated", false},
	{"repeated boundary", `\b+`, 2, "assertion cannot be repeated", false},
	{"repeated lookahead", "(?=a)*", 5, "assertion cannot be repeated", false},
	{"repeated lookbehind", "(?<!a){2}", 6, "assertion cannot be repeated", false},
	{"range out of order", "[z-a]", 1, "out of order", false},
	{"range out of a class", `[a-\d]`, 1, "cannot end in a class", false},
	{"range from a class", `[\w-a]`, 1, "cannot end in a class", false},
	{"hyphen after a class", `[\w-.]`, 1, "cannot end in a class", false},
	{"backslash at the end", `a\`, 1, "at the end of the pattern", false},
	{"backslash at the end of a class", `[\`, 1, "at the end of the pattern", false},
	{"escaped letter", `\a`, 0, "does not exist", false},
	{"escaped hyphen outside of a class", `\-`, 0, "does not exist", false},
	{"escaped non-ASCII", `\é`, 0, "does not exist", false},
	{"dialect: absolute start", `\Afoo`, 0, "does not exist", false},
	{"dialect: absolute end", `foo\z`, 3, "does not exist", false},
	{"dialect: quoting", `\Qa\E`, 0, "does not exist", false},
	{"dialect: any byte", `a\C`, 1, "does not exist", false},
	{"dialect: horizontal space", `a\h`, 1, "does not exist", false},
	{"boundary in a class", `[\B]`, 1, "does not exist", false},
	{"octal", `\01`, 0, "octal", false},
	{"octal in a class", `[\00]`, 1, "octal", false},
	{"digits in a class", `[\1]`, 1, "does not exist", false},
	{"reference to no group", `(a)\2`, 3, "no such capturing group", false},
	{"reference to no name", `(?<a>x)\k<b>`, 7, "no capturing group of this name", false},
	{"reference without a name", `\ka`, 0, "needs a group name", false},
	{"reference in a class", `[\k<a>](?<a>x)`, 1, "does not exist", false},
	{"short hexadecimal", `\x4`, 0, "two hexadecimal digits", false},
	{"wrong hexadecimal", `\xg0`, 0, "two hexadecimal digits", false},
	{"short unicode", `\u12`, 0, "four hexadecimal digits", false},
	{"wrong unicode", `\u12g4`, 0, "four hexadecimal digits", false},
	{"empty code point", `\u{}`, 0, "needs hexadecimal digits", false},
	{"unclosed code point", `\u{41`, 0, "needs hexadecimal digits", false},
	{"code point too large", `\u{110000}`, 0, "no such code point", false},
	{"control without a letter", `\c1`, 0, "needs an ASCII letter", false},
	{"control at the end", `\c`, 0, "needs an ASCII letter", false},
	{"control in a class", `[\c_]`, 1, "needs an ASCII letter", false},
	{"unknown group", "(?a)", 0, "does not begin a group", false},
	{"dialect: atomic group", "(?>a)", 0, "does not begin a group", false},
	{"dialect: python group", "(?P<n>a)", 0, "does not begin a group", false},
	{"dialect: comment", "(?#a)", 0, "does not begin a group", false},
	{"dialect: flags up to the end", "(?i)a", 0, "does not begin a group", false},
	{"no modifier at all", "(?-:a)", 0, "does not begin a group", false},
	{"repeated modifier", "(?ii:a)", 3, "a modifier is repeated", false},
	{"modifier added and removed", "(?i-i:a)", 4, "a modifier is repeated", false},
	{"unknown modifier", "(?u:a)", 0, "does not begin a group", false},
	{"empty group name", "(?<>a)", 3, "the group name is empty", false},
	{"unclosed group name", "(?<a", 3, "not closed", false},
	{"group name with a digit first", "(?<1a>x)", 3, "not part of a group name", false},
	{"group name with a hyphen", "(?<a-b>x)", 4, "not part of a group name", false},
	{"group name with a wrong escape", `(?<a\x62>x)`, 4, "not part of a group name", false},
	{"group name with a lone surrogate", `(?<a\ud83d>x)`, 4, "not part of a group name", false},
	{"one name twice", "(?<a>x)(?<a>y)", 7, "same name", false},
	{"one name inside itself", "(?<a>(?<a>x))", 0, "same name", false},
	{"one name in a later part", "(?:(?<a>x)|y)(?<a>z)", 13, "same name", false},
	{"property without braces", `\pL`, 0, "needs a property in braces", false},
	{"unclosed property", `\p{L`, 0, "not closed", false},
	{"no such property", `\p{Foo}`, 0, "no such property", false},
	{"property in another case", `\p{letter}`, 0, "no such property", false},
	{"a script without its key", `\p{Greek}`, 0, "no such property", false},
	{"no such category", `\p{gc=Foo}`, 0, "no such property", false},
	{"no such script", `\p{sc=Foo}`, 0, "no such property", false},
	{"no such script extension", `\p{scx=Foo}`, 0, "no such property", false},
	{"no such key", `\p{Block=Latin}`, 0, "no such property", false},
	{"a value for a binary property", `\p{Any=Y}`, 0, "no such property", false},
	{"not UTF-8", "a\xff", 1, "not UTF-8", false},
	{"not UTF-8 behind U+FFFD", "\ufffd\xff", 3, "not UTF-8", false},
	{"deep groups", strings.Repeat("(", 300), 200, "nest too deep", false},

	// ECMA-262 that is not run.
	{"D8: backreference", `(a)\1`, 3, "backreferences", true},
	{"backreference ahead", `\1(a)`, 0, "backreferences", true},
	{"named backreference", `(?<n>a)\k<n>`, 7, "backreferences", true},
	{"the first construct is named", `a(?:(b(?=c))\1)\1`, 12, "backreferences", true},
	{"count", "ba{10001}", 2, "too large", true},
	{"open count", "a{10001,}", 1, "too large", true},
	{"upper count", "a{0,10001}", 1, "too large", true},
	{"huge count of what may be empty", "(?:a*){99999999999999999999}", 6, "too large", true},
	{"nested counts", "(?:ab{100}){101}", 11, "too large", true},
	{"D5: size", strings.Repeat("(?:abcd){1000}", 3), 0, "too large", true},
	{"ranges", strings.Repeat(`\p{L}`, 100), 0, "too large", true},
	{"length", strings.Repeat("a", 1<<16+1), 1 << 16, "longer than", true},
}

// Proves D3, D4, D5, D8, Q9: invalid patterns and patterns that are not run in
// linear time are refused at the byte.
func TestCompileRefuses(t *testing.T) {
	for _, test := range refused {
		t.Run(test.name, func(t *testing.T) {
			p, err := regular.Compile(test.pattern)
			if err == nil {
				t.Fatalf("Compile(%.60q) succeeded: %v", test.pattern, p)
			}
			var syntax *regular.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error is %T", err)
			}
			if syntax.Offset != test.offset || !strings.Contains(syntax.Message, test.message) || syntax.Unsupported != test.unsupported {
				t.Errorf("Compile(%.60q): %+v\nwant %q at %d, unsupported %v", test.pattern, *syntax, test.message, test.offset, test.unsupported)
			}
		})
	}
}

// Proves that an error reads well in one line.
func TestSyntaxErrorText(t *testing.T) {
	for pattern, want := range map[string]string{
		"a(b":      `pattern: "(" is not closed at byte 1 (write "\(" for the character)`,
		`a\a`:      `pattern: this escape does not exist at byte 1`,
		`\%`:       `pattern: this escape does not exist at byte 0 (write the character without the backslash)`,
		`\p{Thai}`: `pattern: there is no such property at byte 0 (write "\p{Script=Thai}")`,
	} {
		_, err := regular.Compile(pattern)
		if err == nil || err.Error() != want {
			t.Errorf("Compile(%q): %v\nwant %s", pattern, err, want)
		}
	}
}

// Proves D1, D2.
func TestD1D2AnchoredBothEnds(t *testing.T) {
	for pattern, want := range map[string]bool{
		"^a$":          true,
		"^a$|^b$":      true,
		"^(?:a|b)$":    true,
		"(^a$)":        true,
		"(?:^a|^b)$":   true,
		"^(?:a$|b$)":   true,
		"(?:^a$)+":     true,
		"(?:^a$){1,3}": true,
		"[]":           true, // no match at all
		"^a$|[]":       true,
		"^$":           true,
		"a^b$":         true, // no match at all, and never a partial one
		"git status":   false,
		"^git status":  false,
		"git status$":  false,
		"^a$|b":        false,
		"^a|b$":        false,
		"(?:^a$)?":     false,
		"(?:^a$)*":     false,
		"^a$|^b":       false,
		"":             false,
		`^a\$`:         false,
		"[^]a$":        false,
	} {
		p, err := regular.Compile(pattern)
		if err != nil {
			t.Errorf("Compile(%q): %v", pattern, err)
			continue
		}
		if p.AnchoredBothEnds() != want {
			t.Errorf("AnchoredBothEnds(%q) = %v, want %v", pattern, !want, want)
		}
	}
}

// Proves that the size counts repetitions written out: an alternative is a node,
// and so is each of its parts.
func TestSize(t *testing.T) {
	for pattern, want := range map[string]int{
		"":       1,
		"ab":     3,
		"a{3}":   7, // 1 + 3 * (repetition + class)
		"a{2,}":  5, // two, of which the last repeats
		"(a|b)*": 8, // 1 + repetition, group, alternation, twice an alternative and its class
		"a{0}":   3, // written once
	} {
		p, err := regular.Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Size(); got != want {
			t.Errorf("Size(%q) = %d, want %d", pattern, got, want)
		}
	}
}

// Proves D5: what makes a backtracking engine explode costs a pass over the text.
func TestD5Catastrophic(t *testing.T) {
	text := append(bytes.Repeat([]byte("a"), 1<<17), '!')
	for _, pattern := range []string{`^(a+)+$`, `^(a|aa)+$`, `^(a|a?)+$`, `^(?:a*)*$`, `(x+x+)+y`, `^(?:.*a){12}$`} {
		p, err := regular.Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if p.Match(text) {
			t.Errorf("%q matches", pattern)
		}
	}
}

// Proves D3, D8: a pattern says what the lints ask it.
func TestPatternTraits(t *testing.T) {
	for pattern, want := range map[string][2]bool{
		"a": {false, false}, "(?m:^a$)": {true, false}, "(?-i:a)": {true, false}, "(?:a)(?<n>b)": {false, false},
		"(?=a)(?<=b)": {false, false}, "(?:(?!a))*": {false, true}, "(?i:(?<!a))": {true, true},
	} {
		p, err := regular.Compile(pattern)
		if err != nil || p.Modified() != want[0] || p.NegativeLook() != want[1] {
			t.Errorf("%q: %v, modified %v, negative %v", pattern, err, p.Modified(), p.NegativeLook())
		}
	}
}

// Proves Q9: every property has its table, and every table its property.
func TestProperties(t *testing.T) {
	names := regular.PropertyNames()
	if len(names) < 650 {
		t.Fatalf("%d names", len(names))
	}
	for _, name := range names {
		if _, err := regular.Compile(`\p{` + name + `}`); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "L=", "gc=", "gc=Emoji", "sc=Emoji", "scx=Nobody", "Greek", "emoji", "Script", "RGI_Emoji", "Lu=Y", "gc=Lu=Lu", "sc=greek"} {
		if _, err := regular.Compile(`\p{` + name + `}`); err == nil {
			t.Errorf("%q names a property", name)
		}
	}
}
