package prove_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// Proves I25: whether a file is accepted does not depend on the project and the home
// directory of whoever reads it: one that is checked once is no mistake elsewhere.
func TestAcceptedEverywhere(t *testing.T) {
	files := map[string]string{
		"paths below a project": `version = 1
[tools.Read.parameters]
file_path = { type = "path" }
[tools.Read.policy]
run = [
  { arg = "/file_path", glob = "/srv/**", mode = "deny" },
  { arg = "/file_path", glob = "src/**", mode = "unattended" },
  { mode = "ask" },
]
`,
		"examples outside of it": `version = 1
[[guard]]
on = "path"
outside_in = "places"
mode = "ask"
examples = { match = ["/etc/hosts", "~/.kube/config", "../x"], no_match = ["src/a.go", "/usr/include/stdio.h"] }
[lists]
places = ["**", "/usr/include/**"]
`,
	}
	for _, kind := range config.Kinds() {
		starter, err := config.StarterFor(kind)
		if err != nil {
			t.Fatal(err)
		}
		files[kind] = string(starter[0].Text)
	}
	for name, text := range files {
		for _, o := range []policy.Options{
			{}, {Root: "/srv/x", Home: "/home/u"}, {Root: "/home/u", Home: "/home/u"}, {Root: "/home", Home: "/home/u"}, {Root: "/", Home: "/root"}, {Root: "/usr/include", Home: "/etc"},
		} {
			if p, diags := prove.Compile([]policy.Source{{Name: "x.toml", Text: []byte(text), Trusted: true}}, o); p == nil {
				t.Errorf("%s, %s, %s: %v", name, o.Root, o.Home, diags.Errors())
			}
		}
	}
}
