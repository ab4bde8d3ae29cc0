package pathform_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/testkit/property"

	"github.com/stopgate/stopgate/internal/condition/pathform"
)

// Proves C1, C8, C9, C11: the fast path of an examination agrees with the slow one on every path of
// up to five significant bytes, and on longer ones with device names.
func TestExamineTheShortWay(t *testing.T) {
	same := func(path string) bool {
		short, long := pathform.Examine(path), pathform.ExamineComponents(path)
		if path == "" || strings.HasPrefix(path, "//") {
			long = pathform.Examined{} // rejected before
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
