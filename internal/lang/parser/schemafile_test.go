package parser_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/pelletier/go-toml/v2"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/gen"
	"github.com/stopgate/stopgate/internal/testkit/golden"
)

// Proves K36: the JSON Schema of policy files has exactly the keys of the parser, table by table.
func TestSchemaKnowsEveryKey(t *testing.T) {
	var root any
	if err := json.Unmarshal(config.PolicySchema(), &root); err != nil {
		t.Fatal(err)
	}
	for path, want := range parser.KeysByTable(kinds.Table()) {
		table := root.(map[string]any)
		for _, step := range strings.Split(path, "/") {
			if step != "" {
				table, _ = table[step].(map[string]any)
			}
		}
		properties, _ := table["properties"].(map[string]any)
		var got []string
		for key := range properties {
			got = append(got, key)
		}
		slices.Sort(got)
		want = slices.Clone(want)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("internal/config/policy.schema.json, %q: %s", path, diff)
		}
		if table["additionalProperties"] != false {
			t.Errorf("%q accepts keys that the language does not have", path)
		}
	}
}

// The JSON Schema describes every kind of condition as the table of kinds does; the reference and
// the README name each.
func TestKindsAreDocumented(t *testing.T) {
	var root struct {
		Defs map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(config.PolicySchema(), &root); err != nil {
		t.Fatal(err)
	}
	page := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	reference, readme := page("../../../docs/reference/policy.md"), page("../../../README.md")
	_, matchers, _ := strings.Cut(readme, "- Matchers:")
	matchers, _, _ = strings.Cut(matchers, "An `arg`")
	for _, d := range kinds.Table().Kinds {
		key := d.Kind.String()
		if got := root.Defs["rule"].Properties[key].Description; got != d.Doc {
			t.Errorf("policy.schema.json describes %s as %q, the table as %q", key, got, d.Doc)
		}
		if !regexp.MustCompile("(?m)^\\| (?:`[a-z_]+`, )*`" + key + "`").MatchString(reference) {
			t.Errorf("docs/reference/policy.md has no row for %s", key)
		}
		if d.Listed && !strings.Contains(reference, "`"+key+"_in`") {
			t.Errorf("docs/reference/policy.md does not mention %s_in", key)
		}
		if !slices.Contains(strings.FieldsFunc(matchers, func(r rune) bool { return !('a' <= r && r <= 'z' || r == '_') }), key) {
			t.Errorf("README.md does not name %s", key)
		}
	}
}

// validator reads the schema with an independent implementation.
func validator(t *testing.T) func(text string) (err error, readable bool) {
	t.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(config.PolicySchema(), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) (error, bool) {
		var value map[string]any
		if toml.Unmarshal([]byte(text), &value) != nil {
			return nil, false // numbers that only our parser keeps
		}
		return resolved.Validate(value), true
	}
}

// Valid policies fulfil the schema: those of the repository, of the documents, and random ones.
func TestSchemaAcceptsPolicies(t *testing.T) {
	validate := validator(t)
	policies := map[string]string{}
	read := func(pattern string, texts func(string) []string) {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, each := range texts(string(text)) {
				policies[fmt.Sprint(name, len(policies))] = each
			}
		}
	}
	complete := func(text string) []string { return []string{text} }
	read("../../config/starter*.toml", complete)
	read("../../../internal/cli/demo/demo.toml", complete)
	block := regexp.MustCompile("(?s)```toml[^\n]*\n(.*?)```")
	for _, page := range []string{"../../../docs/reference/*.md", "../../../docs/*.md", "../../../README.md"} {
		read(page, func(text string) (list []string) {
			for _, m := range block.FindAllStringSubmatch(text, -1) {
				list = append(list, m[1])
			}
			return list
		})
	}
	for _, archives := range []string{"testdata/*/*.txtar", "../../prove/testdata/*/*.txtar"} {
		read(archives, func(text string) []string { return []string{golden.Part(txtar.Parse([]byte(text)), "policy.toml")} })
	}
	tried := 0
	try := func(name, text string) {
		if findings(name, []byte(text), policy.Options{}).HasErrors() {
			return
		}
		err, readable := validate(text)
		if readable {
			tried++
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	for name, text := range policies {
		try(name, text)
	}
	for seed := range uint64(200) {
		for _, f := range gen.Draw(rand.New(rand.NewPCG(seed, 7))).Files {
			try(f.Name, f.Text)
		}
	}
	if tried < 200 {
		t.Errorf("only %d policies were tried", tried)
	}
}

// The schema rejects unknown keys in every table, as the parser does.
func TestSchemaRejectsUnknownKeys(t *testing.T) {
	validate := validator(t)
	const text = `version = 1
#top
gate.strict = true
#gate gate.
paths.root = "/"
#paths paths.
[tools.t]
source = "local"
#tool
parameters.p = { type = "array", items = { type = "object", properties.q = { type = "path" , KEY } , KEY }, KEY }
policy.run = [ { arg = "/p/q", prefix = "x", when = { agent = "a", KEY }, mode = "ask", examples = { match = ["x"], KEY }, KEY }, { all = [ { arg = "/p/q", const = "x", KEY } ], mode = "deny" } ]
policy.result = [ { mode = "skip", KEY } ]
[[guard]]
on = "path"
glob = "x"
mode = "deny"
#guard
[gateway]
#gateway
[upstream.x]
base_url = "http://127.0.0.1"
#upstream
[limits]
#limits
[audit]
#audit
[judge]
model = "m"
#judge
[[handoffs]]
to = "a"
mode = "deny"
#handoffs
[[session]]
type = "require"
before = "a"
requires = "b"
#session
`
	clean := regexp.MustCompile(`\s*,\s*KEY`).ReplaceAllString(text, "")
	if _, found := parser.Parse(kinds.Table(), "clean", []byte(clean)); found.HasErrors() {
		t.Fatal(found)
	}
	if err, ok := validate(clean); err != nil || !ok {
		t.Fatal(err, ok)
	}
	tables := regexp.MustCompile(`#\w+( \w+\.)?|KEY`).FindAllStringIndex(text, -1)
	if len(tables) < 18 {
		t.Fatal(len(tables))
	}
	for _, at := range tables {
		key := "unknown_key = 1"
		if _, table, ok := strings.Cut(text[at[0]:at[1]], " "); ok {
			key = table + key
		}
		broken := regexp.MustCompile(`\s*,\s*KEY`).ReplaceAllString(text[:at[0]], "") + key + regexp.MustCompile(`\s*,\s*KEY`).ReplaceAllString(text[at[1]:], "")
		_, found := parser.Parse(kinds.Table(), "broken", []byte(broken))
		known := !slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Code == diag.UnknownKey })
		err, ok := validate(broken)
		table := text[at[0]:at[1]]
		if !ok || err == nil {
			t.Errorf("the schema takes an unknown key at %s\n%s", table, broken)
		}
		if operational := slices.Contains([]string{"#gateway", "#upstream", "#limits", "#audit"}, table); known != operational { // other packages read them
			t.Errorf("the parser takes an unknown key at %s\n%s", table, broken)
		}
	}
}
