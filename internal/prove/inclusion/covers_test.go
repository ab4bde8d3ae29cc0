package inclusion_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/prove/inclusion"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/testkit/property"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/schema"
)

// Proves D25-33, D25-34, D25-35, D25-36, D25-38, K47.
func TestCovers(t *testing.T) {
	const yes, no, unproven = regular.Yes, regular.No, regular.NotProven
	str, num := spec, number
	mixed := func(values ...condition.Literal) condition.Spec {
		return condition.Spec{Kind: condition.Enum, Values: values}
	}
	text := func(s string) condition.Literal { return condition.Literal{Kind: condition.LiteralString, Text: s} }
	boolean := func(s string) condition.Literal { return condition.Literal{Kind: condition.LiteralBool, Text: s} }
	object := func(s string) condition.Literal { return condition.Literal{Kind: condition.LiteralObject, JSON: s} }
	anything := condition.Target{}
	list := condition.Target{Type: schema.Array}
	for _, c := range []struct {
		name           string
		target         condition.Target
		earlier, later condition.Spec
		want           [4]regular.Answer // permissive then permissive, restrictive; restrictive then permissive, restrictive
	}{
		{"path prefix, longer", aPath, str(condition.Prefix, "src/"), str(condition.Prefix, "src/lib/"), [4]regular.Answer{yes, yes, yes, yes}},
		{"path prefix, equal", aPath, str(condition.Prefix, "src"), str(condition.Prefix, "src/"), [4]regular.Answer{yes, yes, yes, yes}},
		{"path prefix, shorter", aPath, str(condition.Prefix, "src/lib"), str(condition.Prefix, "src"), [4]regular.Answer{no, no, no, no}},
		{"path prefix, longer name", aPath, str(condition.Prefix, "src"), str(condition.Prefix, "src-old/"), [4]regular.Answer{no, no, no, no}},
		{"string prefix, longer text", aString, str(condition.Prefix, "src"), str(condition.Prefix, "src-old/"), [4]regular.Answer{yes, yes, yes, yes}},
		{"path prefix, other case", aPath, str(condition.Prefix, "src"), str(condition.Prefix, "SRC/a"), [4]regular.Answer{no, no, yes, yes}},
		{"path prefix below a home", aPath, str(condition.Prefix, "src"), str(condition.Prefix, "~/src"), [4]regular.Answer{unproven, unproven, no, no}},
		{"const below a prefix", aPath, str(condition.Prefix, "src"), str(condition.Const, "src/a"), [4]regular.Answer{yes, yes, yes, yes}},
		{"const beside a prefix", aPath, str(condition.Prefix, "src"), str(condition.Const, "srcx"), [4]regular.Answer{no, no, no, no}},
		{"enum below a prefix", aPath, str(condition.Prefix, "src"), str(condition.Enum, "src/a", "src/b"), [4]regular.Answer{yes, yes, yes, yes}},
		{"enum partly below", aPath, str(condition.Prefix, "src"), str(condition.Enum, "src/a", "b"), [4]regular.Answer{no, no, no, no}},
		{"const in an enum", aString, str(condition.Enum, "a", "b"), str(condition.Const, "b"), [4]regular.Answer{yes, yes, yes, yes}},
		{"subset", aString, str(condition.Enum, "a", "b"), str(condition.Enum, "b", "a"), [4]regular.Answer{yes, yes, yes, yes}},
		{"superset", aString, str(condition.Const, "a"), str(condition.Enum, "a", "b"), [4]regular.Answer{no, no, no, no}},
		{"const and one member", aString, str(condition.Const, "a"), str(condition.Enum, "a"), [4]regular.Answer{yes, yes, yes, yes}},
		{"another spelling of a secret", aPath, str(condition.Const, ".env"), str(condition.Const, ".ENV"), [4]regular.Answer{no, no, yes, yes}},
		{"the form without spaces", aString, str(condition.Const, "jq"), str(condition.Const, "jq "), [4]regular.Answer{no, no, yes, yes}},
		{"prefix never in a const", aString, str(condition.Const, "a"), str(condition.Prefix, "a"), [4]regular.Answer{no, no, no, no}},
		{"suffix", aString, str(condition.Suffix, ".go"), str(condition.Suffix, "_test.go"), [4]regular.Answer{yes, yes, yes, yes}},
		{"longer suffix first", aString, str(condition.Suffix, "_test.go"), str(condition.Suffix, ".go"), [4]regular.Answer{no, no, no, no}},
		{"path suffix", aPath, str(condition.Suffix, ".go"), str(condition.Glob, "**/*.go"), [4]regular.Answer{yes, no, yes, no}},
		{"glob of a directory", aPath, str(condition.Glob, "src/**"), str(condition.Prefix, "src"), [4]regular.Answer{yes, yes, yes, yes}},
		{"prefix of a glob", aPath, str(condition.Prefix, "src"), str(condition.Glob, "src/*/x"), [4]regular.Answer{yes, yes, yes, yes}},
		{"glob in a glob", aPath, str(condition.Glob, "**/*.go"), str(condition.Glob, "src/*.go"), [4]regular.Answer{yes, no, yes, yes}},
		{"glob not in a glob", aPath, str(condition.Glob, "src/*.go"), str(condition.Glob, "**/*.go"), [4]regular.Answer{no, no, no, no}},
		{"star and one letter or more", aPath, str(condition.Glob, "a/?*"), str(condition.Glob, "a/*"), [4]regular.Answer{yes, no, yes, yes}},
		{"glob in another case", aPath, str(condition.Glob, "A*"), str(condition.Glob, "ab*"), [4]regular.Answer{no, no, yes, yes}},
		{"everything", aPath, str(condition.Glob, "**"), str(condition.Glob, "a/*"), [4]regular.Answer{yes, yes, yes, yes}},
		{"const in a glob", aPath, str(condition.Glob, "**/.env*"), str(condition.Const, "a/.env.x"), [4]regular.Answer{yes, yes, yes, yes}},
		{"one place, two names", aPath, str(condition.Glob, "/srv/proj/a*"), str(condition.Glob, "a*"), [4]regular.Answer{unproven, unproven, unproven, unproven}},
		{"glob below a home", aPath, str(condition.Glob, "~/a/**"), str(condition.Glob, "~/a/b*"), [4]regular.Answer{yes, yes, yes, yes}},
		{"string glob", aString, str(condition.Glob, "a*"), str(condition.Prefix, "ab"), [4]regular.Answer{yes, yes, yes, yes}},
		{"string glob in an enum", aString, str(condition.Enum, "a", "b"), str(condition.Glob, "[ab]"), [4]regular.Answer{yes, yes, yes, yes}},
		{"pattern, identical", aString, str(condition.Pattern, "^a$"), str(condition.Pattern, "^a$"), [4]regular.Answer{yes, yes, yes, yes}},
		{"pattern, other text", aString, str(condition.Pattern, "^a$"), str(condition.Pattern, "^(a)$"), [4]regular.Answer{}},
		{"pattern and const", aString, str(condition.Pattern, "^a+$"), str(condition.Const, "aa"), [4]regular.Answer{yes, yes, yes, yes}},
		{"pattern and another const", aString, str(condition.Pattern, "^a+$"), str(condition.Const, "b"), [4]regular.Answer{no, no, no, no}},
		{"pattern and prefix", aString, str(condition.Pattern, "^a"), str(condition.Prefix, "a"), [4]regular.Answer{}},
		{"prefix and pattern", aString, str(condition.Prefix, "a"), str(condition.Pattern, "^ab$"), [4]regular.Answer{}},
		{"huge glob", aString, str(condition.Glob, "*a"+strings.Repeat("?", 20)+"*b"+strings.Repeat("?", 20)), str(condition.Prefix, "a"), [4]regular.Answer{}},

		{"minimum", aNumber, num(condition.Minimum, "0"), num(condition.Minimum, "5"), [4]regular.Answer{yes, yes, yes, yes}},
		{"minimum, weaker", aNumber, num(condition.Minimum, "5"), num(condition.Minimum, "0"), [4]regular.Answer{no, no, no, no}},
		{"minimum, equal", aNumber, num(condition.Minimum, "5"), num(condition.Minimum, "5.0"), [4]regular.Answer{yes, yes, yes, yes}},
		{"open and closed", aNumber, num(condition.ExclusiveMinimum, "5"), num(condition.Minimum, "5"), [4]regular.Answer{no, no, no, no}},
		{"closed and open", aNumber, num(condition.Minimum, "5"), num(condition.ExclusiveMinimum, "5"), [4]regular.Answer{yes, yes, yes, yes}},
		{"maximum", aNumber, num(condition.Maximum, "5"), num(condition.ExclusiveMaximum, "5"), [4]regular.Answer{yes, yes, yes, yes}},
		{"maximum, weaker", aNumber, num(condition.Maximum, "4"), num(condition.Maximum, "5"), [4]regular.Answer{no, no, no, no}},
		{"another direction", aNumber, num(condition.Maximum, "4"), num(condition.Minimum, "5"), [4]regular.Answer{no, no, no, no}},
		{"integer points", anInteger, num(condition.Minimum, "5"), num(condition.ExclusiveMinimum, "4"), [4]regular.Answer{yes, yes, yes, yes}},
		{"integer points from above", anInteger, num(condition.Maximum, "3"), num(condition.ExclusiveMaximum, "4"), [4]regular.Answer{yes, yes, yes, yes}},
		{"integer points, closed", anInteger, num(condition.ExclusiveMinimum, "4"), num(condition.Minimum, "4"), [4]regular.Answer{no, no, no, no}},
		{"a fraction between integers", anInteger, num(condition.Minimum, "5"), num(condition.Minimum, "4.5"), [4]regular.Answer{}},
		{"no integer of the machine", anInteger, num(condition.Minimum, "1e30"), num(condition.Minimum, "1e29"), [4]regular.Answer{}},
		{"the largest integer", anInteger, num(condition.Minimum, "9223372036854775808"), num(condition.Minimum, "9223372036854775807"), [4]regular.Answer{}},
		{"const in a range", aNumber, num(condition.Minimum, "0"), num(condition.Const, "5"), [4]regular.Answer{yes, yes, yes, yes}},
		{"enum partly in a range", aNumber, num(condition.Maximum, "4"), num(condition.Enum, "3", "7"), [4]regular.Answer{no, no, no, no}},
		{"range never in an enum", aNumber, num(condition.Enum, "1"), num(condition.Minimum, "1"), [4]regular.Answer{no, no, no, no}},
		{"const as a decimal", aNumber, num(condition.Enum, "1", "2"), num(condition.Const, "1.0"), [4]regular.Answer{yes, yes, yes, yes}},
		{"min_items", list, num(condition.MinItems, "1"), num(condition.MinItems, "2"), [4]regular.Answer{yes, yes, yes, yes}},
		{"max_items", list, num(condition.MaxItems, "1"), num(condition.MaxItems, "2"), [4]regular.Answer{no, no, no, no}},
		{"items, another direction", list, num(condition.MaxItems, "1"), num(condition.MinItems, "2"), [4]regular.Answer{no, no, no, no}},
		{"max_length", aString, num(condition.MaxLength, "3"), num(condition.MaxLength, "2"), [4]regular.Answer{yes, yes, yes, yes}},
		{"max_length and const", aString, num(condition.MaxLength, "3"), str(condition.Const, "ab"), [4]regular.Answer{yes, yes, yes, yes}},
		{"max_length and glob", aString, num(condition.MaxLength, "3"), str(condition.Glob, "ab"), [4]regular.Answer{}},
		{"const and max_length", aString, str(condition.Const, "ab"), num(condition.MaxLength, "3"), [4]regular.Answer{}},

		{"values of all types", anything, mixed(text("a"), boolean("true"), boolean("false"), object(`{}`)), mixed(boolean("false"), object(`{}`)), [4]regular.Answer{yes, yes, yes, yes}},
		{"a missing boolean", anything, mixed(boolean("true")), mixed(boolean("false")), [4]regular.Answer{no, no, no, no}},
		{"a missing object", anything, mixed(object(`{}`)), mixed(object(`{"a":1}`)), [4]regular.Answer{no, no, no, no}},
		{"types without a common value", anything, num(condition.Minimum, "1"), str(condition.Prefix, "a"), [4]regular.Answer{no, no, no, no}},
		{"present", aString, mixedPresent("true"), mixedPresent("true"), [4]regular.Answer{yes, yes, yes, yes}},
		{"present and absent", aString, mixedPresent("true"), mixedPresent("false"), [4]regular.Answer{no, no, no, no}},
		{"present and there and not null", aString, mixedPresent("true"), notNull, [4]regular.Answer{yes, yes, yes, yes}},
		{"there and not null, present", aString, notNull, mixedPresent("true"), [4]regular.Answer{no, no, no, no}},
		{"there and not null, absent", aString, notNull, mixedPresent("false"), [4]regular.Answer{no, no, no, no}},
		{"there and not null twice", aString, notNull, notNull, [4]regular.Answer{yes, yes, yes, yes}},
		{"present and a value", aString, mixedPresent("true"), str(condition.Const, "a"), [4]regular.Answer{no, no, no, no}},

		{"words", aCommand, str(condition.Prefix, "git"), str(condition.Prefix, "git status"), [4]regular.Answer{yes, yes, yes, yes}},
		{"words, longer word", aCommand, str(condition.Prefix, "git"), str(condition.Prefix, "gitk"), [4]regular.Answer{no, no, no, no}},
		{"words, const", aCommand, str(condition.Prefix, "git"), str(condition.Const, "git status"), [4]regular.Answer{yes, yes, yes, yes}},
		{"words never in a const", aCommand, str(condition.Const, "git"), str(condition.Prefix, "git"), [4]regular.Answer{no, no, no, no}},
		{"commands, same glob", aCommand, str(condition.Glob, "git *"), str(condition.Glob, "git *"), [4]regular.Answer{yes, yes, yes, yes}},
		{"commands, other glob", aCommand, str(condition.Glob, "git *"), str(condition.Glob, "git s*"), [4]regular.Answer{}},

		{"host", aURL, str(condition.Host, "*.example.com"), str(condition.Host, "a.example.com"), [4]regular.Answer{yes, yes, yes, yes}},
		{"wildcard in a wildcard", aURL, str(condition.Host, "*.example.com"), str(condition.Host, "*.a.example.com"), [4]regular.Answer{yes, yes, yes, yes}},
		{"apex is not below", aURL, str(condition.Host, "*.example.com"), str(condition.Host, "example.com"), [4]regular.Answer{no, no, no, no}},
		{"another port", aURL, str(condition.Host, "example.com"), str(condition.Host, "example.com:8443"), [4]regular.Answer{no, no, yes, yes}},
		{"any port", aURL, str(condition.Host, "example.com:*"), str(condition.Host, "example.com:8443"), [4]regular.Answer{yes, yes, yes, yes}},
		{"scheme", aURL, str(condition.Scheme, "https"), str(condition.Scheme, "HTTPS"), [4]regular.Answer{yes, yes, yes, yes}},
		{"another scheme", aURL, str(condition.Scheme, "https"), str(condition.Scheme, "http"), [4]regular.Answer{no, no, no, no}},
		{"directory of a host", aURL, str(condition.Host, "example.com"), str(condition.Prefix, "https://example.com/a/"), [4]regular.Answer{yes, yes, yes, yes}},
		{"directory of a scheme", aURL, str(condition.Scheme, "https"), str(condition.Prefix, "https://example.com/a/"), [4]regular.Answer{yes, yes, yes, yes}},
		{"directory in a directory", aURL, str(condition.Prefix, "https://example.com/a"), str(condition.Prefix, "https://example.com/a/b/"), [4]regular.Answer{yes, yes, yes, yes}},
		{"directory beside one", aURL, str(condition.Prefix, "https://example.com/a"), str(condition.Prefix, "https://example.com/ab"), [4]regular.Answer{no, no, no, no}},
		{"const of a host", aURL, str(condition.Host, "example.com"), str(condition.Const, "https://example.com/a"), [4]regular.Answer{yes, yes, yes, yes}},
		{"host of a scheme", aURL, str(condition.Scheme, "https"), str(condition.Host, "example.com"), [4]regular.Answer{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, p := range [4][2]bool{{permissive, permissive}, {permissive, restrictive}, {restrictive, permissive}, {restrictive, restrictive}} {
				e := compile(t, c.earlier, c.target, p[0], project)
				l := compile(t, c.later, c.target, p[1], project)
				if got := inclusion.Covers(e, l); got != c.want[i] {
					t.Errorf("restrictive %v then %v: %v, want %v", p[0], p[1], got, c.want[i])
				}
			}
		})
	}
	path := compile(t, spec(condition.Const, "a"), aPath, permissive, project)
	plain := compile(t, spec(condition.Const, "a"), aString, permissive, project)
	if inclusion.Covers(path, plain) != regular.NotProven {
		t.Error("conditions on different types of text are not compared")
	}
	raw := compile(t, spec(condition.Prefix, "a; b"), aCommand, restrictive, project)
	if got := inclusion.Covers(compile(t, spec(condition.Prefix, "a"), aCommand, permissive, project), raw); got != regular.NotProven {
		t.Errorf("a command that is more than words: %v", got)
	}
	if got := fmt.Sprint(regular.Yes, regular.No, regular.NotProven); got != "yes no not proven" {
		t.Error(got)
	}
}

func mixedPresent(want string) condition.Spec {
	return condition.Spec{Kind: condition.Present, Values: []condition.Literal{{Kind: condition.LiteralBool, Text: want}}}
}

var notNull = condition.Spec{Kind: condition.Present, Values: []condition.Literal{{Kind: condition.LiteralString, Text: condition.PresentValue}}}

// plainPaths returns all canonical paths of up to three components over two names.
func plainPaths() []string {
	paths := []string{"."}
	for _, a := range []string{"a", "b", "ab"} {
		paths = append(paths, a)
		for _, b := range []string{"a", "b", "ab"} {
			paths = append(paths, a+"/"+b)
			for _, c := range []string{"a", "b"} {
				paths = append(paths, a+"/"+b+"/"+c)
			}
		}
	}
	return paths
}

// Proves I25, D25-38: a cover is never claimed if a plainly written value contradicts it.
func TestCoversIsSound(t *testing.T) {
	paths := plainPaths()
	strs := []string{""}
	for i := 0; i < len(strs) && len(strs) < 400; i++ {
		for _, r := range "abc/" {
			strs = append(strs, strs[i]+string(r))
		}
	}
	draw := func(t *rapid.T, label string, path bool) condition.Spec {
		k := rapid.SampledFrom([]condition.Kind{condition.Const, condition.Enum, condition.Prefix, condition.Suffix, condition.Glob}).Draw(t, label)
		shape := `[ab]{1,2}(/[ab]{1,2}){0,2}`
		if k == condition.Glob {
			shape = `(a|b|\*|\?|a\*|\{a,b\})(/(a|b|\*|\?|\*b)){0,2}`
			if path {
				shape = `(a|b|\*|\?|a\*|\*\*|\{a,b\})(/(a|b|\*|\?|\*b|\*\*)){0,2}`
			}
		}
		return spec(k, rapid.SliceOfN(rapid.StringMatching(shape), 1, 2).Draw(t, label+" literals")...)
	}
	proven, all := 0, 0
	property.Check(t, func(t *rapid.T) {
		path := rapid.Bool().Draw(t, "path")
		target, values := aString, strs
		if path {
			target, values = aPath, paths
		}
		earlier, later := draw(t, "earlier", path), draw(t, "later", path)
		earlier.List, later.List = "list", "list"
		e, err1 := tryCompile(earlier, target, rapid.Bool().Draw(t, "restrictive earlier"), project)
		l, err2 := tryCompile(later, target, rapid.Bool().Draw(t, "restrictive later"), project)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		answer := inclusion.Covers(e, l)
		all++
		if answer != regular.Yes {
			return
		}
		proven++
		for _, v := range values {
			if l.Match([]byte(v)) && !e.Match([]byte(v)) {
				t.Fatalf("%v covers %v, and %q satisfies only the later one", earlier, later, v)
			}
		}
	})
	t.Logf("%d of %d covers were proven", proven, all)
}

// Proves I25: there is a witness for every answer No.
func TestNoCoverHasAWitness(t *testing.T) {
	paths := plainPaths()
	literal := `(a|b)(/(a|b)){0,1}`
	property.Check(t, func(t *rapid.T) {
		kinds := []condition.Kind{condition.Const, condition.Prefix}
		earlier := spec(rapid.SampledFrom(kinds).Draw(t, "earlier"), rapid.StringMatching(literal).Draw(t, "first"))
		later := spec(rapid.SampledFrom(kinds).Draw(t, "later"), rapid.StringMatching(literal).Draw(t, "second"))
		e, err1 := tryCompile(earlier, aPath, restrictive, project)
		l, err2 := tryCompile(later, aPath, permissive, project)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if inclusion.Covers(e, l) != regular.No {
			return
		}
		for _, v := range paths {
			if l.Match([]byte(v)) && !e.Match([]byte(v)) {
				return
			}
		}
		t.Fatalf("%v does not cover %v, and no path shows it", earlier, later)
	})
}

// Proves I25, K29: coverage considers the redirections that another condition of the rule permits.
func TestCoversCommands(t *testing.T) {
	reads, writes := aCommand, aCommand
	reads.ReadsJudged, writes.WritesJudged = true, true
	one := func(s condition.Spec, target condition.Target, polarity bool) *match.Matcher {
		return compile(t, s, target, polarity, project)
	}
	for _, c := range []struct {
		name           string
		earlier, later *match.Matcher
		want           regular.Answer
	}{
		{"redirections", one(spec(condition.Usage, "x"), aCommand, permissive), one(spec(condition.Usage, "x"), reads, permissive), regular.NotProven},
		{"redirections of words", one(spec(condition.Const, "x"), aCommand, permissive), one(spec(condition.Const, "x"), writes, permissive), regular.NotProven},
		{"redirections of a pattern", one(spec(condition.Pattern, "^x$"), aCommand, permissive), one(spec(condition.Pattern, "^x$"), writes, permissive), regular.NotProven},
		{"the same redirections", one(spec(condition.Usage, "x"), reads, permissive), one(spec(condition.Usage, "x"), reads, permissive), regular.Yes},
		{"fewer redirections", one(spec(condition.Const, "x"), reads, permissive), one(spec(condition.Const, "x"), aCommand, permissive), regular.Yes},
		{"suspicion and redirections", one(spec(condition.Const, "x"), aCommand, restrictive), one(spec(condition.Const, "x"), reads, permissive), regular.Yes},
		{"some of the usages", one(spec(condition.Usage, "x", "y *"), aCommand, permissive), one(spec(condition.Usage, "y *"), aCommand, permissive), regular.Yes},
		{"further usages", one(spec(condition.Usage, "x"), aCommand, permissive), one(spec(condition.Usage, "x", "y"), aCommand, permissive), regular.NotProven},
		{"a usage and suspicion", one(spec(condition.Usage, "x [-a] y"), aCommand, restrictive), one(spec(condition.Usage, "x [-a] y"), aCommand, permissive), regular.NotProven},
		{"no file", one(spec(condition.Reads, "x/**"), aCommand, restrictive), one(spec(condition.Reads, "x/**"), reads, permissive), regular.NotProven},
		{"the same files", one(spec(condition.Reads, "x/**", "y"), aCommand, restrictive), one(spec(condition.Reads, "y"), aCommand, restrictive), regular.Yes},
		{"a command by its files", one(spec(condition.Reads, "**"), reads, permissive), one(spec(condition.Const, "x"), reads, permissive), regular.NotProven},
		{"a command by its length", one(number(condition.MaxLength, "9"), aCommand, permissive), one(spec(condition.Const, "x"), aCommand, permissive), regular.NotProven},
		{"several commands", one(spec(condition.Prefix, "b"), aCommand, restrictive), one(spec(condition.Const, "a; b"), aCommand, restrictive), regular.NotProven},
		{"some of the words", one(spec(condition.Enum, "a; b", "c"), aCommand, restrictive), one(spec(condition.Enum, "c", "a; b"), aCommand, restrictive), regular.Yes},
		{"what a wrapper runs", one(spec(condition.Pattern, "^timeout"), aCommand, permissive), one(spec(condition.Const, "timeout 5 ls"), aCommand, permissive), regular.No},
	} {
		if got := inclusion.Covers(c.earlier, c.later); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
