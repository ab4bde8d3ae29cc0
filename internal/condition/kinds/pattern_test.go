package kinds_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// grants evaluates a permissive condition on a value.
func grants(t *testing.T, k condition.Kind, literal string, target condition.Target, value string) bool {
	t.Helper()
	return compile(t, spec(k, literal), target, permissive, nowhere).Match([]byte(value))
}

func anchored(t *testing.T, pattern string) bool {
	t.Helper()
	p, err := regular.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return p.AnchoredBothEnds()
}

// Proves D1: the lint reports the pattern; the matcher evaluates it as written.
func TestD1_Unanchored(t *testing.T) {
	for pattern, want := range map[string]bool{"git status": false, "^a|b$": false, "^a$|^b$": true, "^(a|b)$": true} {
		if anchored(t, pattern) != want {
			t.Errorf("%q anchored at both ends: %v", pattern, !want)
		}
	}
	if grants(t, condition.Pattern, "^git status$", aString, "git status; rm -rf /") {
		t.Error("an anchored pattern spans the value")
	}
}

// Proves D2.
func TestD2_HalfAnchored(t *testing.T) {
	if anchored(t, "^git status") || anchored(t, "git status$") {
		t.Error("one anchor is not two")
	}
	if grants(t, condition.Pattern, "^git status$", aString, "git status\nrm -rf /") {
		t.Error("a line is not the value")
	}
}

// Proves D3.
func TestD3_EndIsTheEnd(t *testing.T) {
	for _, value := range []string{"git status\nrm", "git status\n", "git status\r\n"} {
		if grants(t, condition.Pattern, "^git status$", aString, value) {
			t.Errorf("$ matches before the end of %q", value)
		}
	}
	if !grants(t, condition.Pattern, "(?m:^git status$)", aString, "git status\nrm") {
		t.Error("with the modifier m a line is enough; the lint says so")
	}
}

// Proves D4.
func TestD4_Dialect(t *testing.T) {
	for _, c := range []struct {
		pattern, value string
		want           bool
	}{
		{`^\s*ls$`, "\u00a0ls", true},
		{`^\s*ls$`, "\ufeffls", true},
		{`^\d$`, "\u0661", false},
		{`^\w$`, "\u00fc", false},
		{`^.$`, "\u2028", false},
	} {
		if got := grants(t, condition.Pattern, c.pattern, aString, c.value); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.value, got)
		}
	}
}

// Proves D5: every pattern runs in linear time, so the test ends.
func TestD5_NoBacktracking(t *testing.T) {
	for _, n := range []int{26, 50_000} {
		if grants(t, condition.Pattern, "^(a+)+$", aString, strings.Repeat("a", n)+"!") {
			t.Error("matches")
		}
	}
	if !grants(t, condition.Glob, strings.Repeat("*a", 12)+"*", aString, strings.Repeat("a", 5000)) {
		t.Error("a glob of many stars")
	}
}

// Proves D6: a prefix on a string compares bytes; one on a command compares words.
func TestD6_BytePrefix(t *testing.T) {
	for _, value := range []string{"git statusx", "git status;rm"} {
		if !grants(t, condition.Prefix, "git status", aString, value) {
			t.Errorf("string: %q", value)
		}
		if grants(t, condition.Prefix, "git status", aCommand, value) {
			t.Errorf("command: %q", value)
		}
	}
}

// Proves D8: the lint warns about negated patterns; the matcher evaluates them as written.
func TestD8_NegativeMatching(t *testing.T) {
	bad := specError(t, spec(condition.Pattern, `^(a)\1$`), aString, permissive, nowhere)
	if bad.Offset != 4 || bad.Hint == "" {
		t.Errorf("%+v, want offset 4 and a hint", bad)
	}
	for _, c := range []struct {
		pattern, value string
		want           bool
	}{
		{"^(?!rm).*$", "ls", true},
		{"^(?!rm).*$", "rm -rf /", false},
		{"(?<=a)b", "ab", true},
		{"(?<=a)b", "bb", false},
	} {
		if got := grants(t, condition.Pattern, c.pattern, aString, c.value); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.value, got)
		}
	}
}

// Proves B8: the content of a string is text, whatever it looks like.
func TestB8_JSONInsideAString(t *testing.T) {
	value := `{"path":".env"}`
	if grants(t, condition.Const, ".env", aString, value) || grants(t, condition.Prefix, ".env", aString, value) {
		t.Error("the text of a string is not parsed")
	}
	if !grants(t, condition.Const, value, aString, value) || !grants(t, condition.Pattern, `"\.env"`, aString, value) {
		t.Error("const and pattern see the text")
	}
}
