package match_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/match"
)

// feed passes a string to a matcher in pieces that end after the given bytes, and returns the
// result and the byte after which it was decided, -1 for the end.
func feed(m *match.Matcher, value string, cuts ...int) (match.Result, int) {
	var s match.State
	if r := m.Start(&s); r != match.Undecided {
		return r, 0
	}
	from := 0
	for _, cut := range append(cuts, len(value)) {
		r, n := m.Feed(&s, []byte(value[from:cut]))
		if r != match.Undecided {
			return r, from + n
		}
		from = cut
	}
	if !m.Incremental() {
		if m.Match([]byte(value)) {
			return match.Hit, -1
		}
		return match.Miss, -1
	}
	return m.End(&s), -1
}

// Proves D25-20, D25-21, D25-22, D25-23, D7.
func TestStringMatchers(t *testing.T) {
	const end = -1
	for _, c := range []struct {
		name   string
		kind   match.Kind
		values []string
		value  string
		want   match.Result
		at     int // the byte after which a permissive matcher decides
	}{
		{"const", match.Const, []string{"rm"}, "rm", match.Hit, end},
		{"const longer", match.Const, []string{"rm"}, "rmx", match.Miss, 3},
		{"const other", match.Const, []string{"rm"}, "ls", match.Miss, 1},
		{"const shorter", match.Const, []string{"rm"}, "r", match.Miss, end},
		{"empty const", match.Const, []string{""}, "", match.Hit, end},
		{"empty const, text", match.Const, []string{""}, "x", match.Miss, 1},
		{"enum", match.Enum, []string{"get", "put", "post"}, "post", match.Hit, end},
		{"enum fails at the second", match.Enum, []string{"get", "put", "post"}, "pxt", match.Miss, 2},
		{"enum with a common beginning", match.Enum, []string{"a", "ab"}, "a", match.Hit, end},
		{"prefix", match.Prefix, []string{"git "}, "git status", match.Hit, 4},
		{"prefix fails", match.Prefix, []string{"git "}, "gti status", match.Miss, 2},
		{"prefix inside a code point", match.Prefix, []string{"\u00e9"}, "\u00e8x", match.Miss, 2},
		{"prefix of two", match.Prefix, []string{"git ", "go "}, "go test", match.Hit, 3},
		{"suffix", match.Suffix, []string{".go"}, "a.go", match.Hit, end},
		{"suffix twice", match.Suffix, []string{".go"}, ".go.go", match.Hit, end},
		{"suffix not at the end", match.Suffix, []string{".go"}, "a.gox", match.Miss, end},
		{"glob", match.Glob, []string{"*.go"}, "x/y.go", match.Hit, end},
		{"glob decided by its last star", match.Glob, []string{"a*b*"}, "a/xb...", match.Hit, 4},
		{"glob fails", match.Glob, []string{"a?c*"}, "abd", match.Miss, 3},
		{"glob class", match.Glob, []string{"[a-c][!x]"}, "by", match.Hit, end},
		{"glob alternatives that leave nothing out", match.Glob, []string{"{,?,??*}"}, "", match.Hit, 0},
		{"case counts", match.Const, []string{"jq"}, "JQ", match.Miss, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := compile(t, spec(c.kind, c.values...), aString, permissive, nowhere)
			r, at := feed(m, c.value)
			if r != c.want || at != c.at {
				t.Errorf("got %v at %d, want %v at %d", r, at, c.want, c.at)
			}
			if got := m.Match([]byte(c.value)); got != (c.want == match.Hit) {
				t.Errorf("whole: %v", got)
			}
		})
	}
}

// Proves D7, K21.
func TestD7_NearEqualStrings(t *testing.T) {
	for _, c := range []struct {
		name           string
		kind           match.Kind
		literal, value string
		hit            bool // of the restrictive condition; the permissive one fails for all
	}{
		{"trailing space", match.Const, "jq", "jq ", true},
		{"zero width space", match.Const, "jq", "jq\u200b", true},
		{"inside", match.Enum, "jq", "j\u200dq", true},
		{"both", match.Const, "jq", "\u00a0\ufeffj\u00adq\u2003\u200b\n", true},
		{"space inside stays", match.Const, "jq", "j q", false},
		{"prefix behind spaces", match.Prefix, "rm ", " \trm x", true},
		{"suffix before spaces", match.Suffix, ".env", "x.env\n", true},
		{"glob", match.Glob, "rm*", "\u2066rm", true},
		{"case is another string", match.Const, "jq", "JQ", false},
		{"isolate", match.Const, "jq", "\u2069jq", true},
		{"not in the list", match.Const, "jq", "jq\u206a", false},
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
	m := compile(t, spec(match.Const, " jq"), aString, restrictive, nowhere)
	if !m.Match([]byte(" jq")) || m.Match([]byte("jq")) {
		t.Error("the value itself is one of the forms")
	}
}

// Automata evaluate strings of any length, complete or in pieces.
func TestLongStrings(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	for _, c := range []struct {
		name    string
		kind    match.Kind
		literal string
		value   string
		hit     bool
		at      int
	}{
		{"decided early", match.Const, "rm", long, false, 1},
		{"a suffix", match.Suffix, "xx", long, true, -1},
		{"no suffix", match.Suffix, "y", long, false, -1},
		{"a suffix behind all", match.Suffix, "\u00e9", long + "\u00e9", true, -1},
		{"a glob", match.Glob, "*x*y", long + "y", true, -1},
		{"no glob", match.Glob, "*y*", long, false, -1},
		{"a pattern", match.Pattern, "AKIA[0-9A-Z]{16}", long + "AKIA0123456789ABCDEF", true, len(long) + 20},
		{"no pattern", match.Pattern, "AKIA[0-9A-Z]{16}", long, false, -1},
		{"a prefix", match.Prefix, "x", long, true, 1},
	} {
		for _, polarity := range []bool{restrictive, permissive} {
			m := compile(t, spec(c.kind, c.literal), aString, polarity, nowhere)
			if got := m.Match([]byte(c.value)); got != c.hit {
				t.Errorf("%s, restrictive %v: whole %v, want %v", c.name, polarity, got, c.hit)
			}
			r, at := feed(m, c.value, 3, 1<<20, 2<<20)
			if (r == match.Hit) != c.hit || at != c.at {
				t.Errorf("%s, restrictive %v: fed %v at %d, want %v at %d", c.name, polarity, r, at, c.hit, c.at)
			}
			var v match.Value
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
		kind         match.Kind
		literal      string
		target       match.Target
		value        string
		hit, exceeds bool
	}{
		{"a path", match.Glob, "**/.env", aPath, long, false, false},
		{"a path that is inside", match.Glob, "**/.env", aPath, strings.Repeat("./", 1<<20) + ".env", true, false},
		{"prose as a path", match.Glob, "**/.env", aPath, prose, false, false},
		{"a path with too many readings", match.Glob, "**/.env", aPath, strings.Repeat("%2541;x:y\\", 1<<20), true, true},
		{"a command", match.Prefix, "rm", aCommand, long, true, true},
		{"a url", match.Host, "example.com", aURL, "https://example.org\\" + long, false, false},
		{"a patch", match.Glob, "**/.env", aPatch, long, true, true},
		{"data", match.Host, "example.com", aURL, "data:text/plain," + long, false, false},
	} {
		m := compile(t, spec(c.kind, c.literal), c.target, restrictive, nowhere)
		var v match.Value
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
