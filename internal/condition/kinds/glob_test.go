package kinds_test

import (
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// Proves K18.
func TestK18_GlobOnPaths(t *testing.T) {
	for _, c := range []struct {
		glob, value  string
		grant, catch bool
	}{
		{"*", "a", true, true},
		{"*", "a/b", false, true}, // below a matched directory
		{"*", ".", false, false},
		{"*", ".env", true, true},
		{"*.go", "a.go", true, true},
		{"*.go", "a/b.go", false, false},
		{"a?c", "abc", true, true},
		{"a?c", "a/c", false, false},
		{"a?c", "a\u00fcc", true, true},
		{"[a-c]x", "bx", true, true},
		{"[a-c]x", "Bx", false, true},
		{"[A-C]x", "bx", false, true},
		{"[!a-c]x", "dx", true, true},
		{"[!a-c]x", "bx", false, false},
		{"[!a]", "A", true, true},
		{"[!a]x", "a", false, false},
		{"[a-]x", "-x", false, true}, // an option is never certain
		{"x[a-]", "x-", true, true},
		{"x[\\]]", "x]", true, true},
		{"{a,b}/c", "b/c", true, true},
		{"{a,{b,c}d}", "cd", true, true},
		{"{a,{b,c}d}", "c", false, false},
		{"a{,b}", "a", true, true},
		{"{a/b,c}/d", "a/b/d", true, true},
		{"a{x/**,y}", "ax/p/q", true, true},
		{`\*`, "*", true, true},
		{`\*`, "a", false, false},
		{"**", "a/b/c", true, true},
		{"**", ".", true, true},
		{"**", "../a", false, true},
		{"**", "/etc/passwd", false, true},
		{"**", "/srv/proj/a", true, true},
		{"**/a", "a", true, true},
		{"**/a", "x/y/a", true, true},
		{"**/a", "x/ya", false, false},
		{"**/a", "x/a/b", false, true},
		{"**/a", "/etc/a", false, true},
		{"**/a", "../a", false, true},
		{`a\-b`, "a-b", true, true},
		{`a\-b`, "ab", false, false},
		{`x[a\-c]`, "x-", true, true}, // no range
		{`x[a\-c]`, "xb", false, false},
		{`x[a\-c]`, "xc", true, true},
		{"a/**", "a", true, true},
		{"a/**", "a/b/c", true, true},
		{"a/**", "ab", false, false},
		{"a/**/b", "a/b", true, true},
		{"a/**/b", "a/x/y/b", true, true},
		{"a/**/b", "ab", false, false},
		{"a/**/**/b", "a/x/b", true, true},
		{"**/**", "a/b", true, true},
		{"**/*.go", "x/y.go", true, true},
		{"**/a/**/b/**", "x/a/y/b/z", true, true},
		{"/etc/**", "/etc/passwd", true, true},
		{"/etc/**", "etc/passwd", false, false},
		{"/etc/**", "../../etc/passwd", false, true},
		{"/srv/proj/*.go", "a.go", true, true},
		{"/srv/**", "a.go", true, true},
		{"/srv/**", ".", true, true},
		{"/**", "/", true, true},
		{"/*", "/a", true, true},
		{"/", "/", true, true},
		{"/", "/a", false, true},
		{"**/proj/**", "a", false, false}, // the root's own name is not considered
		{"**/proj/**", "/srv/proj/a", false, false},
		{"**/proj/**", "/srv/other/proj/a", false, true},
		{"/srv/*/a", "a", true, true},
		{"~/x/*", "/home/u/x/y", true, true},
		{"~/x/*", "~/x/y", false, true},
		{"caf\u00e9/*", "cafe\u0301/x", false, true},
		{"CAF\u00c9", "caf\u00e9", false, true},
		{"stra\u00dfe", "STRASSE", false, true},
		{"?", "\u00df", true, true},
		{"[!a]x", "Ax", true, true},
		{"[!\u00dc]x", "\u00fcx", true, true},
		{"/srv/proj/[!a]x", "Ax", true, true},
	} {
		for polarity, want := range map[bool]bool{permissive: c.grant, restrictive: c.catch} {
			m := compile(t, spec(condition.Glob, c.glob), aPath, polarity, project)
			if got := m.Match([]byte(c.value)); got != want {
				t.Errorf("glob %q, restrictive %v, on %q: %v, want %v", c.glob, polarity, c.value, got, want)
			}
		}
	}
	up := compile(t, spec(condition.Glob, "../*.key"), aPath, restrictive, project)
	if !up.Match([]byte("../a.key")) || !up.Match([]byte("/srv/a.key")) || up.Match([]byte("a.key")) {
		t.Error("a restrictive glob may climb")
	}
}

// Proves K18.
func TestK18_GlobOnStrings(t *testing.T) {
	m := compile(t, spec(condition.Glob, "a*/[/]{x,y/z}?"), aString, permissive, nowhere)
	for value, want := range map[string]bool{"a/b//y/z/": true, "a//xq": true, "a/x": false} {
		if got := m.Match([]byte(value)); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

// Proves K18.
func TestK18_GlobErrors(t *testing.T) {
	for _, c := range []struct {
		glob   string
		target condition.Target
		offset int
	}{
		{"a!(b", aPath, 1},
		{`a!(b\`, aPath, 1},
		{"a!()", aPath, 1},
		{"a!(b|c?)", aPath, 6},
		{"a!([b])", aPath, 3},
		{"a!({b,c})", aPath, 3},
		{"a!(b/c)", aPath, 4},
		{"a*!(b)", aPath, 2},
		{"a!(b)*", aPath, 1},
		{"a[b", aPath, 1},
		{"a[", aPath, 1},
		{"a[]b", aPath, 2},
		{"a[!]b", aPath, 3},
		{"a[^b]", aPath, 2},
		{"a[[:alpha:]]", aPath, 2},
		{"a[b-a]", aPath, 2},
		{"a[b-", aPath, 1},
		{`a[\`, aPath, 1},
		{"a[/]", aPath, 1},
		{"a{b", aPath, 1},
		{"a{b,{c}", aPath, 1},
		{"a}", aPath, 1},
		{"a{}", aPath, 2},
		{`a\`, aPath, 1},
		{"a**", aPath, 1},
		{"x/**b", aPath, 2},
		{"***", aPath, 0},
		{"a//b", aPath, 2},
		{"a/./b", aPath, 2},
		{"a/../b", aPath, 2},
		{"../a", aPath, 0},
		{"a/", aPath, 1},
		{"/a//b", aPath, 3},
		{"", aPath, 0},
		{"cafe\u0301", aPath, -1},
		{"a**", aString, 1},
		{strings.Repeat("{a,b}", 11), aPath, 50},
	} {
		bad := specError(t, spec(condition.Glob, c.glob), c.target, permissive, nowhere)
		if bad.Offset != c.offset || bad.Index != 0 || bad.Message == "" {
			t.Errorf("%q: %+v, want offset %d", c.glob, bad, c.offset)
		}
	}
	bad := specError(t, spec(condition.Glob, "a", "b[", "c"), aPath, restrictive, nowhere)
	if bad.Index != 1 || bad.Error() != "glob: an opening bracket without a closing one (at byte 1)" {
		t.Errorf("got %+v", bad)
	}
	specError(t, spec(condition.Glob, "/../a"), aPath, restrictive, nowhere)
	specError(t, spec(condition.Glob, "../../a/../b"), aPath, restrictive, nowhere)
}

// Proves K12: a glob whose automaton would be too large is evaluated on the complete value, with
// the same result.
func TestGlobBeyondTheAutomaton(t *testing.T) {
	huge := "*a" + strings.Repeat("?", 20) + "*b" + strings.Repeat("?", 20)
	for _, target := range []condition.Target{aString, aPath} {
		for _, polarity := range []bool{permissive, restrictive} {
			m := compile(t, spec(condition.Glob, huge), target, polarity, project)
			if m.Incremental() {
				t.Fatal("the glob was not too large")
			}
			value := "xa" + strings.Repeat("y", 20) + "zb" + strings.Repeat("q", 20)
			if !m.Match([]byte(value)) || m.Match([]byte(value[1:])) != true || m.Match([]byte(value[2:])) {
				t.Errorf("%v, restrictive %v: the answers differ", target, polarity)
			}
			if got := m.Match([]byte(strings.ToUpper(value))); got != (target == aPath && polarity == restrictive) {
				t.Errorf("%v, restrictive %v: upper case: %v", target, polarity, got)
			}
			if m.Match([]byte(strings.Repeat("\u00fc", 5))) {
				t.Error("another value matches")
			}
			var s condition.State
			m.Start(&s)
			if r, n := m.Feed(&s, []byte(value)); r != condition.Undecided || n != len(value) {
				t.Errorf("fed: %v after %d", r, n)
			}
			if r := m.End(&s); (r == condition.Hit) != (polarity == restrictive) {
				t.Errorf("end: %v, want the strict answer", r)
			}
		}
	}
	m := compile(t, spec(condition.Glob, huge), expands, restrictive, project)
	if !m.Match([]byte("x*")) {
		t.Error("a value with wildcards is suspect where it cannot be compared")
	}
	m = compile(t, spec(condition.Glob, "/srv/proj/"+huge), aPath, restrictive, project)
	if !m.Match([]byte("xa" + strings.Repeat("y", 20) + "zb" + strings.Repeat("q", 20))) {
		t.Error("the absolute form of a relative path")
	}
}

// naiveGlob matches component by component with doublestar. (For complete paths doublestar requires
// a component for some trailing "**".)
func naiveGlob(glob, path []string) bool {
	switch {
	case len(glob) == 0:
		return len(path) == 0
	case glob[0] == "**":
		return naiveGlob(glob[1:], path) || len(path) > 0 && naiveGlob(glob, path[1:])
	}
	return len(path) > 0 && doublestar.MatchUnvalidated(glob[0], path[0]) && naiveGlob(glob[1:], path[1:])
}

// Proves K18.
func TestGlobAgainstAnOracle(t *testing.T) {
	component := `(\*\*|[ab*?]{1,3}|\[ab\]|\[!a\]b|a\*b|\{a,b[ab]\})`
	property.Check(t, func(t *rapid.T) {
		glob := strings.Split(rapid.StringMatching(component+`(/`+component+`){0,3}`).Draw(t, "glob"), "/")
		for i, c := range glob {
			if c != "**" {
				glob[i] = strings.ReplaceAll(strings.ReplaceAll(c, "**", "*"), "**", "*")
			}
		}
		path := strings.Split(rapid.StringMatching(`[abc]{1,3}(/[abc]{1,3}){0,4}`).Draw(t, "path"), "/")
		s, value := spec(condition.Glob, strings.Join(glob, "/")), []byte(strings.Join(path, "/"))
		may, err1 := tryCompile(s, aPath, permissive, nowhere)
		must, err2 := tryCompile(s, aPath, restrictive, project)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if got, want := may.Match(value), naiveGlob(glob, path); got != want {
			t.Fatalf("glob %q on %q: %v, want %v", glob, path, got, want)
		}
		below := false
		for n := range len(path) + 1 {
			below = below || naiveGlob(glob, path[:n])
		}
		if got := must.Match(value); got != below {
			t.Fatalf("restrictive glob %q on %q: %v, want %v", glob, path, got, below)
		}
	})
}

// FuzzGlob checks that a glob is either rejected with an offset inside it, or evaluates any path,
// and that the restrictive matcher matches whenever the permissive one does.
func FuzzGlob(f *testing.F) {
	for _, s := range []string{"**/*.go", "{a,b[c-d]}/?", `\{x`, "a/**/b", "[!\u00fc]"} {
		f.Add(s, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, glob, path string) {
		s := spec(condition.Glob, glob)
		may, err := tryCompile(s, aPath, permissive, project)
		if err != nil {
			if bad := err.(*condition.SpecError); bad.Offset < -1 || bad.Offset > len(glob) {
				t.Fatalf("%q: offset %d", glob, bad.Offset)
			}
			return
		}
		must, err := tryCompile(s, aPath, restrictive, project)
		if err != nil {
			t.Fatalf("%q is refused for suspicion only: %v", glob, err)
		}
		if may.Match([]byte(path)) && !must.Match([]byte(path)) {
			t.Fatalf("%q grants %q and does not suspect it", glob, path)
		}
	})
}
