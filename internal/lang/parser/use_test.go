package parser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/packs"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// rules lists the rules of a tool as FILE MODE.
func rules(f *syntax.File, tool string) (list []string) {
	for _, t := range f.Tools {
		if t.Named(tool) && t.Run != nil {
			for _, r := range t.Run.Rules {
				list = append(list, r.In("own")+" "+r.Mode.String())
			}
		}
	}
	return list
}

func list(f *syntax.File, name string) (values []string) {
	for _, l := range f.Lists {
		if l.Name == name {
			for _, v := range l.Values {
				values = append(values, v.Text)
			}
		}
	}
	return values
}

// Proves S50: rules of the file come where a pack has a place for them, after what destroys more than a
// project, else before those of the pack.
func TestOwnRulesAndPacks(t *testing.T) {
	f := parse(t, `version = 1
use = ["coding", "git", "coding"]
[tools.Bash.policy]
run = [{ arg = "/command", usage = "make test", mode = "unattended" }]
[tools.Write.policy]
run = [{ arg = "/file_path", const = "Makefile", mode = "unattended" }]
[tools.WebFetch]
policy.run = "deny"
[[guard]]
on = "path"
glob = "private/**"
mode = "deny"
`)
	if len(f.Packs) != 2 || f.Packs[0].Name != "coding" || f.Packs[1].Name != "git" {
		t.Errorf("packs %v", f.Packs)
	}
	bash := strings.Join(rules(f, "bash"), ", ")
	if want := "pack:coding deny, pack:coding deny, pack:coding ask, pack:coding ask, pack:coding ask, own unattended, pack:coding unattended"; !strings.HasPrefix(bash, want) {
		t.Errorf("rules of Bash: %s", bash)
	}
	if write := rules(f, "Edit"); write[0] != "own unattended" || write[1] != "pack:coding skip" {
		t.Errorf("rules of Write: %s", write)
	}
	if fetch := rules(f, "WebFetch"); fmt.Sprint(fetch) != "[own deny]" {
		t.Errorf("a mode is not the only rule: %s", fetch)
	}
	if g := f.Guards; len(g) < 5 || g[0].Pack != "" || g[1].Pack != "pack:coding" {
		t.Errorf("%d guards", len(g))
	}
	if !f.Gate.Strict || f.Gate.UnknownTool.String() != "deny" {
		t.Errorf("settings of the pack do not hold: %+v", f.Gate)
	}
}

// Denials at the beginning of the file's rules hold before the questions of a pack.
func TestOwnDenialsComeFirst(t *testing.T) {
	p, found := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(`version = 1
use = ["coding", "kubernetes-read"]
[tools.Bash.policy]
run = [
  { arg = "/command", pattern = "^kubectl get secrets", mode = "deny" },
  { arg = "/command", usage = "make test", mode = "unattended" },
  { arg = "/command", pattern = "^kubectl describe secrets", mode = "deny" },
]
`), Trusted: true}}, policy.Options{Root: "/srv/proj", Home: "/home/u"})
	if p == nil {
		t.Fatal(found)
	}
	for command, want := range map[string]stopgate.Mode{
		"kubectl get secrets x": stopgate.Deny, "make test": stopgate.Unattended, "rm -rf /": stopgate.Deny,
		"kubectl describe secrets x": stopgate.Ask, // after a permission: where it is written
		"kubectl edit secrets x":     stopgate.Ask,
	} {
		e := p.Bind(stopgate.Call{Tool: "Bash"}).Evaluate()
		e.Feed([]byte(`{"command":"` + command + `"}`))
		if v := e.Close(stopgate.Ended); v.Mode != want {
			t.Errorf("%s: %v", command, v)
		}
	}
}

// A rule of a pack is named with the pack and its line there.
func TestPlacesInPacks(t *testing.T) {
	f := parse(t, "version = 1\nuse = \"coding\"\n")
	pack, _ := packs.Lookup("coding")
	lines := strings.Split(string(pack.Text), "\n")
	for _, g := range f.Guards {
		ref := g.Ref("own")
		if ref.File != "pack:coding" || lines[ref.Line-1] != "[[guard]]" {
			t.Errorf("a guard is at %s:%d: %s", ref.File, ref.Line, lines[ref.Line-1])
		}
	}
}

// Lists of packs grow by those of the file, and lose what it takes from them.
func TestListsOfPacks(t *testing.T) {
	alone := parse(t, "version = 1\nuse = [\"coding\"]\n")
	base := len(list(alone, "documentation"))
	for text, want := range map[string]int{
		`documentation = ["a.example"]`:                                                 base + 1,
		`documentation = ["a.example", "docs.rs"]`:                                      base + 1,
		`documentation = { add = ["a.example", "b.example"], without = ["docs.rs"] }`:   base + 1,
		`documentation = { without = ["docs.rs", "go.dev"] }`:                           base - 2,
		"documentation = { without = \"docs.rs\" }\n\n[gate]\nunknown_tool = \"ask\"\n": base - 1,
	} {
		f := parse(t, "version = 1\nuse = [\"coding\"]\n[lists]\n"+text+"\n")
		if got := list(f, "documentation"); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	both := parse(t, "version = 1\nuse = [\"coding\", \"git\"]\n")
	if n, m := len(list(alone, "look")), len(list(both, "look")); m <= n {
		t.Errorf("the pack adds nothing: %d, %d", n, m)
	}
}

// A rule that permits a list of a pack is meant where the file has none of the name, or adds to it.
func TestRulesOnListsOfPacks(t *testing.T) {
	for _, lists := range []string{"", "builds = { add = [\"make x\"] }", "mine = [\"make x\"]", "work = [\"scripts/**\"]"} {
		parse(t, "version = 1\nuse = [\"coding\"]\n[tools.Bash.policy]\nrun = [{ arg = \"/command\", usage_in = \"builds\", mode = \"unattended\" }]\n[lists]\n"+lists+"\n")
	}
	parse(t, "version = 1\nuse = [\"coding\"]\n[tools.Bash.policy]\nrun = [{ arg = \"/command\", usage_in = \"network\", mode = \"deny\" }]\n[lists]\nnetwork = [\"curl x\"]\n")
}

func TestMistakesInUse(t *testing.T) {
	for text, want := range map[string]string{
		"use = [\"codding\"]\n":      `did you mean`,
		"use = [\"nowhere-near\"]\n": "`stopgate packs` lists them",
		"use = [\"coding@99\"]\n":    "this stopgate has version",
		"use = [\"coding@01\"]\n":    "this stopgate has version",
		"use = [\"coding@\"]\n":      "this stopgate has version",
		"use = 1\n":                  "must be a string or an array",
		"use = []\n":                 "is empty",
		"use = [\"coding\"]\n[lists]\ndocumentation = { without = [\"x\"] }\n":        "no pack has \"x\"",
		"use = [\"coding\"]\n[lists]\nmine = { add = [\"x\"] }\n":                     "no pack has a list",
		"use = [\"coding\"]\n[lists]\ndocumentation = { ad = [\"x\"] }\n":             "unknown key",
		"use = [\"coding\"]\n[tools.own]\nalso = [\"Shell\"]\npolicy.run = \"ask\"\n": "two tables claim the tool",
		"[pack]\nversion = 1\n": "unknown key `pack`",
		"[tools.Bash.policy]\nrun = [{ rules = \"own\" }, { mode = \"ask\" }]\n":                                                                                    "unknown key `rules`",
		"use = [\"coding\"]\n[tools.Bash.policy]\nrun = [{ rules = \"own\" }]\n":                                                                                    "unknown key `rules`",
		"use = [\"coding\"]\n[tools.Bash.policy]\nrun = 7\n":                                                                                                        "must be a mode",
		"use = [\"coding\"]\n[lists]\nnetwork = [\"curl x\"]\n[tools.Bash.policy]\nrun = [{ arg = \"/command\", usage_in = \"network\", mode = \"unattended\" }]\n": "give your list another name",
		"use = [\"coding\"]\ntools = 3\n":                                                                                                                           "must be a table",
		"use = [\"coding\"]\n[[guard]]\non = \"path\"\nglob_in = \"nothing\"\nmode = \"deny\"":                                                                      "nothing",
	} {
		_, mistakes := parser.Parse(kinds.Table(), "stopgate.toml", []byte("version = 1\n"+text))
		if !mistakes.HasErrors() || !strings.Contains(diag.Text(mistakes, nil), want) {
			t.Errorf("%q: %v", text, diag.Text(mistakes, nil))
		}
	}
}

// Findings are about the file: a rule for everything before those of a pack is no mistake of the pack.
func TestFindingsAreAboutTheFile(t *testing.T) {
	text := "version = 1\nuse = [\"coding\"]\n[tools.Write.policy]\nrun = [{ arg = \"/file_path\", prefix = \"a\", mode = \"ask\" }, { mode = \"deny\" }]\n"
	if found := findings("stopgate.toml", []byte(text), policy.Options{}); len(found) > 0 {
		t.Errorf("%v", found)
	}
	text = strings.Replace(text, "{ mode = \"deny\" }]", "{ mode = \"deny\" }, { mode = \"ask\" }]", 1)
	found := findings("stopgate.toml", []byte(text), policy.Options{})
	if len(found) != 1 || found[0].Code != diag.Unreachable || found[0].File != "stopgate.toml" || found[0].Start.Line != 4 {
		t.Errorf("%v", found)
	}
}

// Proves S3: a project's file that nobody trusted may use packs, and they only tighten.
func TestPacksOfUntrustedFiles(t *testing.T) {
	text := []byte("version = 1\nuse = [\"coding\"]\n")
	p, found := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: text}}, policy.Options{Root: "/srv/proj", Home: "/home/u"})
	if p == nil || len(found) > 0 {
		t.Fatal(found)
	}
	for command, want := range map[string]stopgate.Mode{"ls": stopgate.Ask, "rm -rf /": stopgate.Deny} {
		e := p.Bind(stopgate.Call{Tool: "Bash"}).Evaluate()
		e.Feed([]byte(`{"command":"` + command + `"}`))
		if v := e.Close(stopgate.Ended); v.Mode != want {
			t.Errorf("%s: %v", command, v)
		}
	}
}
