package kinds_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// Proves D25-19, C1, C6, C7, K18, K19: a condition or a group gives the same result for its first
// value, before anything is built, as for later ones, for any globs, root and value; and a group
// gives the results of its members.
func TestFirstAndLaterValues(t *testing.T) {
	pieces := []string{
		"src", "a", "Env", ".env", "K", "é", "É", "ﬁ", "ſ", "℀", "proj", "srv", "..", "*", "**", "?", "[!a]", "[a-e]", "{a,src}", "{.env,b/a}",
		"!(x)", ".env!(*.x|local)", "a!(b)", "\ufffd",
	}
	roots := []string{"", "/", "/srv/proj", "/SRV/Ａ/é", "/src/a/c", "/proc/1"}
	plain := append(slices.Clone(valuePieces), "proj", ".env.local", "Env", "ſ", "a/c", "\xff", "\ufffd", "x.envx", ".env.x")
	path := func(t *rapid.T, name string, from []string) string {
		begin := rapid.SampledFrom([]string{"", "", "", "/", "**/", "~/", "../", "/srv/proj/"}).Draw(t, name+" begins")
		return begin + strings.Join(rapid.SliceOfN(rapid.SampledFrom(from), 1, 4).Draw(t, name), rapid.SampledFrom([]string{"/", "/", ""}).Draw(t, name+" between"))
	}
	compiled := 0
	property.Check(t, func(t *rapid.T) {
		env := condition.Env{Root: rapid.SampledFrom(roots).Draw(t, "root"), Home: rapid.SampledFrom([]string{"", "/home/u", "/srv/proj"}).Draw(t, "home")}
		polarity := rapid.Bool().Draw(t, "restrictive")
		type fitted struct {
			spec   condition.Spec
			target condition.Target
		}
		var all []fitted
		for range rapid.IntRange(1, 3).Draw(t, "conditions") {
			kind := rapid.SampledFrom([]condition.Kind{condition.Glob, condition.Glob, condition.Suffix, condition.Prefix, condition.Pattern}).Draw(t, "kind")
			c := fitted{spec(kind, path(t, "text", pieces)), rapid.SampledFrom([]condition.Target{aPath, expands}).Draw(t, "target")}
			if _, err := tryCompile(c.spec, c.target, polarity, env); err == nil {
				all = append(all, c)
			}
		}
		make := func() (members []*match.Matcher, group *pathname.Group, grouped []bool) {
			group = pathname.NewGroup(env, polarity)
			for i, c := range all {
				m, err := tryCompile(c.spec, c.target, polarity, env)
				if err != nil {
					t.Fatal(err)
				}
				members, grouped = append(members, m), append(grouped, addTo(group, m, int32(i)))
			}
			group.Build()
			return members, group, grouped
		}
		compiled += len(all)
		value := path(t, "value", plain)
		var v condition.Value
		later, laterGroup, _ := make()
		for range 60 {
			v.Reset([]byte("some/other/path"))
			laterGroup.Find(&v, nil)
			for _, m := range later {
				m.Match([]byte("some/other/path"))
			}
		}
		first, firstGroup, grouped := make()
		v.Reset([]byte(value))
		found, _ := firstGroup.Find(&v, nil)
		foundLater, _ := laterGroup.Find(&v, nil)
		for i := range all {
			want := later[i].Match([]byte(value))
			if got := first[i].Match([]byte(value)); got != want {
				t.Fatalf("%+v: %q: %t first, %t later", all[i], value, got, want)
			}
			for name, list := range map[string][]int32{"first": found, "later": foundLater} {
				if got := slices.Contains(list, int32(i)); grouped[i] && got != want {
					t.Fatalf("%+v: %q: %t in a group, %s, %t alone", all[i], value, got, name, want)
				}
			}
		}
	})
	if compiled == 0 {
		t.Error("nothing compiled")
	}
}

// Proves E1, E5: globs for one word mean the same as globs for complete strings, with and without
// braces, and a negated class matches all other characters.
func TestWordGlobs(t *testing.T) {
	pieces := []string{"a", "b", "ab", ",", "{a,b}", "{ab,}", "{a", "b}", "{,}", "{}", "*", "?", "[ab]", "[!a]", "[!b-z]", `\{`, `\,`, "é", "\xff", "{{a,b},c}"}
	property.Check(t, func(t *rapid.T) {
		glob := "w" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 4).Draw(t, "glob"), "")
		word := "w" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "ab", ",", "é", "{"}), 0, 4).Draw(t, "word"), "")
		usage, err := tryCompile(spec(condition.Usage, "p "+glob), aCommand, permissive, project)
		text, wrong := tryCompile(spec(condition.Glob, glob), aString, permissive, project)
		if strings.Count(glob, "*") > 1 || strings.Contains(glob, "\xff") {
			return // applies to strings only
		}
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%q: %v as a word, %v as a string", glob, err, wrong)
		}
		if err != nil || strings.Contains(word, "{") {
			return
		}
		if got, want := usage.Match([]byte("p "+word)), text.Match([]byte(word)); got != want {
			t.Fatalf("%q: %q: %t as a word, %t as a string", glob, word, got, want)
		}
	})
}
