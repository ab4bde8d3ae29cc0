package kinds_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/schema"
)

func TestKindNames(t *testing.T) {
	table := kinds.Table()
	for _, d := range table.Kinds {
		if got, listed := table.ParseKey(d.Kind.String()); got == nil || got.Kind != d.Kind || listed {
			t.Errorf("%v: %v, %v", d.Kind, got, listed)
		}
		if got, listed := table.ParseKey(d.Kind.String() + "_in"); (got != nil) != d.Listed || listed != d.Listed {
			t.Errorf("%v_in: %v, %v", d.Kind, got, listed)
		}
	}
	if got, _ := table.ParseKey("none"); got != nil || condition.Kind("").String() != "none" {
		t.Error("a matcher that is none")
	}
}

// Proves I14: a matcher that does not apply to strings matches none.
func TestNoStringMatcher(t *testing.T) {
	m := compile(t, number(condition.Minimum, "1"), condition.Target{}, restrictive, nowhere)
	var s condition.State
	if r := m.Start(&s); r != condition.Miss || m.Match([]byte("5")) || m.Incremental() {
		t.Errorf("start: %v", r)
	}
}

// Several conditions that share a Value give the same results as each alone.
func TestValuesAreShared(t *testing.T) {
	var v condition.Value
	for _, value := range []string{"git status", "git status; x", "https://h.example/a", "https://u@h.example", "src/a", "src\\a", "\xff", "~/x", ""} {
		v.Reset([]byte(value))
		for _, polarity := range []bool{permissive, restrictive} {
			for range 2 {
				for _, m := range []*match.Matcher{
					compile(t, spec(condition.Prefix, "git"), aString, polarity, project),
					compile(t, spec(condition.Prefix, "git"), aCommand, polarity, project),
					compile(t, spec(condition.Host, "h.example"), aURL, polarity, project),
					compile(t, spec(condition.Prefix, "src"), aPath, polarity, project),
					compile(t, spec(condition.Glob, "[!b]*"), aPath, polarity, nowhere),
					compile(t, number(condition.MaxLength, "5"), aPath, polarity, project),
				} {
					if m.Judge(&v) != m.Match([]byte(value)) {
						t.Errorf("%v, restrictive %v, on %q: %v", m.Kind(), polarity, value, m.Judge(&v))
					}
				}
			}
		}
	}
}

// Proves D25-22, K20, K21.
func TestPatternOnStrings(t *testing.T) {
	may := compile(t, spec(condition.Pattern, "^rm$"), aString, permissive, nowhere)
	must := compile(t, spec(condition.Pattern, "^rm$", "^x$"), aString, restrictive, nowhere)
	for value, want := range map[string][2]bool{
		"rm": {true, true}, "rm ": {false, true}, "r\u200bm": {false, true}, "x": {false, true}, "rmx": {false, false}, "\u00fcrm": {false, false},
	} {
		if got := [2]bool{may.Match([]byte(value)), must.Match([]byte(value))}; got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
	bad := specError(t, spec(condition.Pattern, "a", "b("), aString, permissive, nowhere)
	if bad.Index != 1 || bad.Offset < 0 || bad.Kind != condition.Pattern {
		t.Errorf("got %+v", bad)
	}
	specError(t, spec(condition.Pattern, "b("), aPath, permissive, nowhere)
}

// Proves D25-31, D25-32.
func TestEmptyTextAlwaysMatches(t *testing.T) {
	for _, k := range []condition.Kind{condition.Prefix, condition.Suffix} {
		if bad := specError(t, spec(k, ""), aString, restrictive, nowhere); bad.Hint == "" || bad.Index != 0 {
			t.Errorf("%v: %+v", k, bad)
		}
	}
	bad := specError(t, condition.Spec{Kind: condition.Prefix, Values: []condition.Literal{{Kind: condition.LiteralBool, Text: "true"}}}, aString, restrictive, nowhere)
	if bad.Error() != "prefix: must be a string, not true" {
		t.Error(bad)
	}
	specError(t, condition.Spec{Kind: condition.Prefix, Values: []condition.Literal{{Kind: condition.LiteralObject, JSON: "{}"}}}, aString, restrictive, nowhere)
	specError(t, condition.Spec{Kind: condition.Prefix, Values: []condition.Literal{{Kind: condition.LiteralArray, JSON: "[]"}}}, aString, restrictive, nowhere)
}

// Proves K21: the third form trims Unicode's White_Space.
func TestTrimmedIsWhiteSpace(t *testing.T) {
	m := compile(t, spec(condition.Const, "a"), aString, restrictive, nowhere)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r == 'a' || 0xD800 <= r && r < 0xE000 {
			continue
		}
		want := unicode.Is(unicode.White_Space, r) || naiveString(condition.Const, []string{"a"}, restrictive, "a"+string(r))
		if m.Match([]byte("a"+string(r))) != want {
			t.Fatalf("U+%04X: want %v", r, want)
		}
	}
}

// A list with more different code points than automaton classes is evaluated without an automaton,
// with the same results.
func TestMoreCodePointsThanClasses(t *testing.T) {
	var values []string
	for r := rune(0x4E00); len(values) < 70000; r++ {
		if r == 0xD800 {
			r = 0x10000
		}
		values = append(values, string(r))
	}
	m := compile(t, spec(condition.Enum, values...), aString, permissive, nowhere)
	if m.Incremental() || !m.Match([]byte(values[69999])) || m.Match([]byte("a")) || m.Match([]byte(values[0]+values[1])) {
		t.Error("the answers differ")
	}
}

// Proves C7, C11, C14, C15.
func TestRareReadings(t *testing.T) {
	checkRows(t, aPath, project, "src/", ".env", []pathRow{
		{"look-alike backslash", "x\u2216..\u2216.env", false, true},
		{"scheme without slashes", "https:.env", false, true},
		{"URL without a path", "https://.env", false, false},
		{"URL with a query behind the host", "https://h?/.env", false, false},
	})
	slash := condition.Env{Root: "/"}
	if list, _ := pathform.Readings("/a", slash, false); list[0].Path != "a" {
		t.Errorf("below the root of the system: %v", list)
	}
	m := compile(t, spec(condition.Prefix, "rm"), aCommand, restrictive, nowhere)
	if !m.Match([]byte(`$'\U00000072m' x`)) {
		t.Error("a long escape")
	}
}

// Proves K59.
func TestRareURLs(t *testing.T) {
	must := compile(t, spec(condition.Host, "h.example"), aURL, restrictive, nowhere)
	if must.Match([]byte("//u@"+strings.Repeat("a", 2<<20))) || !must.Match([]byte("//u@h.example\\"+strings.Repeat("%2541;x@y:\\", 1<<18))) {
		t.Error("long URLs are read as short ones are")
	}
	if must.Match([]byte("//u@xn--a.\u00fc/")) {
		t.Error("a host that cannot be punycoded")
	}
	may := compile(t, spec(condition.Host, "h.example"), aURL, permissive, nowhere)
	for value, want := range map[string]bool{
		"ftp://h.example:21/": true, "ftp://h.example:22/": false, "ws://h.example:80/": true, "wss://h.example:443/": true, "git://h.example/": true,
		"git://h.example:9418/": false, "https://h.example/\u00fc": false,
	} {
		if got := may.Match([]byte(value)); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
	if m := compile(t, spec(condition.Scheme, "git"), condition.Target{Type: schema.String | schema.Array, Annotation: schema.URL}, permissive, nowhere); m.Fits() != schema.String {
		t.Error("a scheme looks at the strings of a list")
	}
}
