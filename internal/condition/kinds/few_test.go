package kinds_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
)

// Proves C1, C6, C7: the first values, which are evaluated before an automaton is built, give the
// same results as later ones.
func TestFirstValuesAsLaterOnes(t *testing.T) {
	specs := []condition.Spec{
		spec(condition.Prefix, "src/"), spec(condition.Const, ".env"), spec(condition.Prefix, "/etc"), spec(condition.Glob, "**/*secret*"), spec(condition.Glob, "**"),
		spec(condition.Glob, "src/**/[!a-c]?.go"), spec(condition.Glob, "/srv/**"), spec(condition.Glob, "{a,b}/**", "**/.ssh/**"), spec(condition.Glob, "**/straße"),
		spec(condition.Glob, "**/!(ca|chain).pem", "**/!(i18n|lang)/*.key", "**/.env!(*.example)"), spec(condition.Suffix, ".pem"),
	}
	values := []string{
		"", ".", "/", "..", "../x", "/srv", "/srv/proj", "/SRV/Proj/src/a", "/srv/proj/.env", "src", "src/", "src/a/Ab.go", "src/x/dd.go", "SRC/X", ".ENV", ".env",
		"a/b", "B/c", "x/.SSH/id", "/etc/passwd", "/ETC/x", "srv/x", "srv/proj/.env", "my-secret", "ſecret", "ＳＥＣＲＥＴ", "STRASSE", "straße", "x/Straße", "a\xff/secret",
		"\u200bsecret", "src\\a", "src/./a", "*.go", "src/*", "sec*", strings.Repeat("d/", 100) + "secret", strings.Repeat("x", 600), "\U0010FFFFsrv/proj/.env",
		"*.pem", "c*.pem", "{ca,chain}.pem", "[a-c]a.pem", "?a.PEM", "lang/*.key", "l*/x.key", "/srv/proj/*", "/srv/*/.e*", "/s*", "[A-Z]sh/*", ".e??", ".env.ex*", "**", "S?C/*", "../proj/s*",
	}
	root := condition.Env{Root: "/", Home: "/root"}
	for _, env := range []condition.Env{project, {}, root} {
		for _, s := range specs {
			for _, target := range []condition.Target{aPath, expands} {
				for _, polarity := range []bool{permissive, restrictive} {
					later := compile(t, s, target, polarity, env)
					for range 100 {
						later.Match([]byte("some/other/path"))
					}
					for _, v := range values {
						if first, want := compile(t, s, target, polarity, env).Match([]byte(v)), later.Match([]byte(v)); first != want {
							t.Errorf("%+v, permissive %v, expands %v, root %q: %q: first %v, later %v", s.Values, polarity, target.Expands, env.Root, v, first, want)
						}
					}
				}
			}
		}
	}
}
