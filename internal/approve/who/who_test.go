package who_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/approve/who"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

func tables(t *testing.T, text string) map[string]*tomltree.Value {
	t.Helper()
	doc, mistakes := tomltree.Parse("p.toml", []byte(text))
	if doc == nil {
		t.Fatal(mistakes)
	}
	all := make(map[string]*tomltree.Value)
	for _, e := range doc.Root.Entries {
		all[e.Key] = e.Value
	}
	return all
}

func TestRequire(t *testing.T) {
	rules, mistakes := who.Read(tables(t, `[approvals]
who = [
  { group = "leads", tools = ["deploy*", "pay"], approvals = 2 },
  { principal = ["root", "ops-*"], tools = "deploy" },
]
`))
	if mistakes.HasErrors() || !rules.Guarded() {
		t.Fatal(mistakes)
	}
	require := rules.Require(func() map[stopgate.ToolName]stopgate.ToolName {
		return map[stopgate.ToolName]stopgate.ToolName{"ship": "deploy"}
	})
	lead := approve.People{Group: []string{"leads"}}
	both := approve.Requirement{Approvals: 2, Others: true, Who: []approve.People{lead, {Principal: []string{"root", "ops-*"}}}}
	for tool, want := range map[stopgate.ToolName]approve.Requirement{
		"deploy": both, "ship": both, "deploy_all": {Approvals: 2, Others: true, Who: []approve.People{lead}}, "mail": {Others: true},
	} {
		if got := require(&stopgate.Call{Tool: tool}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", tool, got, want)
		}
	}
}

// Without rules and without an identity provider everything stays as it is: a person answers for the
// agents of the same machine.
func TestNothingRequired(t *testing.T) {
	for text, guarded := range map[string]bool{
		"": false, "[approvals]\nhold = \"1m\"\n": false, "[identity.oidc]\nissuer = \"https://id.example.com\"\naudience = \"a\"\n": true,
	} {
		rules, mistakes := who.Read(tables(t, text))
		if mistakes.HasErrors() || rules.Guarded() != guarded || (rules.Require(nil) != nil) != guarded {
			t.Errorf("%q: %v", text, mistakes)
		}
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`who = "leads"`:                          "array of tables",
		`who = []`:                               "array of tables",
		`who = [7]`:                              "want a table",
		`who = [{ tools = "deploy" }]`:           "names nobody",
		`who = [{ group = [] }]`:                 "array of names",
		`who = [{ group = "a{" }]`:               "a{",
		`who = [{ group = "a", tool = "b" }]`:    "tool",
		`who = [{ group = "a", approvals = 0 }]`: "1 to 16",
		`who = [{ group = 7 }]`:                  "array of names",
	} {
		if _, mistakes := who.Read(tables(t, "[approvals]\n"+text+"\n")); !mistakes.HasErrors() || !strings.Contains(mistakes.Err().Error(), want) {
			t.Errorf("%s: %v", text, mistakes.Err())
		}
	}
}
