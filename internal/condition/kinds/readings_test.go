package kinds_test

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/testkit/property"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/protected"
)

// Proves K56.
func TestK56_Readings(t *testing.T) {
	type reading struct{ path, steps string }
	for _, c := range []struct {
		value   string
		env     condition.Env
		expands bool
		want    []reading
	}{
		{"src/x/../a", project, false, []reading{{"src/a", "as written"}}},
		{"/srv/proj/a", project, false, []reading{{"a", "against the root"}}},
		{"/srv/proj", project, false, []reading{{"", "against the root"}}},
		{"", project, false, []reading{{"", "as written"}}},
		{"../a", project, false, []reading{{"../a", "as written"}, {"/srv/a", "against the root"}, {"a", "leading .. removed"}}},
		{"../a", nowhere, false, []reading{{"../a", "as written"}, {"/a", "against the root"}, {"a", "leading .. removed"}}},
		{"..", nowhere, false, []reading{{"..", "as written"}, {"/", "against the root"}, {"", "leading .. removed"}}},
		{"../proj/a", project, false, []reading{{"../proj/a", "as written"}, {"a", "against the root"}, {"proj/a", "leading .. removed"}}},
		{`a\..\b`, project, false, []reading{{`a\..\b`, "as written"}, {"b", "backslash as separator"}}},
		{"a%2fb", project, false, []reading{{"a%2fb", "as written"}, {"a/b", "percent-decoded"}}},
		{"a%252fb", project, false, []reading{{"a%252fb", "as written"}, {"a%2fb", "percent-decoded"}, {"a/b", "percent-decoded, percent-decoded again"}}},
		{"a\x00b", project, false, []reading{{"a\x00b", "as written"}, {"a", "cut at NUL"}, {"ab", "invisible characters removed"}}},
		{".env ", project, false, []reading{{".env ", "as written"}, {".env", "trailing characters trimmed"}}},
		{"~/x", project, false, []reading{{"~/x", "as written"}, {"/home/u/x", "home and variables expanded"}}},
		{"~/x", nowhere, false, []reading{{"~/x", "as written"}, {"x", "home and variables expanded"}, {"/x", "home and variables expanded"}}},
		{"GIT~1", project, false, []reading{{"GIT~1", "as written"}, {"GIT", "short name written out"}, {".GIT", "short name written out"}}},
		{"a;b", project, false, []reading{{"a;b", "as written"}, {"a", "parameters removed"}}},
		{"a:b", project, false, []reading{{"a:b", "as written"}, {"a", "stream or drive removed"}, {"b", "stream or drive removed"}}},
		{"file:///srv/proj/a", project, false, []reading{{"file:/srv/proj/a", "as written"}, {"a", "path of the URL, against the root"}}},
		{"\uff41", project, false, []reading{{"\uff41", "as written"}, {"a", "compatibility form"}}},
		{"{a,b}", project, true, []reading{{"{a,b}", "as written"}, {"a", "expanded"}, {"b", "expanded"}}},
		{"a*", project, true, []reading{{"a*", "as written"}, {"a*", "expanded"}}},
		{"//host/share/x", project, false, []reading{{"/host/share/x", "as written"}, {"/x", "drive or share removed"}, {"x", "drive or share removed"}}},
	} {
		list, complete := pathform.Readings(c.value, c.env, c.expands)
		var got []reading
		for _, r := range list {
			got = append(got, reading{r.Path, r.Steps.String()})
		}
		if !complete || len(got) != len(c.want) {
			t.Errorf("%q: %q, complete %v; want %q", c.value, got, complete, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%q, reading %d: %q, want %q", c.value, i, got[i], c.want[i])
			}
		}
	}
}

// Proves K56.
func TestReadingsAreCapped(t *testing.T) {
	for _, value := range []string{
		strings.Repeat("a", 40000),
		"a\xffb",
		"{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r}",
		"x%2561;b:c\\d. /$HOME~1\u200b\uff41",
		"a/.*/b",
		strings.Repeat("{a,b}", 7),
	} {
		list, complete := pathform.Readings(value, project, true)
		if complete || len(list) > pathform.MaxReadings || len(list) == 0 {
			t.Errorf("%.40q: %d readings, complete %v", value, len(list), complete)
		}
	}
}

// hostile are the parts of attacks on paths.
var hostile = []string{
	"src", "a", ".env", "..", ".", "", "%2e%2e", "%2e", "%252e", "%2f", "%5c", "%00", `\`, `..\`, "~", "~1", "$HOME", "%X%", "\x00", "\n", "\u202e",
	"\u200b", "\uff0e", "\uff0e\uff0e", "\uff0f", "\u2215", "\u2025", "e\u0301", "\u00e9", "SRC", ".ENV", "::$DATA", ":", "C:", ";x", " ", "'", `"`,
	"nul", "COM1", "-", "proc", "dev", "*", "{a,..}", "?", "[.]", "srv", "proj", "file:", "&", "#", "\u00ad", "\u00a0", "\u017f",
}

func hostilePath(t *rapid.T) string {
	pieces := rapid.SliceOfN(rapid.SampledFrom(append([]string{"/", "/", "/", "/", "/"}, hostile...)), 0, 8).Draw(t, "pieces")
	start := rapid.SampledFrom([]string{"src/", "", "/srv/proj/src/", "./src/", "../", "src/../"}).Draw(t, "start")
	return start + strings.Join(pieces, "")
}

// checkGrant checks I11 for a value that a permissive rule on a directory matches.
func checkGrant(t interface{ Fatalf(string, ...any) }, value, dir string, tool condition.Target) {
	cleaned, plain := pathform.Clean(value)
	if second, _ := pathform.Clean(cleaned); !plain || second != cleaned {
		t.Fatalf("%q is granted; cleaned to %q, plain %v, cleaned again %q", value, cleaned, plain, second)
	}
	for _, v := range []string{value, cleaned} {
		list, complete := pathform.Readings(v, project, tool.Expands)
		if !complete || len(list) != 1 {
			t.Fatalf("%q is granted; %q has the readings %v, complete %v", value, v, list, complete)
		}
		// resolved by the standard library against the root
		at := list[0].Path
		if !strings.HasPrefix(at, "/") {
			at = path.Join(project.Root, at)
		}
		if resolved := path.Clean(at); resolved != dir && !strings.HasPrefix(resolved, dir+"/") {
			t.Fatalf("%q is granted and %q resolves to %q, outside %q", value, v, resolved, dir)
		}
		if !norm.NFC.IsNormalString(v) || strings.ContainsAny(v, "\\%$:\x00") {
			t.Fatalf("%q is granted", v)
		}
	}
	joined := cleaned
	if !strings.HasPrefix(joined, "/") {
		joined = path.Join(project.Root, cleaned)
	}
	if resolved := path.Clean(joined); resolved != dir && !strings.HasPrefix(resolved, dir+"/") {
		t.Fatalf("%q is granted, and what is released, %q, resolves to %q, outside %q", value, cleaned, resolved, dir)
	}
}

// Proves I11, C16, P24.
func TestI11_GrantsStayBelowTheDirectory(t *testing.T) {
	rules := []struct {
		m      *match.Matcher
		dir    string
		target condition.Target
	}{
		{compile(t, spec(condition.Prefix, "src/"), aPath, permissive, project), "/srv/proj/src", aPath},
		{compile(t, spec(condition.Prefix, "src"), expands, permissive, project), "/srv/proj/src", expands},
		{compile(t, spec(condition.Glob, "src/**"), aPath, permissive, project), "/srv/proj/src", aPath},
		{compile(t, spec(condition.Glob, "**"), aPath, permissive, project), "/srv/proj", aPath},
		{compile(t, spec(condition.Suffix, "a"), aPath, permissive, project), "/srv/proj", aPath},
		{compile(t, spec(condition.Prefix, "/srv/proj/src/"), aPath, permissive, project), "/srv/proj/src", aPath},
	}
	granted, all := 0, 0
	property.Check(t, func(t *rapid.T) {
		value := hostilePath(t)
		for _, r := range rules {
			all++
			if r.m.Match([]byte(value)) {
				granted++
				checkGrant(t, value, r.dir, r.target)
			}
		}
	})
	t.Logf("%d of %d values were granted", granted, all)
	if granted*50 < all {
		t.Error("the generator has gone stale: hardly anything is granted")
	}
}

// Proves I11: a value that satisfies a permissive condition satisfies the same restrictive one.
func TestSuspicionCoversCertainty(t *testing.T) {
	kinds := map[condition.Kind][]string{
		condition.Prefix: {"src", "a", ".env", "/srv/proj/src", "/"}, condition.Const: {"src/a", ".env"},
		condition.Glob: {"**", "src/*", "**/a", "[!b]*", "*/?"}, condition.Suffix: {"a", ".env"},
	}
	property.Check(t, func(t *rapid.T) {
		value := hostilePath(t)
		env := rapid.SampledFrom([]condition.Env{project, nowhere, {Root: "/"}}).Draw(t, "env")
		for k, literals := range kinds {
			for _, literal := range literals {
				may, err1 := tryCompile(spec(k, literal), aPath, permissive, env)
				must, err2 := tryCompile(spec(k, literal), aPath, restrictive, env)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				if may.Match([]byte(value)) && !must.Match([]byte(value)) {
					t.Fatalf("%v %q grants %q and does not catch it", k, literal, value)
				}
				var shared condition.Value
				for range 2 {
					shared.Reset([]byte(value))
					if may.Judge(&shared) != may.Match([]byte(value)) || must.Judge(&shared) != must.Match([]byte(value)) {
						t.Fatalf("%v %q on %q: judged with others and alone differ", k, literal, value)
					}
				}
			}
		}
	})
}

// FuzzPath checks I11 on any value.
func FuzzPath(f *testing.F) {
	for _, s := range hostile {
		f.Add("src/" + s)
		f.Add("src/" + s + "/" + s)
	}
	src := compile(f, spec(condition.Prefix, "src/"), aPath, permissive, project)
	all := compile(f, spec(condition.Glob, "**"), expands, permissive, project)
	must := compile(f, spec(condition.Glob, "src/**"), aPath, restrictive, project)
	wide := compile(f, spec(condition.Glob, "src/**"), expands, restrictive, project)
	protected := protected.New(project)
	f.Add("*/..")
	f.Add(".git/*/..")
	f.Fuzz(func(t *testing.T, value string) {
		if src.Match([]byte(value)) {
			checkGrant(t, value, "/srv/proj/src", aPath)
			if !must.Match([]byte(value)) {
				t.Fatalf("%q is granted and not suspect", value)
			}
		}
		if must.Match([]byte(value)) && !wide.Match([]byte(value)) {
			t.Fatalf("%q is suspect only where nothing expands it", value)
		}
		protected.Path([]byte(value))
		protected.Command([]byte(value))
		if all.Match([]byte(value)) {
			checkGrant(t, value, "/srv/proj", expands)
		}
		cleaned, _ := pathform.Clean(value)
		if second, _ := pathform.Clean(cleaned); second != cleaned {
			t.Fatalf("%q: cleaned to %q, then to %q", value, cleaned, second)
		}
		list, _ := pathform.Readings(value, project, true)
		if len(list) == 0 || len(list) > pathform.MaxReadings {
			t.Fatalf("%q: %d readings", value, len(list))
		}
		if utf8.ValidString(value) && list[0].Path != strings.TrimPrefix(naiveResolve(value), "/srv/proj/") && !strings.HasPrefix(strings.ToLower(value), "/srv/proj") && !strings.HasPrefix(value, "/") {
			t.Fatalf("%q: the first reading is %q, want the cleaned value %q", value, list[0].Path, naiveResolve(value))
		}
	})
}
