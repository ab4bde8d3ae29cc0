package match_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval/schema"
)

var aPatch = match.Target{Type: schema.String, Annotation: schema.Patch}

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
		spec        match.Spec
		value       string
		may, suspec bool
	}{
		{spec(match.Prefix, "src"), patchOf("src/a"), true, true},
		{spec(match.Prefix, "src"), patchOf("src/a", "b"), false, true},
		{spec(match.Prefix, "src"), patchOf("b"), false, false},
		{spec(match.Prefix, "src"), patchOf("src/../b"), false, false},
		{spec(match.Prefix, "src"), patchOf("src/./a"), false, true},
		{spec(match.Prefix, "src"), patchOf("/srv/proj/src/a"), true, true},
		{spec(match.Glob, "**/.env*"), patchOf("a", "x/.ENV"), false, true},
		{spec(match.Glob, "**/*.go"), "--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n", true, true},
		{spec(match.Suffix, ".go"), patchOf("x.go"), true, true},
		{spec(match.Const, "x"), patchOf("x"), true, true},
		{spec(match.Enum, "x", "y"), patchOf("x", "y"), true, true},
		{spec(match.Pattern, "^src/"), patchOf("src/x"), true, true},
		{spec(match.Prefix, "src"), "src/a", false, false},
		{spec(match.Prefix, "src"), "", false, false},
		{spec(match.MaxLength, "9"), patchOf("src/a"), false, true},
	} {
		if c.spec.Kind == match.MaxLength {
			c.spec.Values = []match.Literal{{Kind: match.LiteralNumber, Text: "9"}}
		}
		if got := compile(t, c.spec, aPatch, permissive, project).Match([]byte(c.value)); got != c.may {
			t.Errorf("%v permits %q: %v", c.spec, c.value, got)
		}
		if got := compile(t, c.spec, aPatch, restrictive, project).Match([]byte(c.value)); got != c.suspec && c.spec.Kind != match.MaxLength {
			t.Errorf("%v suspects %q: %v", c.spec, c.value, got)
		}
	}
	m := compile(t, spec(match.Prefix, "src"), aPatch, restrictive, project)
	if match.Covers(m, m) != match.NotProven {
		t.Error("patches are compared")
	}
	var v match.Value
	v.Reset([]byte("a\xff"))
	if _, ok := v.PatchFiles(); ok {
		t.Error("a broken text is a patch")
	}
}
