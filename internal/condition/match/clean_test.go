package match_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/testkit/property"

	"github.com/stopgate/stopgate/internal/condition/match"
)

// Proves K4, D25-19.
func TestK4_Clean(t *testing.T) {
	for _, c := range []struct {
		path, cleaned string
		plain         bool
	}{
		{"src/a", "src/a", true},
		{"src//a", "src/a", true},
		{"src/./a", "src/a", true},
		{"src/x/../a", "src/a", true},
		{"src/", "src/", true},
		{"src//", "src/", true},
		{"src/.", "src/", true},
		{"src/x/..", "src/", true},
		{"./src", "./src", true},
		{"././src", "./src", true},
		{".//src", "./src", true},
		{"./-rf", "./-rf", true},
		{"./x/../-rf", "./-rf", true},
		{"-rf", "-rf", false},
		{"x/../-rf", "-rf", false},
		{"./~", "./~", true},
		{"/srv/./proj/x/../a", "/srv/proj/a", true},
		{"/", "/", true},
		{"/a/..", "/", true},
		{"//etc", "/etc", false},
		{".", ".", true},
		{"./", "./", true},
		{"a/..", "./", true},
		{"./a/..", "./", true},
		{"", "", false},
		{"..", "..", false},
		{"../x", "../x", false},
		{"./../x", "../x", false},
		{"a/../../x", "../x", false},
		{"../", "../", false},
		{"/../x", "/x", false},
		{"...", "...", false},
		{"a..b", "a..b", true},
	} {
		cleaned, plain := match.Clean(c.path)
		if cleaned != c.cleaned || plain != c.plain {
			t.Errorf("%q: %q, plain %v; want %q, plain %v", c.path, cleaned, plain, c.cleaned, c.plain)
		}
	}
}

// naiveResolve resolves a path component by component.
func naiveResolve(path string) string {
	var out []string
	for _, c := range strings.Split(path, "/") {
		switch c {
		case "", ".":
		case "..":
			if len(out) > 0 && out[len(out)-1] != ".." {
				out = out[:len(out)-1]
			} else if !strings.HasPrefix(path, "/") {
				out = append(out, "..")
			}
		default:
			out = append(out, c)
		}
	}
	if strings.HasPrefix(path, "/") {
		return "/" + strings.Join(out, "/")
	}
	return strings.Join(out, "/")
}

// Proves K4.
func TestCleanKeepsTheMeaning(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`/?((\.|\.\.|a|b|-c|)/){0,5}(\.|\.\.|a|)`).Draw(t, "path")
		cleaned, _ := match.Clean(path)
		second, _ := match.Clean(cleaned)
		if second != cleaned {
			t.Fatalf("%q: %q, then %q", path, cleaned, second)
		}
		if naiveResolve(cleaned) != naiveResolve(path) {
			t.Fatalf("%q: %q is another place", path, cleaned)
		}
		if strings.HasPrefix(path, "/") != strings.HasPrefix(cleaned, "/") || strings.Contains(cleaned, "//") {
			t.Fatalf("%q: %q", path, cleaned)
		}
		if strings.HasSuffix(path, "/") && !strings.HasSuffix(cleaned, "/") {
			t.Fatalf("%q: %q lost its separator", path, cleaned)
		}
	})
}

// Proves C1, C8, C9, C11: the fast path of an examination agrees with the slow one on every path of
// up to five significant bytes, and on longer ones with device names.
func TestExamineTheShortWay(t *testing.T) {
	same := func(path string) bool {
		short, long := match.Examine(path), match.ExamineComponents(path)
		if path == "" || strings.HasPrefix(path, "//") {
			long = match.Examined{} // rejected before
		}
		if short != long {
			t.Errorf("%q: %+v, component by component %+v", path, short, long)
		}
		return short == long
	}
	var grow func(path string, left int) bool
	grow = func(path string, left int) bool {
		if !same(path) {
			return false
		}
		for _, c := range "a/. ~-\\*A1" {
			if left > 0 && !grow(path+string(c), left-1) {
				return false
			}
		}
		return true
	}
	grow("", 5)
	component := rapid.SampledFrom([]string{"con", "CON", "Con.txt", "nul", "lpt1", "com\u00b9", "com10", "prn .x", "config", "auxiliary", "c", "co", "conin$",
		"src", ".env", ".", "..", "", "a.b", "a.", " a", "proc", "dev", "x~1", "~", "-x", "é", "a:b", "A"})
	property.Check(t, func(t *rapid.T) {
		path := strings.Join(rapid.SliceOfN(component, 1, 4).Draw(t, "components"), "/")
		if rapid.Bool().Draw(t, "absolute") {
			path = "/" + path
		}
		if !same(path) {
			t.Fatalf("%q", path)
		}
	})
}
