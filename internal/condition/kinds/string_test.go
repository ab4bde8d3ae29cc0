package kinds_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
)

// feed passes a string to a matcher in pieces that end after the given bytes, and returns the
// result and the byte after which it was decided, -1 for the end.
func feed(m *match.Matcher, value string, cuts ...int) (condition.Result, int) {
	var s condition.State
	if r := m.Start(&s); r != condition.Undecided {
		return r, 0
	}
	from := 0
	for _, cut := range append(cuts, len(value)) {
		r, n := m.Feed(&s, []byte(value[from:cut]))
		if r != condition.Undecided {
			return r, from + n
		}
		from = cut
	}
	if !m.Incremental() {
		if m.Match([]byte(value)) {
			return condition.Hit, -1
		}
		return condition.Miss, -1
	}
	return m.End(&s), -1
}

// Proves D25-20, D25-21, D25-22, D25-23, D7.
func TestStringMatchers(t *testing.T) {
	const end = -1
	for _, c := range []struct {
		name   string
		kind   condition.Kind
		values []string
		value  string
		want   condition.Result
		at     int // the byte after which a permissive matcher decides
	}{
		{"const", condition.Const, []string{"rm"}, "rm", condition.Hit, end},
		{"const longer", condition.Const, []string{"rm"}, "rmx", condition.Miss, 3},
		{"const other", condition.Const, []string{"rm"}, "ls", condition.Miss, 1},
		{"const shorter", condition.Const, []string{"rm"}, "r", condition.Miss, end},
		{"empty const", condition.Const, []string{""}, "", condition.Hit, end},
		{"empty const, text", condition.Const, []string{""}, "x", condition.Miss, 1},
		{"enum", condition.Enum, []string{"get", "put", "post"}, "post", condition.Hit, end},
		{"enum fails at the second", condition.Enum, []string{"get", "put", "post"}, "pxt", condition.Miss, 2},
		{"enum with a common beginning", condition.Enum, []string{"a", "ab"}, "a", condition.Hit, end},
		{"prefix", condition.Prefix, []string{"git "}, "git status", condition.Hit, 4},
		{"prefix fails", condition.Prefix, []string{"git "}, "gti status", condition.Miss, 2},
		{"prefix inside a code point", condition.Prefix, []string{"\u00e9"}, "\u00e8x", condition.Miss, 2},
		{"prefix of two", condition.Prefix, []string{"git ", "go "}, "go test", condition.Hit, 3},
		{"suffix", condition.Suffix, []string{".go"}, "a.go", condition.Hit, end},
		{"suffix twice", condition.Suffix, []string{".go"}, ".go.go", condition.Hit, end},
		{"suffix not at the end", condition.Suffix, []string{".go"}, "a.gox", condition.Miss, end},
		{"glob", condition.Glob, []string{"*.go"}, "x/y.go", condition.Hit, end},
		{"glob decided by its last star", condition.Glob, []string{"a*b*"}, "a/xb...", condition.Hit, 4},
		{"glob fails", condition.Glob, []string{"a?c*"}, "abd", condition.Miss, 3},
		{"glob class", condition.Glob, []string{"[a-c][!x]"}, "by", condition.Hit, end},
		{"glob alternatives that leave nothing out", condition.Glob, []string{"{,?,??*}"}, "", condition.Hit, 0},
		{"case counts", condition.Const, []string{"jq"}, "JQ", condition.Miss, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := compile(t, spec(c.kind, c.values...), aString, permissive, nowhere)
			r, at := feed(m, c.value)
			if r != c.want || at != c.at {
				t.Errorf("got %v at %d, want %v at %d", r, at, c.want, c.at)
			}
			if got := m.Match([]byte(c.value)); got != (c.want == condition.Hit) {
				t.Errorf("whole: %v", got)
			}
		})
	}
}

// Proves D7, K21.
func TestD7_NearEqualStrings(t *testing.T) {
	for _, c := range []struct {
		name           string
		kind           condition.Kind
		literal, value string
		hit            bool // of the restrictive condition; the permissive one fails for all
	}{
		{"trailing space", condition.Const, "jq", "jq ", true},
		{"zero width space", condition.Const, "jq", "jq\u200b", true},
		{"inside", condition.Enum, "jq", "j\u200dq", true},
		{"both", condition.Const, "jq", "\u00a0\ufeffj\u00adq\u2003\u200b\n", true},
		{"space inside stays", condition.Const, "jq", "j q", false},
		{"prefix behind spaces", condition.Prefix, "rm ", " \trm x", true},
		{"suffix before spaces", condition.Suffix, ".env", "x.env\n", true},
		{"glob", condition.Glob, "rm*", "\u2066rm", true},
		{"case is another string", condition.Const, "jq", "JQ", false},
		{"isolate", condition.Const, "jq", "\u2069jq", true},
		{"not in the list", condition.Const, "jq", "jq\u206a", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			must := compile(t, spec(c.kind, c.literal), aString, restrictive, nowhere)
			may := compile(t, spec(c.kind, c.literal), aString, permissive, nowhere)
			if got := must.Match([]byte(c.value)); got != c.hit {
				t.Errorf("restrictive: %v, want %v", got, c.hit)
			}
			if may.Match([]byte(c.value)) {
				t.Error("permissive: true, want exact code points")
			}
		})
	}
	m := compile(t, spec(condition.Const, " jq"), aString, restrictive, nowhere)
	if !m.Match([]byte(" jq")) || m.Match([]byte("jq")) {
		t.Error("the value itself is one of the forms")
	}
}

// Automata evaluate strings of any length, complete or in pieces.
func TestLongStrings(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	for _, c := range []struct {
		name    string
		kind    condition.Kind
		literal string
		value   string
		hit     bool
		at      int
	}{
		{"decided early", condition.Const, "rm", long, false, 1},
		{"a suffix", condition.Suffix, "xx", long, true, -1},
		{"no suffix", condition.Suffix, "y", long, false, -1},
		{"a suffix behind all", condition.Suffix, "\u00e9", long + "\u00e9", true, -1},
		{"a glob", condition.Glob, "*x*y", long + "y", true, -1},
		{"no glob", condition.Glob, "*y*", long, false, -1},
		{"a pattern", condition.Pattern, "AKIA[0-9A-Z]{16}", long + "AKIA0123456789ABCDEF", true, len(long) + 20},
		{"no pattern", condition.Pattern, "AKIA[0-9A-Z]{16}", long, false, -1},
		{"a prefix", condition.Prefix, "x", long, true, 1},
	} {
		for _, polarity := range []bool{restrictive, permissive} {
			m := compile(t, spec(c.kind, c.literal), aString, polarity, nowhere)
			if got := m.Match([]byte(c.value)); got != c.hit {
				t.Errorf("%s, restrictive %v: whole %v, want %v", c.name, polarity, got, c.hit)
			}
			r, at := feed(m, c.value, 3, 1<<20, 2<<20)
			if (r == condition.Hit) != c.hit || at != c.at {
				t.Errorf("%s, restrictive %v: fed %v at %d, want %v at %d", c.name, polarity, r, at, c.hit, c.at)
			}
			var v condition.Value
			if v.Reset([]byte(c.value)); m.Exceeds(&v) {
				t.Errorf("%s, restrictive %v: the answer is called a limit", c.name, polarity)
			}
		}
	}
}

// Values that are too long to be examined fail closed.
func TestExceeds(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	prose := strings.Repeat("a line of text, with \"quotes\".\n", 1<<16)
	for _, c := range []struct {
		name         string
		kind         condition.Kind
		literal      string
		target       condition.Target
		value        string
		hit, exceeds bool
	}{
		{"a path", condition.Glob, "**/.env", aPath, long, false, false},
		{"a path that is inside", condition.Glob, "**/.env", aPath, strings.Repeat("./", 1<<20) + ".env", true, false},
		{"prose as a path", condition.Glob, "**/.env", aPath, prose, false, false},
		{"a path with too many readings", condition.Glob, "**/.env", aPath, strings.Repeat("%2541;x:y\\", 1<<20), true, true},
		{"a command", condition.Prefix, "rm", aCommand, long, true, true},
		{"a url", condition.Host, "example.com", aURL, "https://example.org\\" + long, false, false},
		{"a patch", condition.Glob, "**/.env", aPatch, long, true, true},
		{"data", condition.Host, "example.com", aURL, "data:text/plain," + long, false, false},
	} {
		m := compile(t, spec(c.kind, c.literal), c.target, restrictive, nowhere)
		var v condition.Value
		v.Reset([]byte(c.value))
		if hit, exceeds := m.Judge(&v), m.Exceeds(&v); hit != c.hit || hit && exceeds != c.exceeds {
			t.Errorf("%s: hit %v, exceeds %v, want %v, %v", c.name, hit, exceeds, c.hit, c.exceeds)
		}
		if got := m.Match([]byte(c.value)); got != c.hit {
			t.Errorf("%s: whole %v, want %v", c.name, got, c.hit)
		}
		if c.exceeds && compile(t, spec(c.kind, c.literal), c.target, permissive, nowhere).Judge(&v) {
			t.Errorf("%s: permitted", c.name)
		}
	}
}
