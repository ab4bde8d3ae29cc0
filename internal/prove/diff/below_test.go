package diff_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
)

// A guard that no longer ignores files below a directory asks about commands that read it, also
// of tools whose rules look at no command. Tools that ask anyway are not concerned.
func TestDiffOfBelow(t *testing.T) {
	write := func(below string) policy.Source {
		return policy.Source{Name: "x.toml", Text: []byte(`version = 1
[tools.Read.parameters]
path = { type = "path" }
command = { type = "command" }
[tools.Read.policy]
run = "unattended"
[tools.Write.parameters]
path = { type = "path" }
command = { type = "command" }
[tools.Write.policy]
run = "ask"
[[guard]]
on = "path"
glob = "**/*.pem"
mode = "deny"
` + below)}
	}
	for _, c := range []struct {
		name, old, new string
		want           diff.Direction
	}{
		{"ignored before", "below = \"ignore\"\n", "", diff.Tightened},
		{"ignored now", "", "below = \"ignore\"\n", diff.Loosened},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _, _ := diff.Files(write(c.old), write(c.new), policy.Options{}, nil)
			if d == nil {
				t.Fatal("the policies have errors")
			}
			if !d.Complete {
				t.Errorf("not decided: %q", d.Open)
			}
			if len(d.Changes) != 1 || d.Changes[0].Direction != c.want || len(d.Changes[0].Tools) != 1 || d.Changes[0].Tool != "Read" {
				t.Errorf("changes %+v, want one of Read that is %s", d.Changes, c.want)
			}
		})
	}
}
