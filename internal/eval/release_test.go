package eval_test

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/testkit/gen"
)

// Proves K4, C1, C2, C3, C4, C11, C13, C18, D25-18, D25-19, P24, M17, M18: the released path is the
// one that was evaluated, cleaned if a permission depends on it, and as the model spelled it
// otherwise.
func TestRelease(t *testing.T) {
	two := rules(`all = [{ arg = "/path", prefix = "src/" }, { arg = "/patterns/paths", prefix = "src/" }], mode = "unattended"`, `mode = "ask"`)
	judge(t, []judgement{
		{name: "plain", policy: srcOnly, args: `{ "path" : "src/a" }`, want: "unattended rule_matched rule 0", upto: `{ "path" : "src/a"`, release: `{"path":"src/a"}`},
		{name: "repeated separators", policy: srcOnly, args: `{"path":"src//a"}`, want: "unattended rule_matched rule 0", upto: `{"path":"src//a"`, release: `{"path":"src/a"}`},
		{name: "inner dots", policy: srcOnly, args: `{"path":"src/./x/../a"}`, want: "unattended rule_matched rule 0", upto: `{"path":"src/./x/../a"`, release: `{"path":"src/a"}`},
		{name: "a leading ./ stays", policy: srcOnly, args: `{"path":"./src//a"}`, want: "unattended rule_matched rule 0", upto: `{"path":"./src//a"`, release: `{"path":"./src/a"}`},
		{name: "a trailing / stays", policy: srcOnly, args: `{"path":"src//x/"}`, want: "unattended rule_matched rule 0", upto: `{"path":"src//x/"`, release: `{"path":"src/x/"}`},
		{name: "an absolute path stays absolute", policy: srcOnly, args: `{"path":"/srv/proj//src/a"}`, want: "unattended rule_matched rule 0",
			upto: `{"path":"/srv/proj//src/a"`, release: `{"path":"/srv/proj/src/a"}`},
		{name: "other strings stay", policy: srcOnly, args: `{"path":"src//a","content":"a//b"}`, want: "unattended rule_matched rule 0",
			upto: `{"path":"src//a"`, release: `{"path":"src/a","content":"a//b"}`},
		{name: "every path of a compound rule", policy: two, args: `{"path":"src//a","patterns":[{"paths":["src/x/../b","src/c"],"old":"x//y"}]}`, want: "unattended rule_matched rule 0",
			upto: `{"path":"src//a","patterns":[{"paths":["src/x/../b","src/c"],"old":"x//y"}]`, release: `{"path":"src/a","patterns":[{"paths":["src/b","src/c"],"old":"x//y"}]}`},
		{name: "a path that no condition looked at stays", policy: srcOnly, args: `{"path":"src//a","patterns":[{"paths":["x//y"]}]}`, want: "unattended rule_matched rule 0",
			upto: `{"path":"src//a"`, release: `{"path":"src/a","patterns":[{"paths":["x//y"]}]}`},
		{name: "a catch-all releases the model's spelling", policy: rules(`mode = "unattended"`), args: `{"path":"src//a"}`, want: "unattended rule_matched rule 0", upto: nothing, release: `{"path":"src//a"}`},
		{name: "a person approves the model's spelling", policy: srcOnly, args: `{"path":"lib//a"}`, want: "ask rule_matched rule 1", upto: `{"path":"lib//a"`, release: `{"path":"lib//a"}`},
		{name: "escapes and white space are ours", policy: srcOnly, args: "{\"\\u0070ath\"\n:\"src\\u002fa\",\"content\":\"\\u00e9\\n\"}", want: "unattended rule_matched rule 0",
			upto: "{\"\\u0070ath\"\n:\"src\\u002fa\"", release: `{"path":"src/a","content":"é\n"}`},
		{name: "C1 leaves the directory", policy: srcOnly, args: `{"path":"src/../.env"}`, want: "ask rule_matched rule 1", upto: `{"path":"src/../.env"`},
		{name: "C4 another directory", policy: srcOnly, args: `{"path":"src-old/a"}`, want: "ask rule_matched rule 1", upto: `{"path":"src-old/a"`},
		{name: "K4 an option", policy: rules(`arg = "/path", glob = "**", mode = "unattended"`, `mode = "ask"`), args: `{"path":"-rf"}`, want: "ask rule_matched rule 1", upto: `{"path":"-rf"`},
	})
}

// Proves K4, I12: the released arguments do not depend on earlier calls, and an empty path stays
// empty.
func TestReleaseInAUsedEvaluation(t *testing.T) {
	b := compile(t, `version = 1
[tools.t.parameters]
path = { type = "path" }
[tools.t.policy]
run = [ { arg = "/path", present = true, mode = "unattended" } ]
`).Bind(stopgate.Call{Tool: "t"})
	e := b.Evaluate()
	for _, c := range [][2]string{{"src//a", "src/a"}, {"", ""}, {"./a/../b", "./b"}, {"src/.a", "src/.a"}, {"a/", "a/"}, {".", "."}} {
		e.Reset(b)
		e.Feed([]byte(`{"path":"` + c[0] + `"}`))
		e.Close(stopgate.Ended)
		if got, want := string(e.Args()), `{"path":"`+c[1]+`"}`; got != want {
			t.Errorf("%q is released as %s, want %s", c[0], got, want)
		}
	}
}

// Proves I11, K4: every released path that a rule on src permits is canonical and below src,
// lexically and for every reader that decodes or cleans again.
func TestI11ReleasedPathsAreCanonical(t *testing.T) {
	b := compile(t, srcOnly).Bind(stopgate.Call{Tool: "fs_modify_file"})
	parts := []string{"src", "a", "..", ".", "", "x", "%2e%2e", `\`, "~", ".env", "..;", "a:b", "b.", "c ", "\u0000", "．．", "-r"}
	n, seed := drawn(t)
	r := rand.New(rand.NewPCG(seed, 11))
	granted := 0
	for range n {
		list := []string{"src"}
		if r.IntN(5) == 0 {
			list = []string{"/srv/proj/src", "./src", "", ".."}[r.IntN(4):][:1]
		}
		for range r.IntN(4) {
			list = append(list, parts[min(r.IntN(len(parts)), r.IntN(len(parts)))])
		}
		value := strings.Join(list, "/")
		e := b.Evaluate()
		e.Feed([]byte(`{"path":"` + strings.NewReplacer(`\`, `\\`, "\x00", `\u0000`).Replace(value) + `"}`))
		if e.Close(stopgate.Ended).Mode != stopgate.Unattended {
			continue
		}
		granted++
		out := strings.TrimSuffix(strings.TrimPrefix(string(e.Args()), `{"path":"`), `"}`)
		bare := strings.TrimPrefix(strings.TrimSuffix(out, "/"), "./")
		if path.Clean(bare) != bare {
			t.Fatalf("%q is released as %q, which is not clean", value, out)
		}
		if inside := strings.TrimPrefix(bare, "/srv/proj/"); inside != "src" && !strings.HasPrefix(inside, "src/") || strings.ContainsAny(out, `%\;:`+"\x00") {
			t.Fatalf("%q is released as %q", value, out)
		}
	}
	if granted < n/50 {
		t.Errorf("the generator has gone stale: %d of %d paths were permitted", granted, n)
	}
}

// Proves K4, K35: if several files permit, the paths that any of their rules depends on are
// cleaned.
func TestReleaseOfSeveralLayers(t *testing.T) {
	const parameters = "[tools.t.parameters]\na = { type = \"path\" }\nb = { type = \"path\" }\n[tools.t.policy]\n"
	b := layers(t, condition.Env{Root: "/srv/proj"},
		parameters+"run = [ { arg = \"/a\", prefix = \"src\", mode = \"unattended\" } ]\n",
		parameters+"run = [ { arg = \"/b\", prefix = \"src\", mode = \"unattended\" } ]\n",
		parameters+"run = \"unattended\"\n").Bind(stopgate.Call{Tool: "t"})
	e := b.Evaluate()
	e.Feed([]byte(`{"a":"src//x","b":"src/./y"}`))
	if v := e.Close(stopgate.Ended); v.Mode != stopgate.Unattended || string(e.Args()) != `{"a":"src/x","b":"src/y"}` {
		t.Fatalf("%s releases %s", spell(v), e.Args())
	}
}

// Proves K4, M18: if rules evaluate a line command by command, the paths that the rule of any of
// its commands depends on are cleaned, and no others.
func TestReleaseWithCommands(t *testing.T) {
	b := compile(t, `version = 1
[tools.t.parameters]
command = { type = "command" }
in = { type = "path" }
out = { type = "path" }
[tools.t.policy]
run = [
  { all = [ { arg = "/command", prefix = "ls" }, { arg = "/in", prefix = "src" } ], mode = "unattended" },
  { all = [ { arg = "/command", prefix = "make" }, { arg = "/out", prefix = "src" } ], mode = "unattended" },
]
`).Bind(stopgate.Call{Tool: "t"})
	for command, want := range map[string]string{
		"ls": `"in":"src/a","out":"src//b"}`, "make": `"in":"src//a","out":"src/b"}`, "make && ls -l": `"in":"src/a","out":"src/b"}`,
	} {
		e := b.Evaluate()
		e.Feed([]byte(`{"command":"` + command + `","in":"src//a","out":"src//b"}`))
		if v := e.Close(stopgate.Ended); v.Mode != stopgate.Unattended || !strings.HasSuffix(string(e.Args()), want) {
			t.Errorf("%s: %s releases %s", command, spell(v), e.Args())
		}
	}
}

// Proves C5: permissions depend on the targets of links.
func TestFollowedLinks(t *testing.T) {
	text := rules(`arg = "/path", prefix = "src/", mode = "unattended"`, `mode = "ask"`)
	links := &condition.Links{Real: func(path string) (string, bool) {
		if path == "/srv/proj/src/link" {
			return "/etc/passwd", true
		}
		return path, true
	}}
	for resolution, env := range map[string]condition.Env{
		"lexical": {Root: "/srv/proj"}, "followed": {Root: "/srv/proj", Links: links},
	} {
		b := prepare(t, env, gen.File{Name: "p", Text: text, Trusted: true}).Bind(stopgate.Call{Tool: "fs_modify_file"})
		for args, want := range map[string]stopgate.Mode{`{"path":"src/a"}`: stopgate.Unattended, `{"path":"src/link"}`: stopgate.Ask} {
			if resolution == "lexical" {
				want = stopgate.Unattended
			}
			if v := final(t, b, args); v.Mode != want {
				t.Errorf("%s, %s: %s", resolution, args, brief(v))
			}
		}
	}
}
