package parser_test

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/internal/testkit/gen"
	"github.com/stopgate/stopgate/internal/testkit/golden"
)

var update = flag.Bool("update", false, "write what the golden files expect")

// differ compares everything of two policies except positions.
func differ(p, q *syntax.File) string {
	return cmp.Diff(p, q,
		cmpopts.IgnoreTypes(diag.Range{}, &tomltree.Value{}, &syntax.RuleKeys{}, &syntax.ConditionKeys{}), cmpopts.EquateEmpty(),
		cmpopts.IgnoreUnexported(syntax.File{}, syntax.GateSettings{}, syntax.PathSettings{}, syntax.NamedList{},
			syntax.ToolTable{}, syntax.RuleList{}, syntax.Rule{}, syntax.Condition{}, syntax.When{}),
		cmpopts.IgnoreFields(syntax.File{}, "Name", "Tables", "Conditions", "Source", "Broken"),
		cmpopts.IgnoreFields(syntax.GateSettings{}, "Written"), cmpopts.IgnoreFields(syntax.NamedList{}, "ValuesAt"),
		cmpopts.IgnoreFields(syntax.ToolTable{}, "AlsoAt"),
		cmp.Comparer(func(a, b *condition.Definition) bool { return a == b }),
		cmpopts.SortSlices(func(a, b *syntax.ToolTable) bool { return a.Name < b.Name }), // legacy spellings are read last
		cmp.Transformer("schema", func(s *schema.Schema) string {
			if s == nil {
				return ""
			}
			return s.Hash()
		}),
	)
}

// roundTrip checks one policy and returns its formatted text: it parses as the same policy with the
// same hash, and formatting it again does not change it.
func roundTrip(t *testing.T, text string) string {
	t.Helper()
	out, diags := parser.Format(kinds.Table(), "policy.toml", []byte(text))
	if diags.HasErrors() {
		t.Fatalf("refused: %v\n%s", diags, text)
	}
	before, diags := parser.Parse(kinds.Table(), "policy.toml", []byte(text))
	wrong := diags.HasErrors()
	after, diags := parser.Parse(kinds.Table(), "policy.toml", out)
	if diags.HasErrors() != wrong {
		t.Fatalf("a policy with mistakes, before %t, after %t: %v\n%s", wrong, !wrong, diags, out)
	}
	if !wrong {
		if diff := differ(before, after); diff != "" {
			t.Fatalf("what Format writes is another policy: %s\n%s", diff, out)
		}
		if syntax.Hash(before) != syntax.Hash(after) {
			t.Fatalf("what Format writes has another hash\n%s", out)
		}
	}
	second, _ := parser.Format(kinds.Table(), "policy.toml", out)
	if diff := cmp.Diff(string(out), string(second)); diff != "" {
		t.Fatalf("formatting twice is not formatting once: %s", diff)
	}
	return string(out)
}

// Proves K54: there is one canonical layout; formatting keeps comments and meaning.
func TestFormat(t *testing.T) {
	names, err := filepath.Glob("testdata/format/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text := golden.Part(archive, "policy.toml")
			got := roundTrip(t, text)
			if *update {
				golden.Write(t, name, archive, "formatted", got)
			}
			if diff := cmp.Diff(golden.Part(archive, "formatted"), got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(comments(text), comments(got)); diff != "" {
				t.Errorf("comments were lost or moved: %s", diff)
			}
		})
	}
}

// Random policies of every shape keep their meaning.
func TestFormatKeepsMeaning(t *testing.T) {
	rounds := 500
	if testing.Short() {
		rounds = 100
	}
	for seed := range uint64(rounds) {
		c := gen.Draw(rand.New(rand.NewPCG(seed, 1)))
		for _, layer := range c.Files {
			roundTrip(t, layer.Text)
		}
	}
}

// A text that is not TOML is not formatted; the error has its position.
func TestFormatSyntax(t *testing.T) {
	out, diags := parser.Format(kinds.Table(), "policy.toml", []byte("version = 1\n[tools.*.policy]\n"))
	if out != nil || len(diags) != 1 || diags[0].Code != diag.Syntax || diags[0].Start.Line != 2 {
		t.Errorf("%q, %v", out, diags)
	}
}

// comments returns the comments of a text that has no "#" elsewhere, in order.
func comments(text string) []string {
	var list []string
	for _, line := range strings.Split(text, "\n") {
		if _, comment, ok := strings.Cut(line, "#"); ok {
			list = append(list, comment)
		}
	}
	return list
}

// Proves S36: comments, table order, alias spellings and operational tables do not change the
// policy hash; everything that affects verdicts does.
func TestPolicyHash(t *testing.T) {
	const base = `version = 1
[lists]
secrets = ["**/.env*", "**/*.pem"]
[tools.a]
policy.run = [ { arg = "/p", glob_in = "secrets", mode = "deny" }, { mode = "ask" } ]
parameters.p = { type = "path" }
[tools.b.policy]
run = "ask"
[[guard]]
on = "path"
glob = "x"
mode = "deny"
`
	hash := func(text string) string { return syntax.Hash(parse(t, text)) }
	replace := func(old, new string) string {
		if !strings.Contains(base, old) {
			t.Fatalf("%q is not in the policy", old)
		}
		return strings.Replace(base, old, new, 1)
	}
	for name, text := range map[string]string{
		"comment":       "# c\n" + base,
		"operational":   base + "[gateway]\nlisten = \"127.0.0.1:0\"\n",
		"alias":         replace(`run = "ask"`, `run = [ { mode = "ask" } ]`),
		"old spelling":  replace("[tools.b.policy]", "[conversation.tools.b.policy]"),
		"list order":    replace(`["**/.env*", "**/*.pem"]`, `["**/*.pem", "**/.env*"]`),
		"source":        replace("[tools.b.policy]", "[tools.b]\nsource = \"local\"\n[tools.b.policy]"),
		"default gate":  base + "[gate]\nunknown_tool = \"deny\"\n",
		"table order":   strings.Replace(strings.Replace(base, "[tools.b.policy]\nrun = \"ask\"\n", "", 1), "[tools.a]", "[tools.b.policy]\nrun = \"ask\"\n[tools.a]", 1),
		"unused list":   strings.Replace(base, "[lists]", "[lists]\nother = [\"x\"]", 1),
		"as it was":     base,
		"as formatted":  roundTrip(t, base),
		"windows lines": strings.ReplaceAll(base, "\n", "\r\n"),
	} {
		if hash(text) != hash(base) {
			t.Errorf("%s: the policy means the same and has another hash", name)
		}
	}
	for name, text := range map[string]string{
		"mode":        replace(`mode = "deny" }`, `mode = "skip" }`),
		"list":        replace("**/*.pem", "**/*.key"),
		"rule order":  replace(`{ arg = "/p", glob_in = "secrets", mode = "deny" }, { mode = "ask" }`, `{ mode = "ask" }`),
		"guard":       replace(`glob = "x"`, `glob = "y"`),
		"gate":        base + "[gate]\nunknown_tool = \"ask\"\n",
		"paths":       base + "[paths]\nroot = \"/srv\"\n",
		"parameter":   replace(`type = "path"`, `type = "string"`),
		"tool":        replace("[tools.b.policy]", "[tools.c.policy]"),
		"also":        replace("[tools.b.policy]", "[tools.b]\nalso = [\"c\"]\n[tools.b.policy]"),
		"params":      replace("[tools.b.policy]", "[tools.b]\nunknown_params = \"allow\"\n[tools.b.policy]"),
		"violation":   replace("[tools.b.policy]", "[tools.b]\non_schema_violation = \"ask\"\n[tools.b.policy]"),
		"result":      replace("run = \"ask\"\n", "run = \"ask\"\nresult = \"ask\"\n"),
		"declaration": base + "[judge]\nmodel = \"m\"\ntools = [\"a\"]\n",
	} {
		if hash(text) == hash(base) {
			t.Errorf("%s: the policy means something else and has the same hash", name)
		}
	}
	p := parse(t, base)
	if syntax.Hash(p) == syntax.Hash(p, p) || syntax.Hash() == syntax.Hash(p) {
		t.Error("layers are part of the hash")
	}
}

// Proves S34: the id of a rule survives changes elsewhere and of its own spelling, but no change of
// its meaning.
func TestRuleID(t *testing.T) {
	id := func(text string) stopgate.RuleID {
		p := parse(t, "version = 1\n[lists]\nl = [\"a\", \"b\"]\n"+text)
		rules := p.Tools[0].Run.Rules
		return rules[len(rules)-1].ID
	}
	rule := func(r string) stopgate.RuleID { return id("[tools.t.policy]\nrun = [" + r + "]") }
	base := rule(`{ arg = "/p", enum = ["a", "b"], mode = "ask" }`)
	if len(base) != 32 {
		t.Errorf("id %q", base)
	}
	for name, same := range map[string]stopgate.RuleID{
		"order of keys":   rule(`{ mode = "ask", enum = ["a", "b"], arg = "/p" }`),
		"order of values": rule(`{ arg = "/p", enum = ["b", "a"], mode = "ask" }`),
		"other rules":     rule(`{ arg = "/q", const = 1, mode = "deny" }, { arg = "/p", enum = ["a", "b"], mode = "ask" }`),
		"named list":      rule(`{ arg = "/p", enum_in = "l", mode = "ask" }`),
		"old spelling":    id("[conversation.tools.t]\nrun = [{ arg = \"/p\", enum = [\"a\", \"b\"], mode = \"ask\" }]"),
	} {
		if same != base {
			t.Errorf("%s changes the id", name)
		}
	}
	for name, other := range map[string]stopgate.RuleID{
		"value": rule(`{ arg = "/p", enum = ["a", "c"], mode = "ask" }`),
		"mode":  rule(`{ arg = "/p", enum = ["a", "b"], mode = "edit" }`),
		"arg":   rule(`{ arg = "/q", enum = ["a", "b"], mode = "ask" }`),
		"tool":  id("[tools.u.policy]\nrun = [{ arg = \"/p\", enum = [\"a\", \"b\"], mode = \"ask\" }]"),
		"when":  rule(`{ arg = "/p", enum = ["a", "b"], when = { agent = "x" }, mode = "ask" }`),
	} {
		if other == base {
			t.Errorf("%s does not change the id", name)
		}
	}
	if rule(`{ arg = "/p", const = 1.0, mode = "ask" }`) != rule(`{ arg = "/p", const = 1, mode = "ask" }`) {
		t.Error("1.0 and 1 are one number")
	}
}

// FuzzParse feeds texts to the parser, the checker and the formatter: none panics, and a text that
// parses is formatted as the same policy.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/check/*.txtar", "testdata/format/*.txtar"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			if archive, err := txtar.ParseFile(name); err == nil {
				f.Add([]byte(golden.Part(archive, "policy.toml")))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, diags := parser.Parse(kinds.Table(), "fuzz.toml", text)
		if p == nil {
			if !diags.HasErrors() {
				t.Fatal("no policy and no error")
			}
			return
		}
		prove.Check(p, policy.Options{})
		if _, diags := parser.Format(kinds.Table(), "fuzz.toml", text); !diags.HasErrors() {
			roundTrip(t, string(text))
		}
	})
}
