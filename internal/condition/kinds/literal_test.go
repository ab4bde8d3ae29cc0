package kinds_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
)

// Proves C17, K20, D25-31, D25-32.
func TestC17_LiteralsAreCanonical(t *testing.T) {
	for _, c := range []struct {
		kind     condition.Kind
		literal  string
		polarity bool
		offset   int // -2: legal
		hint     string
	}{
		{condition.Prefix, "src", permissive, -2, ""},
		{condition.Prefix, "src/", permissive, -2, ""},
		{condition.Prefix, "src//", permissive, 3, "`src`"},
		{condition.Const, "src/", permissive, 3, "`src`"},
		{condition.Prefix, "", permissive, -1, "`glob = \"**\"` is everything below the root"},
		{condition.Prefix, ".", restrictive, -1, "`glob = \"**\"` is everything below the root"},
		{condition.Prefix, "./", restrictive, -1, "`glob = \"**\"` is everything below the root"},
		{condition.Prefix, "src/../", permissive, -1, "`glob = \"**\"` is everything below the root"},
		{condition.Prefix, "src/../lib", restrictive, 0, "`lib`"},
		{condition.Const, "a//b", permissive, 2, "`a/b`"},
		{condition.Const, "./a", permissive, 0, "`a`"},
		{condition.Const, "a/./b", restrictive, 2, "`a/b`"},
		{condition.Prefix, `src\a`, restrictive, -1, "`src/a`"},
		{condition.Const, "a\x00", restrictive, -1, ""},
		{condition.Const, "a\u200bb", restrictive, -1, ""},
		{condition.Const, "cafe\u0301", restrictive, -1, "`caf\u00e9`"},
		{condition.Const, "\uff0eenv", permissive, -1, ""},
		{condition.Prefix, "../x", restrictive, -2, ""},
		{condition.Prefix, "../x", permissive, -1, "write an absolute path"},
		{condition.Prefix, "/", permissive, -2, ""},
		{condition.Prefix, "/srv/cache/", permissive, -2, ""},
		{condition.Prefix, "C:/x", permissive, -1, ""},
		{condition.Prefix, "C:/x", restrictive, -2, ""},
		{condition.Prefix, "/proc/self", permissive, -1, ""},
		{condition.Prefix, "-x", permissive, -1, ""},
		{condition.Prefix, "~/x", permissive, -2, ""},
		{condition.Prefix, "~/.ssh", restrictive, -2, ""},
		{condition.Prefix, "$HOME/x", permissive, -1, ""},
		{condition.Suffix, ".go", permissive, -2, ""},
		{condition.Suffix, "", permissive, -1, "leave the condition out"},
		{condition.Suffix, "/", permissive, -1, ""},
		{condition.Suffix, "a\n", permissive, -1, ""},
	} {
		s := spec(condition.Enum, "a", c.literal, "b")
		if c.kind != condition.Const {
			s = spec(c.kind, "a", c.literal, "b")
		}
		if c.offset == -2 {
			compile(t, s, aPath, c.polarity, project)
			continue
		}
		bad := specError(t, s, aPath, c.polarity, project)
		if bad.Index != 1 || bad.Offset != c.offset || bad.Hint != c.hint {
			t.Errorf("%v %q: %+v, want offset %d, hint %s", c.kind, c.literal, bad, c.offset, c.hint)
		}
	}
}

// Proves C4, C17, K19, K20, D25-22.
func TestPathMatchers(t *testing.T) {
	for _, c := range []struct {
		name         string
		kind         condition.Kind
		literal      string
		env          condition.Env
		value        string
		grant, catch bool
	}{
		{"const", condition.Const, "src/a", project, "src/x/../a", true, true},
		{"const with a separator", condition.Const, "src/a", project, "src/a/", true, true},
		{"const below", condition.Const, "src/a", project, "src/a/b", false, false},
		{"const absolute value", condition.Const, "src/a", project, "/srv/proj/src/a", true, true},
		{"absolute literal", condition.Prefix, "/srv/cache/", project, "/srv/cache/x", true, true},
		{"absolute literal, other place", condition.Prefix, "/srv/cache/", project, "cache/x", false, false},
		{"absolute literal, climbing value", condition.Prefix, "/srv/cache/", project, "../cache/x", false, true},
		{"absolute literal below the root", condition.Prefix, "/srv/proj/src", project, "src/a", true, true},
		{"absolute literal is the root", condition.Prefix, "/srv/proj", project, ".", true, true},
		{"absolute literal above the root", condition.Prefix, "/srv", project, "src/a", true, true},
		{"absolute literal, no root", condition.Prefix, "/srv/proj/src", nowhere, "src/a", false, false},
		{"relative literal, no root", condition.Prefix, "src", nowhere, "/srv/proj/src/a", false, true},
		{"relative literal at the top, no root", condition.Prefix, "src", nowhere, "/src", false, true},
		{"relative literal, part of a name, no root", condition.Prefix, "src", nowhere, "/xsrc", false, false},
		{"relative const, no root", condition.Const, "src/a", nowhere, "/x/src/a", false, true},
		{"relative glob, no root", condition.Glob, "src/*", nowhere, "/x/src/a", false, true},
		{"double star, no root", condition.Glob, "**/.env", nowhere, "/x/.env", false, true},
		{"empty value", condition.Glob, "**", project, "", false, true},
		{"option", condition.Glob, "**", project, "-rf", false, true},
		{"option after cleaning", condition.Glob, "**", project, "x/../-rf", false, true},
		{"option behind a dot", condition.Glob, "**", project, "./-rf", true, true},
		{"suffix", condition.Suffix, ".go", project, "src/a.go", true, true},
		{"suffix is the name", condition.Suffix, ".go", project, ".go", true, true},
		{"suffix outside the root", condition.Suffix, ".go", project, "/etc/a.go", false, true},
		{"suffix in another case", condition.Suffix, ".PEM", project, "a.pem", false, true},
		{"suffix with a directory", condition.Suffix, "/id_rsa", project, "x/id_rsa", true, true},
		{"suffix with a directory, bare name", condition.Suffix, "/id_rsa", project, "id_rsa", false, true},
		{"pattern", condition.Pattern, "^src/[a-z]+$", project, "src/./x/../a", true, true},
		{"pattern on an absolute value", condition.Pattern, "^src/[a-z]+$", project, "/srv/proj/src/a", true, true},
		{"pattern on another place", condition.Pattern, "^/etc/[a-z]+$", project, "/etc/hosts", true, true},
		{"pattern in another case", condition.Pattern, "^src/[a-z]+$", project, "SRC/A", false, true},
		{"pattern on a disguised value", condition.Pattern, `^\.env$`, project, `src\..\%2eenv`, false, true},
		{"pattern on the raw value", condition.Pattern, "%2e", project, "%2e", false, true},
		{"pattern elsewhere", condition.Pattern, "^lib/", project, "src/a", false, false},
		{"odd root", condition.Prefix, "src", condition.Env{Root: "/srv/./proj/"}, "/srv/proj/src/a", true, true},
		{"relative root is unknown", condition.Prefix, "src", condition.Env{Root: "proj"}, "/proj/src/a", false, true},
		{"root of the system", condition.Prefix, "src", condition.Env{Root: "/"}, "/src/a", true, true},
		{"root beyond ASCII", condition.Prefix, "src", condition.Env{Root: "/srv/\u00dc"}, "/srv/\u00dc/src/a", true, true},
		{"root beyond ASCII in another case", condition.Prefix, "src", condition.Env{Root: "/srv/\u00dc"}, "/srv/\u00fc/src/a", false, true},
		{"root in front of a name", condition.Prefix, "/srv/proj", project, "/srv/projx", false, false},
		{"a long tail that is cut", condition.Prefix, "src", project, "~" + string(make([]byte, 40000)), false, false},
		{"a long tail that is cut, inside", condition.Prefix, "src", project, "src/a" + string(make([]byte, 40000)), false, true},
		{"not UTF-8", condition.Prefix, "src", project, "src/\xff", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for polarity, want := range map[bool]bool{permissive: c.grant, restrictive: c.catch} {
				m := compile(t, spec(c.kind, c.literal), aPath, polarity, c.env)
				if got := may(m, c.value); got != want {
					t.Errorf("restrictive %v, on %.60q: %v, want %v", polarity, c.value, got, want)
				}
				if m.Incremental() {
					t.Error("a path is decided on the whole value (K13)")
				}
			}
		})
	}
	m := compile(t, spec(condition.Pattern, `^src/`), expands, restrictive, project)
	if m.Match([]byte("*/a")) || !may(m, "*/a") {
		t.Error("a pattern cannot be asked about wildcards")
	}
}
