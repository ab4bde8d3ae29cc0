package kinds_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/patch"
	"github.com/stopgate/stopgate/internal/prove/inclusion"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/schema"
)

var aPatch = condition.Target{Type: schema.String, Annotation: schema.Patch}

func patchOf(files ...string) string {
	text := "*** Begin Patch\n"
	for _, f := range files {
		text += "*** Delete File: " + f + "\n"
	}
	return text + "*** End Patch"
}

// Proves S40: a restrictive condition on a patch holds for any of its files, a permissive one for
// all, and neither for a text that cannot be parsed.
func TestPatches(t *testing.T) {
	for _, c := range []struct {
		spec        condition.Spec
		value       string
		may, suspec bool
	}{
		{spec(condition.Prefix, "src"), patchOf("src/a"), true, true},
		{spec(condition.Prefix, "src"), patchOf("src/a", "b"), false, true},
		{spec(condition.Prefix, "src"), patchOf("b"), false, false},
		{spec(condition.Prefix, "src"), patchOf("src/../b"), false, false},
		{spec(condition.Prefix, "src"), patchOf("src/./a"), false, true},
		{spec(condition.Prefix, "src"), patchOf("/srv/proj/src/a"), true, true},
		{spec(condition.Glob, "**/.env*"), patchOf("a", "x/.ENV"), false, true},
		{spec(condition.Glob, "**/*.go"), "--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n", true, true},
		{spec(condition.Suffix, ".go"), patchOf("x.go"), true, true},
		{spec(condition.Const, "x"), patchOf("x"), true, true},
		{spec(condition.Enum, "x", "y"), patchOf("x", "y"), true, true},
		{spec(condition.Pattern, "^src/"), patchOf("src/x"), true, true},
		{spec(condition.Prefix, "src"), "src/a", false, false},
		{spec(condition.Prefix, "src"), "", false, false},
		{spec(condition.MaxLength, "9"), patchOf("src/a"), false, true},
	} {
		if c.spec.Kind == condition.MaxLength {
			c.spec.Values = []condition.Literal{{Kind: condition.LiteralNumber, Text: "9"}}
		}
		if got := compile(t, c.spec, aPatch, permissive, project).Match([]byte(c.value)); got != c.may {
			t.Errorf("%v permits %q: %v", c.spec, c.value, got)
		}
		if got := compile(t, c.spec, aPatch, restrictive, project).Match([]byte(c.value)); got != c.suspec && c.spec.Kind != condition.MaxLength {
			t.Errorf("%v suspects %q: %v", c.spec, c.value, got)
		}
	}
	m := compile(t, spec(condition.Prefix, "src"), aPatch, restrictive, project)
	if inclusion.Covers(m, m) != regular.NotProven {
		t.Error("patches are compared")
	}
	var v condition.Value
	v.Reset([]byte("a\xff"))
	if patch.Readable(&v) {
		t.Error("a broken text is a patch")
	}
}
