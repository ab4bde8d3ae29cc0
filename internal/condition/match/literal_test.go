package match_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition/match"
)

// Proves C17, K20, D25-31, D25-32.
func TestC17_LiteralsAreCanonical(t *testing.T) {
	for _, c := range []struct {
		kind     match.Kind
		literal  string
		polarity bool
		offset   int // -2: legal
		hint     string
	}{
		{match.Prefix, "src", permissive, -2, ""},
		{match.Prefix, "src/", permissive, -2, ""},
		{match.Prefix, "src//", permissive, 3, "`src`"},
		{match.Const, "src/", permissive, 3, "`src`"},
		{match.Prefix, "", permissive, -1, "`glob = \"**\"` is everything below the root"},
		{match.Prefix, ".", restrictive, -1, "`glob = \"**\"` is everything below the root"},
		{match.Prefix, "./", restrictive, -1, "`glob = \"**\"` is everything below the root"},
		{match.Prefix, "src/../", permissive, -1, "`glob = \"**\"` is everything below the root"},
		{match.Prefix, "src/../lib", restrictive, 0, "`lib`"},
		{match.Const, "a//b", permissive, 2, "`a/b`"},
		{match.Const, "./a", permissive, 0, "`a`"},
		{match.Const, "a/./b", restrictive, 2, "`a/b`"},
		{match.Prefix, `src\a`, restrictive, -1, "`src/a`"},
		{match.Const, "a\x00", restrictive, -1, ""},
		{match.Const, "a\u200bb", restrictive, -1, ""},
		{match.Const, "cafe\u0301", restrictive, -1, "`caf\u00e9`"},
		{match.Const, "\uff0eenv", permissive, -1, ""},
		{match.Prefix, "../x", restrictive, -2, ""},
		{match.Prefix, "../x", permissive, -1, "write an absolute path"},
		{match.Prefix, "/", permissive, -2, ""},
		{match.Prefix, "/srv/cache/", permissive, -2, ""},
		{match.Prefix, "C:/x", permissive, -1, ""},
		{match.Prefix, "C:/x", restrictive, -2, ""},
		{match.Prefix, "/proc/self", permissive, -1, ""},
		{match.Prefix, "-x", permissive, -1, ""},
		{match.Prefix, "~/x", permissive, -2, ""},
		{match.Prefix, "~/.ssh", restrictive, -2, ""},
		{match.Prefix, "$HOME/x", permissive, -1, ""},
		{match.Suffix, ".go", permissive, -2, ""},
		{match.Suffix, "", permissive, -1, "leave the condition out"},
		{match.Suffix, "/", permissive, -1, ""},
		{match.Suffix, "a\n", permissive, -1, ""},
	} {
		s := spec(match.Enum, "a", c.literal, "b")
		if c.kind != match.Const {
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
		kind         match.Kind
		literal      string
		env          match.Env
		value        string
		grant, catch bool
	}{
		{"const", match.Const, "src/a", project, "src/x/../a", true, true},
		{"const with a separator", match.Const, "src/a", project, "src/a/", true, true},
		{"const below", match.Const, "src/a", project, "src/a/b", false, false},
		{"const absolute value", match.Const, "src/a", project, "/srv/proj/src/a", true, true},
		{"absolute literal", match.Prefix, "/srv/cache/", project, "/srv/cache/x", true, true},
		{"absolute literal, other place", match.Prefix, "/srv/cache/", project, "cache/x", false, false},
		{"absolute literal, climbing value", match.Prefix, "/srv/cache/", project, "../cache/x", false, true},
		{"absolute literal below the root", match.Prefix, "/srv/proj/src", project, "src/a", true, true},
		{"absolute literal is the root", match.Prefix, "/srv/proj", project, ".", true, true},
		{"absolute literal above the root", match.Prefix, "/srv", project, "src/a", true, true},
		{"absolute literal, no root", match.Prefix, "/srv/proj/src", nowhere, "src/a", false, false},
		{"relative literal, no root", match.Prefix, "src", nowhere, "/srv/proj/src/a", false, true},
		{"relative literal at the top, no root", match.Prefix, "src", nowhere, "/src", false, true},
		{"relative literal, part of a name, no root", match.Prefix, "src", nowhere, "/xsrc", false, false},
		{"relative const, no root", match.Const, "src/a", nowhere, "/x/src/a", false, true},
		{"relative glob, no root", match.Glob, "src/*", nowhere, "/x/src/a", false, true},
		{"double star, no root", match.Glob, "**/.env", nowhere, "/x/.env", false, true},
		{"empty value", match.Glob, "**", project, "", false, true},
		{"option", match.Glob, "**", project, "-rf", false, true},
		{"option after cleaning", match.Glob, "**", project, "x/../-rf", false, true},
		{"option behind a dot", match.Glob, "**", project, "./-rf", true, true},
		{"suffix", match.Suffix, ".go", project, "src/a.go", true, true},
		{"suffix is the name", match.Suffix, ".go", project, ".go", true, true},
		{"suffix outside the root", match.Suffix, ".go", project, "/etc/a.go", false, true},
		{"suffix in another case", match.Suffix, ".PEM", project, "a.pem", false, true},
		{"suffix with a directory", match.Suffix, "/id_rsa", project, "x/id_rsa", true, true},
		{"suffix with a directory, bare name", match.Suffix, "/id_rsa", project, "id_rsa", false, true},
		{"pattern", match.Pattern, "^src/[a-z]+$", project, "src/./x/../a", true, true},
		{"pattern on an absolute value", match.Pattern, "^src/[a-z]+$", project, "/srv/proj/src/a", true, true},
		{"pattern on another place", match.Pattern, "^/etc/[a-z]+$", project, "/etc/hosts", true, true},
		{"pattern in another case", match.Pattern, "^src/[a-z]+$", project, "SRC/A", false, true},
		{"pattern on a disguised value", match.Pattern, `^\.env$`, project, `src\..\%2eenv`, false, true},
		{"pattern on the raw value", match.Pattern, "%2e", project, "%2e", false, true},
		{"pattern elsewhere", match.Pattern, "^lib/", project, "src/a", false, false},
		{"odd root", match.Prefix, "src", match.Env{Root: "/srv/./proj/"}, "/srv/proj/src/a", true, true},
		{"relative root is unknown", match.Prefix, "src", match.Env{Root: "proj"}, "/proj/src/a", false, true},
		{"root of the system", match.Prefix, "src", match.Env{Root: "/"}, "/src/a", true, true},
		{"root beyond ASCII", match.Prefix, "src", match.Env{Root: "/srv/\u00dc"}, "/srv/\u00dc/src/a", true, true},
		{"root beyond ASCII in another case", match.Prefix, "src", match.Env{Root: "/srv/\u00dc"}, "/srv/\u00fc/src/a", false, true},
		{"root in front of a name", match.Prefix, "/srv/proj", project, "/srv/projx", false, false},
		{"a long tail that is cut", match.Prefix, "src", project, "~" + string(make([]byte, 40000)), false, false},
		{"a long tail that is cut, inside", match.Prefix, "src", project, "src/a" + string(make([]byte, 40000)), false, true},
		{"not UTF-8", match.Prefix, "src", project, "src/\xff", false, true},
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
	m := compile(t, spec(match.Pattern, `^src/`), expands, restrictive, project)
	if m.Match([]byte("*/a")) || !may(m, "*/a") {
		t.Error("a pattern cannot be asked about wildcards")
	}
}
