package kinds_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/testkit/property"

	"github.com/stopgate/stopgate/internal/condition/pathform"
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
		cleaned, plain := pathform.Clean(c.path)
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
		cleaned, _ := pathform.Clean(path)
		second, _ := pathform.Clean(cleaned)
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
