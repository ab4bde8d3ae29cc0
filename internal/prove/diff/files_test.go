package diff_test

import (
	"fmt"
	"testing"

	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
)

// filesPolicy asks about commands that write generated files, and permits others to write
// below src.
func filesPolicy(generated string) string {
	return fmt.Sprintf(`version = 1
[tools.Bash.parameters]
command = { type = "command", required = true }
[tools.Bash.policy]
run = [
  { arg = "/command", writes_in = "generated", mode = "ask" },
  { all = [
    { arg = "/command", usage_in = "write" },
    { arg = "/command", reads = "**" },
    { arg = "/command", writes_in = "work" },
  ], mode = "unattended" },
  { mode = "ask" },
]
[lists]
generated = [%s]
work = ["src/**", "lib/*.go"]
write = ["{cat,echo} **", "tee [-a] **"]
`, generated)
}

// An edit of the files that commands may not write is shown by a file that another rule
// permits them to write: a call on any other file is asked about before and after it.
func TestDiffOfWrittenFiles(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		want           diff.Direction
	}{
		{"removed", `"**/go.sum", "**/*.lock"`, `"**/go.sum"`, diff.Loosened},
		{"added", `"**/go.sum"`, `"**/go.sum", "**/*.lock"`, diff.Tightened},
		{"added in one directory", `"**/go.sum"`, `"**/go.sum", "lib/generated.*"`, diff.Tightened},
		{"removed where another value names most of it", `"**/?*.lock", "**/*.lock"`, `"**/?*.lock"`, diff.Loosened},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _, _ := diff.Files(policy.Source{Name: "old.toml", Text: []byte(filesPolicy(c.old))},
				policy.Source{Name: "new.toml", Text: []byte(filesPolicy(c.new))}, policy.Options{}, nil)
			if d == nil {
				t.Fatal("the policies have errors")
			}
			if !d.Complete || len(d.Open) > 0 {
				t.Errorf("not decided: %q", d.Open)
			}
			if len(d.Changes) != 1 || d.Changes[0].Direction != c.want {
				t.Errorf("changes %+v, want one that is %s", d.Changes, c.want)
			}
		})
	}
}
