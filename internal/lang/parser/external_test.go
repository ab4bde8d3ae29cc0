package parser_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
)

// Proves G2-03, TPS-05: the settings of [[external]] and their defaults. The hash of a policy covers
// the table, but not the address of the service.
func TestExternalTable(t *testing.T) {
	const table = "version = 1\n[[external]]\nname = \"a\"\nurl = \"unix:///run/a\"\nhooks = [\"session\", \"gate\"]\n"
	p := parse(t, table)
	want := &syntax.External{
		Name: "a", URL: "unix:///run/a", Tools: []string{"*"}, Hooks: []string{"gate", "session"}, Timeout: 1000, OnError: stopgate.Deny,
		File: p.Name, Pos: p.Externals[0].Pos,
	}
	if diff := cmp.Diff(want, p.Externals[0]); diff != "" {
		t.Error(diff)
	}
	hash := syntax.Hash(p)
	for changed, same := range map[string]bool{
		strings.Replace(table, "/run/a", "/run/b", 1): true, table + "timeout = \"2s\"\n": true, table + "tools = [\"x\"]\n": false,
		strings.Replace(table, ", \"gate\"", "", 1): false, strings.Replace(table, "\"a\"", "\"b\"", 1): false,
	} {
		if (syntax.Hash(parse(t, changed)) == hash) != same {
			t.Errorf("hash of\n%s", changed)
		}
	}
}

// Every mistake in [[external]] is found.
func TestExternalTableMistakes(t *testing.T) {
	const good = "version = 1\n[[external]]\nname = \"a\"\nurl = \"https://example.com\"\nhooks = [\"gate\"]\n"
	for _, c := range []struct{ from, to string }{
		{"name = \"a\"", ""}, {"name = \"a\"", "name = \"A b\""}, {"https://example.com", "http://example.com"}, {"https://example.com", "unix://run/x"},
		{"\"gate\"", ""}, {"\"gate\"", "\"gates\""}, {"\"gate\"]", "\"gate\"]\ntimeout = \"31s\""}, {"\"gate\"]", "\"gate\"]\non_error = \"ask\""},
		{"\"gate\"]", "\"judge\"]\non_error = \"unattended\""}, {"\"gate\"]", "\"gate\"]\ntoken_env = \"A\"\ntoken_file = \"b\""},
		{"https://example.com\"", "unix:///run/x\"\ntoken_env = \"A\""}, {"\"gate\"]", "\"gate\"]\nretries = 3"},
		{good[12:], good[12:] + good[12:]},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		if _, found := parser.Parse(kinds.Table(), "p.toml", []byte(text)); !found.HasErrors() {
			t.Errorf("no mistake in\n%s", text)
		}
	}
}

// Proves S3: a project file and a bundle cannot name a service.
func TestExternalIsTheOperators(t *testing.T) {
	const text = "version = 1\n[[external]]\nname = \"a\"\nurl = \"unix:///run/a\"\nhooks = [\"gate\"]\n"
	for want, source := range map[diag.Code]policy.Source{diag.Untrusted: {}, diag.BundledTable: {Trusted: true, Bundled: true}} {
		source.Name, source.Text = "p.toml", []byte(text)
		program, found := policy.Compile([]policy.Source{source}, policy.Options{})
		if program != nil || len(found) != 1 || found[0].Code != want || !strings.Contains(found[0].Message, "external") {
			t.Errorf("%v", found)
		}
	}
}
