package kinds_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathname"
)

// valuePieces are combined to values: names of the rules, and disguises.
var valuePieces = []string{
	"src", "a", "b", ".env", "SRC", "Src", "é", "e\u0301", "É", "ﬁ", "..", ".", "", "srv", "proj", "etc", "home", "u", "proc", "src.", "src ",
	"~", "$HOME", "%2e%2e", "a;b", "C:", "src:x", "-rf", "a\u200b", "a*", "nul", `a\b`, "x\x00", "ENV~1", "K",
}

// Proves D25-19, K18, K19, C1-C19: a group finds the conditions that hold when evaluated one by
// one, on plain and on disguised values.
func TestPathGroupAgreesWithItsMembers(t *testing.T) {
	values := 800
	if testing.Short() {
		values = 200
	}
	literals := []string{
		"src", "src/", "src/a", "src/a/b", "a", ".env", "é", "É/a", "k", "/", "/srv", "/srv/proj", "/srv/proj/src", "/srv/proj/src/a", "/etc", "/etc/a", "/home/u",
		"/home/u/.env", "srv/proj", "SRC", "/SRV/proj/a", "ﬁ", "src/*", "src/**", "Src/**/b", "s*/a", "src/a*", "src/?/b", "a/**/a", "/srv/**", "/srv/proj/**", "/SRV/proj/s*", "/*/a",
		"/etc/a?", "**/a", "src/{a,b}", "src/a[ab]",
	}
	found := 0
	for i, env := range []condition.Env{project, nowhere, {Root: "/"}, {Root: "/proc/1"}, {Root: "/SRV/Proj"}} {
		for _, polarity := range []bool{permissive, restrictive} {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			group := pathname.NewGroup(env, polarity)
			var members []*match.Matcher
			for _, text := range literals {
				for _, kind := range []condition.Kind{condition.Prefix, condition.Const, condition.Glob, condition.Suffix, condition.Pattern} {
					m, err := tryCompile(spec(kind, text), aPath, polarity, env)
					if err != nil { // not canonical for this kind or polarity
						continue
					}
					if strings.ContainsAny(text, "*?[{") && kind != condition.Glob {
						continue
					}
					if !addTo(group, m, int32(len(members))) {
						t.Fatalf("%v %q cannot be looked up", kind, text)
					}
					members = append(members, m)
				}
			}
			both := compile(t, spec(condition.Enum, "src/b", ".env", "/etc/a"), aPath, polarity, env)
			addTo(group, both, int32(len(members)))
			members = append(members, both)
			group.Build()
			var v condition.Value
			for range values {
				var parts []string
				for range 1 + r.IntN(4) {
					parts = append(parts, valuePieces[r.IntN(len(valuePieces))])
				}
				value := []string{"", "", "/", "/srv/proj/", "//", "/SRV/PROJ/"}[r.IntN(6)] + strings.Join(parts, "/")
				v.Reset([]byte(value))
				got, _ := group.Find(&v, nil)
				for m, one := range members {
					want := one.Match([]byte(value))
					if want {
						found++
					}
					if slices.Contains(got, int32(m)) != want {
						t.Fatalf("env %v restrictive %t: %q: member %d (%q) %t alone", env, polarity, value, m, one.Written(), want)
					}
				}
			}
		}
	}
	if found < values {
		t.Errorf("only %d answers were yes", found)
	}
}

// A group rejects conditions that no look-up finds.
func TestPathGroupRefuses(t *testing.T) {
	group := pathname.NewGroup(project, restrictive)
	for _, m := range []*match.Matcher{
		compile(t, spec(condition.Glob, "[!a]"), aPath, restrictive, project),
		compile(t, spec(condition.Glob, "src/*"), expands, restrictive, project),
		compile(t, spec(condition.Pattern, "a"), expands, restrictive, project),
		compile(t, spec(condition.Prefix, "../a"), aPath, restrictive, project),
		compile(t, spec(condition.Prefix, "~/a"), aPath, restrictive, project),
		compile(t, spec(condition.Prefix, "a"), expands, restrictive, project),
		compile(t, spec(condition.Prefix, "a"), aString, restrictive, project),
	} {
		if addTo(group, m, 0) {
			t.Errorf("%v %q was taken", m.Kind(), m.Written())
		}
	}
	group.Build()
	var v condition.Value
	v.Reset([]byte("a"))
	if got, _ := group.Find(&v, nil); len(got) > 0 {
		t.Errorf("an empty group finds %v", got)
	}
}
